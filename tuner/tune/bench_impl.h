/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bench measures, and knows how long that takes: runner, nodes, builds, noise, and the search that uses them. */
#ifndef TUNER_TUNE_BENCH_IMPL_H
#define TUNER_TUNE_BENCH_IMPL_H
#include "tuner/fleet/fleet.h"
#include "tuner/race/numbers.h"
#include "tuner/search/search.h"
#include "tuner/tune/tune_impl.h"

struct tune;

enum { FINALISTS_MAX = 8, TUNE_NOISES = 16 };

enum { TUNE_AHEAD_MAX = 64 };

struct tune_ahead { /* proposed and not yet measured */
	uint64_t queue[TUNE_AHEAD_MAX];
	size_t count;
	unsigned depth, most;      /* proposals at a time; the number of builders */
	bool beside;               /* builds may run beside a measurement */
	double builds_s, trials_s; /* of all evaluations after the baseline */
	double unfit_s;            /* of the build that did not fit into the budget any more; 0: none */
};

/* The last values, of which the median counts. */
struct tune_last {
	double last[TUNE_NOISES];
	size_t count; /* ever */
};

struct tune_times {
	double run;     /* per run of a whole program; 0 for kernels, whose value it is */
	double today;   /* value of the baseline in the latest comparison; 0: none, its trial is all that is known */
	double extra;   /* spent before and after each run of a program */
	double setup;   /* that setting up a kernel took at most */
	double prepare; /* and verifying it; without what a new worker finds computed */
	double restart; /* that the next trial of a kernel takes longer, because its worker ended */
	double trial;   /* of the last trial, without its build */
	double longest; /* of the trials of the search that ended by themselves, builds included */
};

struct tune_current { /* evaluation, for the strategy */
	double deviation, seconds;
	double build_seconds; /* of its build, whenever that was */
};

struct tune_bench {
	struct fleet *fleet;       /* nodes of the pool; NULL: none */
	struct parallel *parallel; /* the search on them, over all of its rounds */
	struct block_runner blocks;
	struct busy *busy; /* who else uses this machine; NULL with nodes, which are elsewhere */
	struct tune_ahead ahead;
	struct tune_last noise;  /* standard deviations of the logarithm of a sample, in the last trials */
	struct tune_last beside; /* seconds of the last trials of a kernel that were not those of their timed runs */
	struct tune_times times;
	struct tune_current current;
	enum tune_spending charged; /* trials of the finals count as this */
};

enum { TUNE_AGAIN_MAX = 2 /* repetitions of a disturbed trial */ };

/* bench.c */

/* The seconds of one run with this value. */
double tune_seconds(const struct tune *tune, double value);
/* Is energy measured? Then samples are long, and no trial is cut short. */
bool tune_is_metered(const struct tune *tune);
/* The seconds of a program's run as its worker measured them; NAN: not known. */
double tune_wall(const struct trial_result *result);
/* The value in the form that people know: rates are stored as 1/rate. */
double tune_shown(const struct tune *tune, double value);
/* Runs a trial of the task's runner. */
int tune_trial(struct tune *tune, enum tune_spending on, const struct trial_request *request,
               struct trial_result *result, struct err *err);
struct runner tune_runner(struct tune *tune, enum tune_spending on); /* tune_trial for the finals */
/* A request with the samples and limits of a search trial. */
struct trial_request tune_request(const struct tune *tune, const json_t *config);
struct trial_request tune_search_request(const struct tune *tune, const json_t *config, double limit);
double tune_search_limit(const struct tune *tune); /* slower trials cannot win; 0: not known */
/* The time that the next evaluation probably takes, builds included. */
double tune_evaluation_seconds(const struct tune *tune);
/* The seconds of a trial of the race or the duel with this value. */
double tune_final_seconds(const struct tune *tune, double value);
/* Learns from a trial that took so long, without its build, what a trial takes beside its runs. */
void tune_beside_note(struct tune *tune, const struct trial_result *result, double elapsed);
double tune_nodes(const struct tune *tune); /* that measure at the same time; 1: this machine alone */
/* The standard deviation of the logarithm of one sample; NAN: not known. */
double tune_noise(const struct tune *tune);
void tune_noise_note(struct tune *tune, const struct trial_result *result);
/* Is the baseline measured, or known to take longer than the search waited for it? */
bool tune_has_reference(const struct tune *tune);
/* Can a trial of the baseline be ended, and prove how much slower it is at least? */
bool tune_can_bound(const struct tune *tune);
double tune_restart_seconds(const struct tune *tune); /* of a worker that was ended */
/* The value of the baseline, of as many runs as there are; of the search's trial, one may be far off. */
double tune_today_value(const struct tune *tune);
double tune_base_seconds(const struct tune *tune); /* of a trial of the baseline in the finals, at least */
double tune_pair_seconds(const struct tune *tune); /* at least */
/* How many times the best's time a trial may take that has a change of the best taken back, so that it ends where that
 * costs less than whole runs; 0: it does not. */
double tune_arm_cut(const struct tune *tune);
double tune_arm_seconds(const struct tune *tune,
                        double cut); /* of such a trial; half of them are as fast as the best */
/* The seconds of the baseline's first trial without its verification: that computes the reference of a kernel, which
 * later trials share. */
double tune_first_seconds(const struct tune *tune);
/* A worker keeps only the last few configurations of a kernel: its baseline is set up again for the duel, verified, and
 * warmed up. */
double tune_return_seconds(const struct tune *tune);
/* The value that a new best has to beat after the last finals; INFINITY: they have decided nothing. */
double tune_finals_value(const struct tune *tune, bool proven);
/* Does it do other work than the baseline? Then nothing is proven of it unless any work counts. */
bool tune_is_other(const struct tune *tune, const json_t *config);
bool tune_is_busy(const struct tune *tune); /* do single runs say little, because others use the machine? */

/* ahead.c */

/* Tells the builder how long a build may take, by those so far. */
void tune_ahead_patience(struct tune *tune);
/* The next configuration to measure, which is built if it has to be. 0: the search is over, -1: interrupted. */
int tune_ahead_next(struct tune *tune, uint64_t *index, struct err *err);
void tune_ahead_end(struct tune *tune); /* stops all builds */

/* search.c */

int tune_search_run(struct tune *tune, struct err *err);
/* Measures a configuration under evaluation once more, merges its median into sum->value, and stores the trial with
 * that value. */
int tune_attempt(struct tune *tune, const char *phase, const struct trial_request *request, enum merge merge,
                 struct trial_result *sum, struct err *err);
/* Where builds run beside measurements: begins those of the baseline and of what the search will probably propose
 * first. */
void tune_ahead_foresee(struct tune *tune);
/* The reference is measured: starts the strategy and reports it. */
int tune_baseline_done(struct tune *tune, struct err *err);
/* Takes the times of a program. Returns true if it must run once more, now that it is warm. */
bool tune_program_look(struct tune *tune);
/* Counts an evaluation that has ended and reports it to the strategy. */
void tune_evaluated(struct tune *tune, uint64_t index, const struct trial_result *result);

/* The state of a session, by owners. What an owner does is in its header. */
struct tune {
	const struct tune_task *task;
	const struct tune_observer *observer;
	struct search *search;
	const char *stopped; /* why the search ended: "budget", "space", "gain"; NULL: it goes on */
	struct tune_tally tally;
	struct tune_money money;
	struct tune_bench bench;
	struct tune_memory memory;
	struct tune_finals finals;
	struct tune_counting counting;
};
#endif
