/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of this folder and of parallel/ only. */
#ifndef TUNER_TUNE_STATE_H
#define TUNER_TUNE_STATE_H
#include "tuner/build/builder.h"
#include "tuner/busy/busy.h"
#include "tuner/fleet/fleet.h"
#include "tuner/race/numbers.h"
#include "tuner/race/race.h"
#include "tuner/search/search.h"
#include "tuner/tune/tune.h"
#include "tuner/tune/recall.h"
#include "tuner/tune/sources.h"

/* One run in twenty that is wrong is among so many in 19 of 20 cases: 0.95^59 < 0.05. */
enum { TUNE_CHECKED_RUNS = 59 };
enum { FINALISTS_MAX = 8, TUNE_NOISES = 16 };
/* Configurations whose best sample is within this factor of the best of all may still be the true winner; others
 * cannot, because the noise is smaller. */
#define TUNE_FINALIST_MARGIN 1.25

struct measured { /* a configuration that worked, and its median in the search */
	uint64_t index;
	double value;   /* INFINITY: cut short */
	double promise; /* its smallest sample, which no disturbance can have lowered: decides who races */
	double wall;    /* seconds per run if the value is a metric; NAN: not known */
	unsigned times; /* number of measurements */
};

/* The phases of a run whose seconds are reported, with the names of the result. */
enum tune_spending {
	SPENT_IDLE, /* nothing of the others */
	SPENT_BUILD,
	SPENT_MEASURE,
	SPENT_VERIFY,
	SPENT_PROBE,
	SPENT_RACE,
	SPENT_DUEL,
	SPENT_COUNTERS,
	SPENT_SEARCH, /* the strategy */
	SPENT_COUNT
};

enum { TUNE_AHEAD_MAX = 64 };
struct tune_ahead { /* proposed and not yet measured */
	uint64_t queue[TUNE_AHEAD_MAX];
	size_t count;
	unsigned depth, most;      /* proposals at a time; the number of builders */
	bool beside;               /* builds may run beside a measurement */
	double builds_s, trials_s; /* of all evaluations after the baseline */
	double unfit_s;            /* of the build that did not fit into the budget any more; 0: none */
};

struct tune_trust {
	json_t *checked; /* configuration text -> number of its runs whose results were checked */
	json_t *fallen;  /* configuration text -> true: it worked at first, and failed for good later */
	double verify_s; /* of a kernel, the shortest so far; 0: not known */
};

struct tune_gain_trial { /* of the duel, on a node */
	int block;
	bool baseline;
	size_t node;
	double said, seen; /* seconds of the run as the node reports them; of the answer on the tuner's clock */
};

struct tune_gain {
	struct tune_gain_trial *trials;
	size_t count;
	double said, seen; /* of the last node that was not confirmed */
	json_t *nodes;     /* [{"name", "said_s", "seen_s"}]: those that were not; NULL: none */
	bool unconfirmed;  /* no other node was left to repeat the duel */
};

/* The last values, of which the median counts. */
struct tune_last {
	double last[TUNE_NOISES];
	size_t count; /* ever */
};

/* When the session will probably end; seconds on the scale of tune_elapsed. */
struct tune_outlook {
	double begun, expected; /* the finals; how long they will probably take */
	double duel_begun;
	int pair_trials, duel_trials; /* trials of each pair; of the duel so far */
};

/* What the session may spend, and what it spent. */
struct tune_money {
	struct tune_budget budget;
	double begun, spent_before;          /* monotonic seconds; seconds that an interrupted run had used */
	double spent[SPENT_COUNT], spent_at; /* seconds; since when on `spending` */
	enum tune_spending spending;
	double searched_from; /* the evaluations after the first `searched` were made since then */
	uint64_t searched;
	bool cut;              /* the budget ended the last evaluation, which therefore counts for nothing */
	char cut_message[256]; /* what it ended */
	struct tune_outlook outlook;
	bool reported; /* the first useful configuration was */
};

struct tune_times {
	double run;     /* per run of a whole program; 0 for kernels, whose value it is */
	double extra;   /* spent before and after each run of a program */
	double restart; /* that the next trial of a kernel takes longer, because its worker ended */
	double trial;   /* of the last trial, without its build */
	double longest; /* of the trials of the search that ended by themselves, builds included */
};

struct tune_current { /* evaluation, for the strategy */
	double deviation, seconds;
	double build_seconds; /* of its build, whenever that was */
};

/* What measures, and how long that takes. */
struct tune_bench {
	struct fleet *fleet; /* nodes of the pool; NULL: none */
	struct block_runner blocks;
	struct busy *busy; /* who else uses this machine; NULL with nodes, which are elsewhere */
	struct tune_ahead ahead;
	struct tune_last noise;  /* standard deviations of the logarithm of a sample, in the last trials */
	struct tune_last beside; /* seconds of the last trials of a kernel that were not those of their timed runs */
	struct tune_times times;
	struct tune_current current;
	enum tune_spending charged; /* trials of the finals count as this */
};

struct tune_probe {
	int steady;         /* probes in a row that found the best unchanged */
	double at, seconds; /* when the best was last measured again, and how long that took */
};

/* What was measured. */
struct tune_memory {
	int64_t id;                   /* of the search in the store */
	struct trial_result baseline; /* of the first phase */
	struct measured *worked;
	size_t worked_count;
	double best;         /* of the successful ones, as reported to the strategy; NAN: none yet */
	uint64_t best_index; /* UINT64_MAX: none in the space */
	uint64_t cut_index;  /* of the last trial that took too long to end; UINT64_MAX: none */
	struct tune_probe probe;
	struct recall *recall; /* trials of an interrupted run */
	bool is_new;           /* something was measured that could not be replayed */
	struct tune_sources *sources;
};

struct tune_tally {
	uint64_t evaluations;
	uint64_t failures[TRIAL_STATUS_COUNT];
	json_t *failed;        /* [{"status", "config", "message", "phase"}]: the first failure of each kind in the
	                        * search, without a phase, and all configurations that failed later */
	uint64_t incomparable; /* configurations with a metric of 0 or below */
};

/* Race and duel, and what they found. */
struct tune_finals {
	json_t *best_config;
	struct duel_result duel;
	bool dueled;
	bool no_rival;      /* nothing else works, or comes near the baseline, which stays without a duel */
	double rival_ratio; /* how many times as long the closest of the others takes, where that ends the comparison;
	                     * INFINITY: none finished; 0: it does not */
	bool reversed;      /* the winner of the search lost its duel: the baseline stays */
	json_t *finalists;
	json_t *both; /* configuration text -> {"config", "first", "second"}: both objectives of each trial */
	json_t *gpus; /* configuration text -> GPU state in its last trial */
	struct tune_trust trust;
	struct tune_gain gain;
	struct race_watch watch; /* what others on this machine did to the finals */
};

struct tune_counting {
	json_t *names;          /* of the counters of a trial; an array */
	json_t *counted;        /* configuration text -> result of trial_counters_add */
	json_t *uncounted;      /* [{"config","reason"}] */
	double seconds;         /* spent counting */
	bool ahead;             /* a configuration was counted during the search */
	double one_seconds;     /* that this took */
	double kept;            /* seconds of the budget that are kept for counting another one */
	struct counting *nodes; /* on nodes; NULL: not started */
};

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

double tune_now(const struct tune *tune); /* monotonic seconds on the nodes' clock */
double tune_elapsed(const struct tune *tune);
/* The seconds of one run with this value. */
double tune_seconds(const struct tune *tune, double value);
/* Is energy measured? Then samples are long, and no trial is cut short. */
bool tune_is_metered(const struct tune *tune);
/* tune_cost; if the objective is a metric, the time of a run comes before all else, in steps too large for noise:
 * `wall` against the baseline; NAN: not known. Beside other programs it does not count, because it may be theirs. */
double tune_price(const struct tune *tune, const json_t *config, double wall);
/* The seconds of a program's run as its worker measured them; NAN: not known. */
double tune_wall(const struct trial_result *result);
/* The value in the form that people know: rates are stored as 1/rate. */
double tune_shown(const struct tune *tune, double value);
bool tune_interrupted(const struct tune *tune);
void tune_report(struct tune *tune, enum tune_phase phase);
/* Charges time to this phase; returns the previous phase. clock.c */
enum tune_spending tune_spend(struct tune *tune, enum tune_spending on);
/* The same for a whole phase on nodes, whose trials run at the same time; nothing on one machine. */
void tune_spend_nodes(struct tune *tune, enum tune_spending on);
/* Runs a trial of the task's runner. */
int tune_trial(struct tune *tune, enum tune_spending on, const struct trial_request *request,
               struct trial_result *result, struct err *err);
struct runner tune_runner(struct tune *tune, enum tune_spending on); /* tune_trial for the finals */
json_t *tune_seconds_json(const struct tune *tune);                  /* new reference */
json_t *tune_building_json(const struct tune *tune);                 /* new reference; NULL: nothing is built */
/* Called once the baseline is measured: decides how many are proposed at a time. ahead.c */
void tune_ahead_begin(struct tune *tune);
/* Called after each evaluation: decides that again, by the builds and trials so far. */
void tune_ahead_note(struct tune *tune);
/* Tells the builder how long a build may take, by those so far. */
void tune_ahead_patience(struct tune *tune);
/* The next configuration to measure, which is built if it has to be. 0: the search is over, -1: interrupted. */
int tune_ahead_next(struct tune *tune, uint64_t *index, struct err *err);
void tune_ahead_end(struct tune *tune); /* stops all builds */
/* A request with the samples and limits of a search trial. */
struct trial_request tune_request(const struct tune *tune, const json_t *config);
struct race_observer tune_race_observer(struct tune *tune);

/* Measures a configuration under evaluation once more, merges its median into sum->value, and stores the trial with
 * that value. */
enum merge { MERGE_FIRST, MERGE_BEST, MERGE_MEAN };
int tune_attempt(struct tune *tune, const char *phase, const struct trial_request *request, enum merge merge,
                 struct trial_result *sum, struct err *err);
/* Only merges, also into *deviation. Returns false if `one` is a failure after a success, which changes nothing. A
 * wrong result is no such failure: it takes the place of what worked. */
bool tune_merge(double *deviation, struct trial_result *sum, struct trial_result *one, enum merge merge);
/* Measures the best so far again before configuration `next`, if the last time is long enough ago for its cost. */
int tune_probe_best(struct tune *tune, uint64_t next, struct err *err);
/* Reports the outcome to the strategy, with deviation, seconds and counters of the current evaluation. */
void tune_outcome_report(struct tune *tune, uint64_t index, const struct trial_result *result);
/* Keeps a configuration that worked, or was cut short, for the finals. */
void tune_remember(struct tune *tune, uint64_t index, const struct trial_result *result);
/* Finds the best of those kept. */
void tune_best_find(struct tune *tune);
/* Takes the names of the counters from a trial. */
void tune_counters_name(struct tune *tune, const struct trial_result *result);
/* Creates the task of the strategy and the search, the same again if resumed. Called once the baseline is measured. */
int tune_search_begin(struct tune *tune, uint64_t budget, struct err *err);

/* True while trials of an interrupted run are replayed; those are used completely, however long they took. */
bool tune_is_recalling(const struct tune *tune);
/* The budget as seconds from start to end; 0: unlimited. A budget in node-seconds is shorter the more nodes are held,
 * so this changes as nodes come and go. */
double tune_budget_time(const struct tune *tune);
/* Is the budget of the search used up? */
bool tune_spent(const struct tune *tune);
/* Does a budget in seconds allow this beside the finals? */
bool tune_fits(const struct tune *tune, double seconds);
/* The number of evaluations that the budget allows, for strategies that plan ahead; 0: not known. */
uint64_t tune_budget_evaluations(const struct tune *tune);
/* How many more evaluations it allows, judged by those so far; at least 1. */
uint64_t tune_evaluations_left(const struct tune *tune);

/* The seconds of the budget that the search leaves to race and duel. */
double tune_finals_kept(const struct tune *tune);
/* The time that the next evaluation probably takes, builds included. */
double tune_evaluation_seconds(const struct tune *tune);
/* Estimated seconds until the session ends; NAN: not known. left.c */
double tune_time_left(const struct tune *tune, enum tune_phase phase);
void tune_finals_clock(struct tune *tune);             /* race and duel begin */
void tune_duel_clock(struct tune *tune, bool control); /* the duel begins */
/* True if the gain so far exceeds the noise. */
bool tune_is_useful(const struct tune *tune);
/* Reports the first useful configuration. */
void tune_first_report(struct tune *tune);

/* The seconds of a trial of the race or the duel with this value. */
double tune_final_seconds(const struct tune *tune, double value);
/* Learns from a trial that took so long, without its build, what a trial takes beside its runs. */
void tune_beside_note(struct tune *tune, const struct trial_result *result, double elapsed);
double tune_nodes(const struct tune *tune); /* that measure at the same time; 1: this machine alone */
/* Rounds that a duel of `pairs` takes on these nodes, which measure the pairs of one look at the same time. */
double tune_rounds(const struct tune *tune, int pairs);

/* The promise of a budget in seconds: promise.c. Does it bind? */
bool tune_promised(const struct tune *tune);
/* Seconds until nothing new may begin; INFINITY without a promise. */
double tune_left(const struct tune *tune);
/* The clock of a comparison that may take this long, on the scale of tune_elapsed. */
struct race_clock tune_race_clock(struct tune *tune, double left);
/* The standard deviation of the logarithm of one sample; NAN: not known. */
double tune_noise(const struct tune *tune);
void tune_noise_note(struct tune *tune, const struct trial_result *result);
int tune_pairs_first(const struct tune *tune);    /* of the duel's first look */
int tune_pairs_expected(const struct tune *tune); /* by the difference and the noise at hand */
double tune_pair_seconds(const struct tune *tune);
/* The seconds of the baseline's first trial without its verification: that computes the reference of a kernel, which
 * later trials share. */
double tune_first_seconds(const struct tune *tune);
/* A worker keeps only the last few configurations of a kernel: its baseline is set up again for the duel, verified, and
 * warmed up. */
double tune_return_seconds(const struct tune *tune);
double tune_proof_seconds(const struct tune *tune); /* of the shortest duel that can prove anything */
/* May another configuration be measured? least: evaluations that a search should have; finals: seconds kept for them.
 */
bool tune_another_fits(const struct tune *tune, uint64_t least, double finals);
/* Cuts a trial at the end of the budget; and did that happen? */
void tune_limit(const struct tune *tune, struct trial_request *request);
bool tune_was_cut(const struct trial_request *request, const struct trial_result *result);
/* Reports a budget that is too short, once the baseline was measured, or cut. Fails if nothing useful could be done. */
int tune_budget_check(struct tune *tune, bool cut, struct err *err);
int tune_budget_used(const struct tune *tune, struct err *err);

int tune_search_phase(struct tune *tune, struct err *err);
enum { TUNE_AGAIN_MAX = 2 /* repetitions of a disturbed trial */ };
struct trial_request tune_search_request(const struct tune *tune, const json_t *config, double limit);
double tune_search_limit(const struct tune *tune); /* slower trials cannot win; 0: not known */
/* The reference is measured: starts the strategy and reports it. */
int tune_baseline_done(struct tune *tune, struct err *err);
/* Takes the times of a program. Returns true if it must run once more, now that it is warm. */
bool tune_program_look(struct tune *tune);
/* Counts an evaluation that has ended and reports it to the strategy. */
void tune_evaluated(struct tune *tune, uint64_t index, const struct trial_result *result);
const char *tune_over(const struct tune *tune); /* why the search is over, as in the result; NULL: it is not */

int tune_parallel_search(struct tune *tune, struct err *err); /* on a pool: parallel/parallel.c */
double tune_wait_seconds(const struct tune *tune); /* until the budget should be looked at again; < 0: never */
bool tune_may_repeat(const struct tune *tune, const struct trial_result *result); /* does the budget allow it? */
void tune_parallel_finals(struct tune *tune); /* runs blocks of the finals on nodes: parallel/finals.c */
/* Where the baseline leads these entries, sorted by promise, chooses as `winner` what meets it instead, perhaps one
 * more that is added. Leaves it where nothing comes near, and sets the rival's ratio. opponent.c */
bool tune_is_loud(const struct tune *tune); /* do single runs say little, because others use the machine? */
int tune_opponent(struct tune *tune, struct race_entry *entries, size_t *count, size_t *winner, struct err *err);
/* True if the baseline and one other are all there is, which becomes the winner: the two meet in the duel whoever
 * leads, so that a race has nothing to decide. False with a budget of time, whose end may cut the duel short, because a
 * race tells which of them to keep until then; and on nodes, which have no rule for a baseline that leads. opponent.c
 */
bool tune_opponent_is_sure(const struct tune *tune, const struct race_entry *entries, size_t count, size_t *winner);
int tune_final_phase(struct tune *tune, struct err *err);

/* Notes how many runs of a trial were checked: wrong.c. */
void tune_checked_note(struct tune *tune, const json_t *config, const struct trial_result *result);
uint64_t tune_checked_runs(const struct tune *tune, const json_t *config);
/* Is a kernel verified so quickly that each trial of the finals can do it again? */
bool tune_verifies_again(const struct tune *tune);
/* Counts and names what a configuration does wrong after it worked in the search. A wrong result makes it fall. */
void tune_failure_note(struct tune *tune, const char *phase, const json_t *config, const struct trial_result *result);
/* The configuration failed for good: it is out of the search's results. */
void tune_fall(struct tune *tune, const json_t *config);
bool tune_has_fallen(const struct tune *tune, const json_t *config);
/* The seconds that the search leaves for tune_winner_check, which runs the winner until TUNE_CHECKED_RUNS of its runs
 * were checked, it falls, or the time is over. */
double tune_check_seconds(const struct tune *tune);
int tune_winner_check(struct tune *tune, const json_t *winner, struct err *err);
/* Makes those fall that an interrupted run of a resumed search found wrong. */
int tune_earlier_failures(struct tune *tune, struct err *err);

/* Keeps the times of a trial of the duel on a node: gain.c. */
void tune_gain_note(struct tune *tune, const char *phase, int block, const json_t *config,
                    const struct trial_result *result);
void tune_gain_clear(struct tune *tune);
/* Is the gain that the duel shows also seen on the tuner's clock? Quarantines the nodes for which it is not. */
bool tune_gain_is_seen(struct tune *tune);
/* Keeps time of a promised budget for counters that nobody asked for. Call it when the baseline is known. */
void tune_counters_keep(struct tune *tune);
/* Requested counters of a search with a promised budget: counts the best so far when half of the time is used. */
int tune_counters_ahead(struct tune *tune, struct err *err);
/* After the finals: counts the baseline, the winner and the other finalists, as far as there is time. */
int tune_counters_phase(struct tune *tune, struct err *err);
/* Nodes for which the race (of these entries) and the duel have no work start counting early. The remaining functions
 * serve the code that runs their blocks: does a configuration wait for a node; start it; was this block a counting
 * block, which is then recorded and freed; wait for all of them and keep their counters. parallel/counters.c */
void tune_counting_early(struct tune *tune, const struct race_entry *entries, size_t count);
bool tune_counting_waits(const struct tune *tune);
int tune_counting_fill(struct tune *tune, struct err *err);
bool tune_counting_record(struct tune *tune, struct block *block, int *rc, struct err *err);
void tune_counting_end(struct tune *tune);
void tune_counting_free(struct counting *counting);
json_t *tune_result(const struct tune *tune);
/* Records both objectives of a trial, if there are two. */
void tune_pareto_record(struct tune *tune, const json_t *config, const struct trial_result *result);
/* The front in the order of the first objective: [{"config", one member named like each objective, "trials"}]. New
 * reference. */
json_t *tune_pareto(const struct tune *tune);
/* Adds the counters and the cost of counting to the result. */
void tune_counted_add(const struct tune *tune, json_t *result);

/* The effect of each parameter in the search: [{"param", "known", "seen", "ratio", "ci", "best", "worst"}], the last
 * four only if known. New reference. */
json_t *tune_effects(const struct tune *tune);
/* The fastest finalist that is cheaper than the best and within its noise (1 %, or the noise floor), else the fastest
 * one within it: {"config", "ratio" to the best, "why"}. New reference; NULL: none. */
json_t *tune_runner_up(const struct tune *tune);
/* The configuration with baseline values for all parameters that did not clearly matter; NULL if that is the same or
 * impossible. New reference. */
json_t *tune_simplified(const struct tune *tune, const json_t *config);

#endif
