/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The outcome of `compare`: as text, as a document, or as rows of a table. */
#ifndef SRC_CMD_RUN_COMPARE_SHOW_IMPL_H
#define SRC_CMD_RUN_COMPARE_SHOW_IMPL_H
#include "src/cmd/run/manual_store_impl.h"
#include "src/show/measured.h"
#include "tuner/race/race.h"
#include "tuner/race/regression.h"

/* `compare OLD NEW --fail-slower 3%`: an exit status for continuous integration. */
struct slower {
	bool asked, strict; /* strict: undecided fails, too */
	const char *junit;  /* a file to write, or NULL */
	double limit;
	enum regression outcome;
	const char *failed;  /* "a" or "b", which did not always work, or NULL */
	double ratio, ci[2]; /* the time of b over the time of a */
};

int slower_read(struct slower *slower, const struct opt_args *args, struct err *err);
void slower_judge(struct slower *slower, const struct duel_result *duel);
/* Writes the JUnit file. names: of a and b; seconds: of b. */
int slower_junit(const struct slower *slower, const char *const names[2], double seconds, struct err *err);
/* ERR_FAILED if b is slower than allowed or does not work; warns where it is undecided. */
int slower_verdict(const struct slower *slower, struct ui *ui, struct err *err);

struct comparison {
	struct app *app;
	struct manual *manual; /* NULL for a program */
	const char *kernel;
	const json_t *problem;
	struct runner *runner;
	struct trial_request request;
	uint64_t seed;
	const char *unit;
	enum measured_format export;
	struct slower slower;
	const char *metric; /* of a program, or NULL */
	bool any_output;    /* an option tells already what the output must be */
	bool maximize;      /* The samples are 1/rate, and rates are shown. */
	struct race_watch watch;
	struct manual_store kept;
	struct counters_words counters;
	json_t *counted[2]; /* the counters of a and of b, or NULL */
	int done, most;
	const json_t *config[2];
	json_t *seen[2];  /* evidence of the runs of a program (tuner/same/same.h) */
	char why[2][256]; /* the last failure of each, or empty */
};

/* Prints the outcome to stdout: in the format of --export if there is one, else as JSON if json, else for people. */
void compare_show(const struct comparison *comparison, const json_t *const config[2], const struct duel_result *duel,
                  bool json);
#endif
