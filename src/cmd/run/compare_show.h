/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The outcome of `compare`: as text, as a document, or as rows of a table. */
#ifndef SRC_CMD_RUN_COMPARE_SHOW_H
#define SRC_CMD_RUN_COMPARE_SHOW_H

#include "src/cmd/run/manual_store.h"
#include "src/cmd/run/slower.h"
#include "src/show/measured.h"
#include "tuner/race/race.h"
#include "tuner/trial/counters.h"

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
