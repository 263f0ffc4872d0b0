/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files tune*.c only. */
#ifndef TUNER_TUNE_STATE_H
#define TUNER_TUNE_STATE_H
#include "tuner/fleet/fleet.h"
#include "tuner/race/race.h"
#include "tuner/search/search.h"
#include "tuner/tune/tune.h"
#include "tuner/tune/recall.h"
#include "tuner/tune/sources.h"

enum { FINALISTS_MAX = 8 };

struct measured { /* a configuration that worked, and its median while searching */
	uint64_t index;
	double value;   /* INFINITY: cut short */
	double promise; /* its smallest sample, which no disturbance can have made: decides who races */
	double wall;    /* seconds of a run, where the value is a metric; NAN: not known */
	unsigned times; /* measured */
};

struct tune {
	const struct tune_task *task;
	const struct tune_observer *observer;
	struct tune_budget budget;
	struct search *search;
	int64_t id;                 /* of the search in the store */
	double begun, spent_before; /* monotonic seconds; what an interrupted run had used */
	uint64_t evaluations;
	uint64_t failures[TRIAL_STATUS_COUNT];
	struct trial_result baseline; /* of the first phase */
	double run_seconds;           /* of one run of a whole program; 0 for kernels, whose value it is */
	double extra_seconds;         /* that a program's run costs beside: what is done before and after it */
	struct measured *worked;
	size_t worked_count;
	double best;               /* of what worked, as told to the strategy; NAN: nothing yet */
	uint64_t best_index;       /* UINT64_MAX: none in the space */
	double probed, probe_cost; /* when the best was last measured again, and what it took; seconds */
	struct recall *recall;     /* what an interrupted run measured */
	bool measured;             /* something that could not be recalled */
	double deviation, seconds; /* of the evaluation at hand, as strategies are told */
	json_t *counter_names;     /* of a trial; an array */
	struct tune_sources *sources;
	uint64_t incomparable; /* configurations whose metric is 0 or below */
	struct fleet *fleet;   /* of the pool; NULL: there is none */
	struct block_runner blocks;
	const char *stopped; /* why the search ended: "budget", "space", "gain"; NULL: it did not */
	/* the end */
	json_t *best_config;
	struct duel_result duel;
	bool dueled;
	bool reversed; /* the search's winner lost its duel: the baseline stays */
	json_t *finalists;
	json_t *both;              /* configuration text -> {"config", "first", "second"}: two objectives, of each trial */
	json_t *gpus;              /* configuration text -> what its last trial told of the GPU */
	json_t *counted;           /* configuration text -> what trial_counters_add gives */
	json_t *uncounted;         /* [{"config","reason"}] */
	double counting_seconds;   /* that the counters took */
	struct counting *counting; /* on nodes; NULL: none has begun */
};

double tune_now(const struct tune *tune); /* monotonic seconds, as nodes have them */
double tune_elapsed(const struct tune *tune);
/* Seconds that one run with this value costs. */
double tune_seconds(const struct tune *tune, double value);
/* Is energy measured? Then samples are long, and nothing is cut short. */
bool tune_is_metered(const struct tune *tune);
/* tune_cost, and where the objective is a metric, before all else the time that a run takes, in steps that noise does
 * not make: `wall` against the baseline's; NAN: not known. */
double tune_price(const struct tune *tune, const json_t *config, double wall);
/* Seconds of a program's run, as its worker has measured them; NAN: not known. */
double tune_wall(const struct trial_result *result);
/* The value as people know it: rates are kept as 1/rate. */
double tune_shown(const struct tune *tune, double value);
bool tune_interrupted(const struct tune *tune);
void tune_report(struct tune *tune, enum tune_phase phase);
/* Samples and limits of a search trial. */
struct trial_request tune_request(const struct tune *tune, const json_t *config);
struct race_observer tune_race_observer(struct tune *tune);

/* One more measurement of a configuration that is being evaluated: its median is merged into sum->value, and the trial
 * is stored with that. tune_measure.c */
enum merge { MERGE_FIRST, MERGE_BEST, MERGE_MEAN };
int tune_attempt(struct tune *tune, const char *phase, const struct trial_request *request, enum merge merge,
                 struct trial_result *sum, struct err *err);
/* The merging alone, into *deviation, too. False: one is a failure after something that worked, and changes nothing. */
bool tune_merge(double *deviation, struct trial_result *sum, struct trial_result *one, enum merge merge);
/* Measures the best so far again before configuration `next`, when the last time is long enough ago for what that
 * costs. tune_measure.c */
int tune_probe_best(struct tune *tune, uint64_t next, struct err *err);
/* Tells the strategy, with the deviation, seconds and counters of the evaluation at hand. report.c */
void tune_outcome_report(struct tune *tune, uint64_t index, const struct trial_result *result);
/* What worked, or was cut short, for the finals. report.c */
void tune_remember(struct tune *tune, uint64_t index, const struct trial_result *result);
/* The best of what is remembered. tune_measure.c */
void tune_best_find(struct tune *tune);
/* Takes the names of the counters from a trial. report.c */
void tune_counters_name(struct tune *tune, const struct trial_result *result);
/* The strategy's task and the search, the same again where it is resumed. Once the baseline is measured. tune_begin.c
 */
int tune_search_begin(struct tune *tune, uint64_t budget, struct err *err);

/* tune_budget.c. What an interrupted run has measured is taken over as a whole, whatever time that took. */
bool tune_is_recalling(const struct tune *tune);
/* Seconds from beginning to end that the budget is; 0: it has none. One in node-seconds is the shorter the more nodes
 * are held, so it changes as they come and go. */
double tune_budget_time(const struct tune *tune);
/* Is the budget used up, for the search? */
bool tune_spent(const struct tune *tune);
/* Evaluations that it will allow, for strategies that plan ahead; 0: not known. */
uint64_t tune_budget_evaluations(const struct tune *tune);
/* How many more it will allow, judged by those so far; at least 1. */
uint64_t tune_evaluations_left(const struct tune *tune);

int tune_search_phase(struct tune *tune, struct err *err); /* tune_search.c, as are these */
enum { TUNE_AGAIN_MAX = 2 /* attempts more at what was disturbed */ };
struct trial_request tune_search_request(const struct tune *tune, const json_t *config, double limit);
double tune_search_limit(const struct tune *tune); /* what can't win is over it; 0: not known */
/* The reference is measured: the strategy begins, and is told. */
int tune_baseline_done(struct tune *tune, struct err *err);
/* Of a program: must it run once more, now that it is warm? Takes its clock. */
bool tune_program_look(struct tune *tune);
/* An evaluation has ended: counts it and tells the strategy. */
void tune_evaluated(struct tune *tune, uint64_t index, const struct trial_result *result);
const char *tune_over(const struct tune *tune); /* why the search is over, as the result says it; NULL: it is not */

int tune_parallel_search(struct tune *tune, struct err *err); /* the same on a pool. tune_parallel.c */
void tune_parallel_finals(struct tune *tune);                 /* blocks for what comes then. tune_parallel_finals.c */
int tune_final_phase(struct tune *tune, struct err *err);     /* tune_final.c */
/* Counts the baseline, the winner and the other finalists, as far as there is time. tune_counters.c */
int tune_counters_phase(struct tune *tune, struct err *err);
/* On nodes that the race, of these entries, and the duel have nothing for, counting begins with them. The rest is for
 * who runs their blocks: does something wait for a node; begin it; is this block one of those that count, and was it
 * taken and freed; wait for those on their way, and keep what they counted. tune_parallel_counters.c */
void tune_counting_early(struct tune *tune, const struct race_entry *entries, size_t count);
bool tune_counting_waits(const struct tune *tune);
int tune_counting_fill(struct tune *tune, struct err *err);
bool tune_counting_record(struct tune *tune, struct block *block, int *rc, struct err *err);
void tune_counting_end(struct tune *tune);
void tune_counting_free(struct counting *counting);
json_t *tune_result(const struct tune *tune); /* tune_result.c */
/* Takes both objectives of a trial, where there are two. tune_pareto.c */
void tune_pareto_record(struct tune *tune, const json_t *config, const struct trial_result *result);
/* The front, in the order of the first: [{"config", one member named as each objective, "trials"}]. New reference. */
json_t *tune_pareto(const struct tune *tune);
/* What was counted, and what that cost. tune_counted.c */
void tune_counted_add(const struct tune *tune, json_t *result);

/* How much each parameter mattered in the search: [{"param", "known", "seen", "ratio", "ci", "best", "worst"}], the
 * last four where known. New reference. tune_effects.c */
json_t *tune_effects(const struct tune *tune);
/* Of the race's finalists within the noise of the best (1 %, or the noise floor) the fastest cheaper one, else the
 * fastest: {"config", "ratio" of its time to the best's, "why"}. New reference; NULL: none. tune_effects.c */
json_t *tune_runner_up(const struct tune *tune);
/* The configuration with the baseline's values of all parameters that did not clearly matter; NULL where there is none
 * like that. New reference. tune_simplify.c */
json_t *tune_simplified(const struct tune *tune, const json_t *config);

#endif
