/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of this room. */
#ifndef TUNER_REGIONS_IMPL_H
#define TUNER_REGIONS_IMPL_H
#include "base/scratch.h"
#include "tuner/regions/regions_plan_impl.h"
#include "tuner/regions/prove_impl.h"
#include "tuner/regions/regions_table_impl.h"

/* Above this share of waiting threads, others decide which team is best, and nothing is recommended. */
#define REGIONS_BUSY 0.1

/* Runs of the program, with and without the library. */
struct regions_runs {
	const struct regions_options *options;
	struct program *program;
	struct scratch scratch; /* for tables and records */
	json_t *plain;          /* the configuration that changes nothing */
	json_t *environment;    /* beside a table, for the whole program */
	bool counting;          /* the counters of the options, too */
	json_t *seen;           /* evidence of runs that change nothing */
	json_t *seen_changed;   /* that of a proof's runs with its settings; NULL: there is no proof */
	int done, all;
	int failures[TRIAL_STATUS_COUNT];
	char failure[128]; /* the last one, for people; empty: none */
	double started;
	struct busy *busy;
	double waiting; /* largest share of a recorded run in which its threads waited for processors that others used */
	struct {
		double plain, profile, explore, proof;
	} seconds; /* spent in each phase */
};

struct regions_run {
	double seconds;                /* of the whole program */
	struct regions_record *record; /* NULL: none was asked for */
	json_t *ranks;                 /* their time in MPI; NULL: not asked for */
};

int regions_runs_open(struct regions_runs *runs, const struct regions_options *options, struct err *err);
void regions_runs_close(struct regions_runs *runs);
/* With this table (NULL: only the library and a record). limit_s: 0 for the time-out of the options. */
int regions_run_recorded(struct regions_runs *runs, const struct regions_table *table,
                         const struct regions_record *known, double limit_s, const char *phase, struct regions_run *run,
                         struct err *err);
/* The same; a run that other programs disturbed is repeated if the budget allows. */
int regions_run_quiet(struct regions_runs *runs, const struct regions_table *table, const struct regions_record *known,
                      double limit_s, const char *phase, double budget_s, struct regions_run *run, struct err *err);
/* Runs the program as the user does (table NULL), or with the table file of the options and the environment of `runs`.
 * records: if it leaves a record, the run has it. */
int regions_run_plain(struct regions_runs *runs, const char *table, bool records, double limit_s, const char *phase,
                      struct regions_run *run, struct err *err);
/* Says whether the settings of a proof do the work of the program as it is: "checked", "evidence" and the verdict of a
 * result, as for any other program. */
void regions_work_tell(const struct regions_runs *runs, const struct regions_proof *proof, json_t *result);
double regions_left(const struct regions_runs *runs, double budget_s); /* seconds of the budget */

/* Settings for all regions of a record, and how they came about. */
struct regions_found {
	struct regions_record *baseline;
	struct regions_setting *settings; /* one a region */
	double *gain;                     /* of each region as fitted: baseline / chosen; NAN: unchanged */
	/* Borrowed: what each team does to each region; NULL and 0 where nothing was explored. */
	const struct regions_effect *effects;
	const unsigned *teams;
	size_t team_count;
	size_t changed, other_changed; /* regions; other: of the plan that was tried, too */
};

/* other: of a plan that is not kept; its count may be 0. */
json_t *regions_result_json(const struct regions_runs *runs, const struct regions_found *found,
                            const struct regions_proof *proof, const struct regions_proof *other);
#endif
