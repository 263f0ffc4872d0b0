/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The contract of a cause, and what they share. A cause knows the field's names of parameters, never a kernel's. */
#ifndef TUNER_PROBE_CAUSE_IMPL_H
#define TUNER_PROBE_CAUSE_IMPL_H
#include "tuner/diagnosis/diagnosis_probe.h"
#include "tuner/probe/probe.h"

/* An effect below this is no reason for anything. */
static const double CAUSE_LEAST = 1.1;

/* Where a program runs. */
enum cause_confined {
	CAUSE_FREE,
	CAUSE_CORES /* `cores` of them */,
	CAUSE_INTERLEAVED /* its memory over all nodes */
};

struct cause_test {
	json_t *problem[2], *config[2]; /* as it is, and with the intervention; new references */
	double work; /* the time of the second is divided by this: it does more work, or has fewer threads */
	/* The time of the first over that of the second, if it is the cause and if not; predicted NAN: nothing tells. */
	double predicted, otherwise;
	double apart;        /* between these: the ratio that separates both */
	double most;         /* a larger ratio has another cause; INFINITY: none has */
	const char *beyond;  /* that does not refute it, because of this; NULL: it does */
	const char *unless;  /* confirmed only if this cause, which comes before it, is refuted; NULL: none */
	const char *instead; /* refuted if this one is confirmed; NULL: none */
	double longer;       /* the second side may take so many times as long; 0: as predicted */
	double seconds;      /* of the first in the table, in its unit */
	double
		nothing;   /* a smaller ratio refutes it, and a larger one only leaves it open; 0: `apart` decides about both */
	double least;  /* a smaller ratio tells nothing: its threads poll for each other */
	double bound;  /* what the runs so far have shown: no more can be gained, because of `why`; 0: they tell nothing */
	size_t beside; /* processes beside the trials: they read a cache at the first side and memory at the second */
	bool quiet;    /* it tells nothing if other programs take processors from a team */
	const char *param;  /* the only parameter that differs; NULL: there are more */
	const char *lowers; /* a figure of its runs that falls if the intervention has reached the program; NULL: none */
	enum cause_confined confined; /* the second side; with processes beside it, both */
	int cores;
	char intervention[PROBE_TEXT], why[PROBE_TEXT];
};

struct cause {
	const char *name;   /* that of its diagnosis, if there is one */
	const char *device; /* "cpu" or "cuda" */
	/* False: it is not testable here, because of test->why. What was set is freed by the caller in either case. */
	bool (*plan)(const struct probe_subject *subject, struct cause_test *test);
};

bool cause_untestable(struct cause_test *test, const char *why, ...) __attribute__((format(printf, 2, 3)));
void cause_intervene(struct cause_test *test, const char *text, ...) __attribute__((format(printf, 2, 3)));
/* Sets both predictions. sure: the effect was seen in a table; otherwise it may be smaller, but not nothing. */
void cause_predict(struct cause_test *test, double predicted, double otherwise, bool sure);

/* The parameter of a configuration that is the team's size, by its usual names; NULL: there is none. */
const char *cause_threads(const json_t *config);
double cause_team(const json_t *config); /* 1 without that parameter */
/* The fastest row of the problem with a team of that size (most 0: no limit); SIZE_MAX: none. */
size_t cause_row(const struct probe_subject *subject, double least, double most);
/* The fastest row with the largest team that fits the machine. */
size_t cause_row_full(const struct probe_subject *subject);
/* Both sides are this row, until something is changed. */
void cause_begin(const struct probe_subject *subject, size_t row, struct cause_test *test);
void cause_team_set(struct cause_test *test, int side, double team);

/* The fastest row with the largest team that fits, or without a parameter for the team the fastest; SIZE_MAX: none. */
size_t cause_row_today(const struct probe_subject *subject);
/* The team of a row, also where a program chooses it itself; NAN: not known. */
double cause_members(const struct probe_subject *subject, size_t row);
/* Does it follow the variables of OpenMP, as far as is known? */
bool cause_openmp(const struct probe_subject *subject, size_t row, struct cause_test *test);
/* A quarter of the team: fewer threads, or cores for all of them. */
double cause_fewer(double team);
/* Plans the same team on so many cores, which do not hinder each other more than this by their clocks and caches. */
static const double CAUSE_CLOCKS = 1.5;
bool cause_confine(const struct probe_subject *subject, size_t row, double cores, struct cause_test *test);
/* Usage of the runs of a row: "user_s", "minor_faults" ..; NAN: not known. */
double cause_usage(const struct probe_subject *subject, size_t row, const char *name);
/* The share of its time that a program spends in parallel regions, in waiting there for the slowest thread, or in
 * starting and joining teams; NAN: not known. Where its regions are not, the time in which no thread runs alone is the
 * first. */
enum cause_part { CAUSE_REGIONS, CAUSE_WAITS, CAUSE_JOINS };
double cause_share(const struct probe_subject *subject, enum cause_part part);
/* How many times faster it would be without this share of its time. */
double cause_without(double share);
/* The record bounds the gain. Returns true. */
bool cause_bounded(struct cause_test *test, double bound, const char *why, ...) __attribute__((format(printf, 3, 4)));

/* Processes beside the trials read these. */
struct cause_data {
	uint64_t *numbers;    /* NULL: none has read yet */
	size_t bytes, cached; /* `cached` of them fit the last cache */
};
/* Completes both configurations, and prepares what the test wants beside its runs, so that no run takes longer for it.
 * False: it is not testable here. */
bool cause_prepare(const struct probe_subject *subject, const struct probe_bench *bench, struct cause_test *test,
                   struct cause_data *data);
/* Runs one side where the test wants it. As a runner's run. A run that was disturbed is repeated, and the run
 * from which a hypervisor took least counts. */
int cause_run(const struct probe_subject *subject, const struct probe_bench *bench, const struct cause_test *test,
              const struct cause_data *data, int side, const struct trial_request *request, struct trial_result *result,
              struct err *err);

/* A variable of a program's environment, which needs no rebuild. */
struct cause_variable {
	const char *name;  /* NULL: the end */
	const char *param; /* as `tune` calls it; NULL: as the variable */
	const char *value; /* NULL: it is not set */
};
/* Plans that these variables are set, without a prediction: an effect is then measured, but nothing is confirmed. */
bool cause_environment(const struct probe_subject *subject, size_t row, const struct cause_variable *variables,
                       struct cause_test *test);

/* The finals of a tune have compared both values in pairs, beside each other: as the price of a change, or as the
 * effect of one that did not pay. */
bool cause_price(const struct probe_subject *subject, const struct cause_test *test, double *ratio, double ci[2]);

struct cause_words {
	const char *names; /* of the parameter */
	const char *bad;   /* values that suffer; NULL: the largest number, or the smallest above 0 if `fewer` */
	const char *good;  /* values that do not; NULL: the fastest other one that was measured */
	const char *fresh; /* one of these if none was measured; may be NULL */
	const char *what;  /* for a reason: "memory units that threads do not share" */
	bool fewer;
};
/* Plans that one value takes the place of another, in the fastest setting that has the first and several threads. */
bool cause_replace(const struct probe_subject *subject, const struct cause_words *words, struct cause_test *test);
/* Plans the same setting on another problem that was measured and has at least twice the work, or at most half of it.
 * bytes_most: of its data; INFINITY: any. */
bool cause_resize(const struct probe_subject *subject, size_t row, bool larger, double bytes_most,
                  struct cause_test *test);
#endif
