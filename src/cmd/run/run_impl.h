/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef SRC_CMD_RUN_RUN_IMPL_H
#define SRC_CMD_RUN_RUN_IMPL_H

#include "src/cmd/tune/item.h"
#include "src/plan/params.h"
#include "src/show/counters.h"
#include "src/show/measured.h"
#include "tuner/race/race.h"

/* The commands run, compare and sweep, with which the user measures chosen configurations, given as words P=V. */
struct manual {
	struct app *app;
	const struct kernel_desc *kernel;
	struct params params;
	json_t *problem, *config; /* from the words; config is not complete */
	struct runner runner;
	double timeout_s;
	int samples;
	bool flush_l2, slow; /* slow: counting needs a simulator */
	uint64_t seed;
	const char *device;  /* as app_device; belongs to params */
	struct err *lenient; /* set before manual_open: a word that the kernel does not know goes here */
	uint64_t refused;    /* and sets its bit here; NULL: it is an error */
};

extern const struct opt manual_what_options[]; /* --size --set; tables of the same group may follow */
extern const struct opt manual_options[];      /* --samples --timeout --flush-l2 --seed */

/* Sets all members but lenient, which the caller has set or cleared. Reads the kernel from word 0, and P=V from the
 * words 1 .. words-1, --size and --set. Call manual_close even after a failure. */
int manual_open(struct manual *manual, struct app *app, const struct opt_args *args, size_t words, struct err *err);
void manual_close(struct manual *manual);
/* Completes the configuration: members of `over` (may be NULL), then of manual->config, then of the baseline on this
 * problem. New reference. */
json_t *manual_config(struct manual *manual, const json_t *problem, const json_t *over, struct err *err);
/* Reads and checks the names of --counters (src/cmd/run/run_manual.c). Call counters_words_free even after a
 * failure. */
int manual_counters(struct manual *manual, const struct opt_args *args, struct counters_words *words, struct err *err);
/* Runs a trial that only counts; its times are not valid, because counting may slow it down. Otherwise as runner.run.
 */
int manual_count(struct manual *manual, const struct counters_words *words, const json_t *problem, const json_t *config,
                 struct trial_result *result, struct err *err);
struct trial_request manual_request(const struct manual *manual, const json_t *config);

/* The results of sweep and compare in the store: a session with a search for each problem. */
struct manual_store {
	struct manual *manual;
	const char *strategy; /* "sweep" or "compare" */
	double total;         /* number of configurations */
	struct store *store;  /* NULL with --no-store */
	int64_t session, search;
	char *problem; /* of the current search */
};

/* Opens the store unless --no-store is given. The caller has set strategy and total. */
int manual_store_begin(struct manual_store *kept, struct manual *manual, const struct opt_args *args, struct err *err);
int manual_store_trial(struct manual_store *kept, const char *phase, int block, const json_t *problem,
                       const json_t *config, const struct trial_result *result, struct err *err);
/* Call it even after a failure, whose error stays; returns -1 then, too. */
int manual_store_end(struct manual_store *kept, bool failed, struct err *err);

/* `compare OLD NEW --fail-slower 3%`: an exit status for continuous integration. */
struct slower {
	bool asked, strict; /* strict: undecided fails, too */
	const char *junit;  /* a file to write, or NULL */
	double limit;
	enum regression outcome;
	const char *failed;  /* "a" or "b", which did not always work, or NULL */
	double ratio, ci[2]; /* the time of b over the time of a */
};

struct comparison {
	struct app *app;
	struct manual *manual;  /* NULL for a program */
	struct tune_item *item; /* of one program; NULL without */
	char *own_name;         /* of two programs */
	json_t *own_problem;
	json_t *config[2];
	struct runner runner;
	struct trial_request request;
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
	int most;
	json_t *seen[2];  /* evidence of the runs of a program (tuner/same/same.h) */
	char why[2][256]; /* the last failure of each, or empty */
};

/* Measures what is to be compared, and prints the outcome: as text, as a document, or as rows of a table. */
int compare_duel(struct comparison *comparison, const struct opt_args *args, struct err *err);

/* A list of values that `sweep` goes through. */
struct axis {
	const char *name;
	struct value *values;
	size_t count;
};

/* The parts of the command sweep on kernels. */
enum { SWEEP_AXES_MAX = 8, SWEEP_ROWS_MAX = 100000, SWEEP_DEVICES_MAX = 4 };

/* --weak: the size grows with a parameter, so that the work of each thread stays the same. */
struct sweep_weak {
	const char *size;  /* NULL: no weak scaling */
	const char *param; /* size^power is proportional to it; NULL: `formula` says how */
	const char *formula;
	double power;
};

/* The axes and the kernel of one device. */
struct sweep_device {
	struct manual manual;
	const char *word; /* "cpu", "cuda:0" */
	struct axis axes[SWEEP_AXES_MAX];
	size_t axis_count, total;
};

struct sweep {
	struct app *app;
	const struct opt_args *args;
	struct counters_words counters;
	struct arena *arena;
	struct axis axes[SWEEP_AXES_MAX]; /* as given */
	size_t axis_count;
	struct sweep_weak weak;
	struct sweep_device device[SWEEP_DEVICES_MAX];
	size_t device_count;
	bool compares_devices, alone;
	struct manual_store kept;
	json_t *rows, *serials;
};

/* Prints the rows as asked: as a table, as CSV or as the document. */
void sweep_show(struct sweep *sweep);

/* Measures the serial code on this problem if that has not been done; appends it to sweep->serials. */
int sweep_serial(struct sweep *sweep, struct sweep_device *device, const json_t *problem, struct err *err);

/* One row of the document. New reference. */
json_t *sweep_row_json(const struct manual *manual, const json_t *problem, const json_t *config,
                       const struct trial_result *result);

/* `sweep --plan`: says what would be measured, and measures nothing. */

/* rows: [{"config", "problem" of a kernel, "line" of a program, "device" of several}], all combinations in their order.
 * runs: how often each runs at least. Prints a document with --json. */
void sweep_plan_print(const struct opt_args *args, const char *kernel, int runs, const json_t *rows);

/* Every combination of a program's parameters: `sweep --param B=16,64 -- ./app {B}`. */
int sweep_program(struct app *app, const struct opt_args *args, struct err *err);
#endif
