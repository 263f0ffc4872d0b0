/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Money is what a session may spend, and what it spent: budget, clock, and where the seconds go. */
#ifndef TUNER_TUNE_MONEY_IMPL_H
#define TUNER_TUNE_MONEY_IMPL_H
#include "tuner/race/race.h"
#include "tuner/tune/tune.h"

struct tune;

/* Configurations whose best sample is within this factor of the best of all may still be the true winner; others
 * cannot, because the noise is smaller. */
#define TUNE_FINALIST_MARGIN 1.25

struct measured { /* a configuration that worked, and its median in the search */
	uint64_t index;
	double value;   /* INFINITY: cut short */
	double least;   /* its smallest sample, which no disturbance can have lowered: decides who races */
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

/* When the session will probably end; seconds on the scale of tune_elapsed. */
struct tune_outlook {
	double begun, expected; /* the finals; how long they will probably take */
	double duel_begun;
	int pair_trials, duel_trials; /* trials of each pair; of the duel so far */
};

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

/* clock.c */

double tune_now(const struct tune *tune); /* monotonic seconds on the nodes' clock */
double tune_elapsed(const struct tune *tune);
bool tune_interrupted(const struct tune *tune);
/* Charges time to this phase; returns the previous phase. */
enum tune_spending tune_spend(struct tune *tune, enum tune_spending on);
/* The same for a whole phase on nodes, whose trials run at the same time; nothing on one machine. */
void tune_spend_nodes(struct tune *tune, enum tune_spending on);
json_t *tune_seconds_json(const struct tune *tune); /* new reference */

/* remaining.c */

void tune_report(struct tune *tune, enum tune_phase phase);
void tune_finals_clock(struct tune *tune);             /* race and duel begin */
void tune_duel_clock(struct tune *tune, bool control); /* the duel begins */

/* budget.c */

/* True while trials of an interrupted run are replayed; those are used completely, however long they took. */
bool tune_is_recalling(const struct tune *tune);
/* The budget as seconds from start to end; 0: unlimited. A budget in node-seconds is shorter the more nodes are held,
 * so this changes as nodes come and go. */
double tune_budget_time(const struct tune *tune);
/* Does a budget in seconds allow this beside the finals? */
bool tune_fits(const struct tune *tune, double seconds);
/* The number of evaluations that the budget allows, for strategies that plan ahead; 0: not known. */
uint64_t tune_budget_evaluations(const struct tune *tune);
/* The seconds of the budget that the search leaves to race and duel. */
double tune_finals_kept(const struct tune *tune);
/* True if the gain so far exceeds the noise. */
bool tune_is_useful(const struct tune *tune);
/* Rounds that a duel of `pairs` takes on these nodes, which measure the pairs of one look at the same time. */
double tune_rounds(const struct tune *tune, int pairs);
/* Does a budget in seconds bind? Then it is a promise. */
bool tune_promised(const struct tune *tune);
/* Seconds until nothing new may begin; INFINITY without a promise. */
double tune_left(const struct tune *tune);
/* The clock of a comparison that may take this long, on the scale of tune_elapsed. */
struct race_clock tune_race_clock(struct tune *tune, double left);
int tune_pairs_first(const struct tune *tune);    /* of the duel's first look */
int tune_pairs_expected(const struct tune *tune); /* by the difference and the noise at hand */
/* The seconds of the blocks that tell which changes of the best pay, as far as the budget keeps time for them. */
double tune_rent_seconds(const struct tune *tune);
/* Does a proof of the best so far take less than this share of the budget? */
bool tune_proof_is_cheap(const struct tune *tune, double share);
double tune_proof_seconds(const struct tune *tune); /* of the shortest duel that can prove anything */
/* Cuts a trial at the end of the budget; and did that happen? */
void tune_limit(const struct tune *tune, struct trial_request *request);
bool tune_was_cut(const struct trial_request *request, const struct trial_result *result);
/* Reports a budget that is too short, once the baseline was measured, or cut. Fails if nothing useful could be done. */
int tune_budget_check(struct tune *tune, bool cut, struct err *err);
/* Fails because the budget ended the baseline, and nothing else ended within the same time. */
int tune_budget_short(struct tune *tune, struct err *err);
int tune_budget_used(const struct tune *tune, struct err *err);
const char *tune_over(const struct tune *tune);    /* why the search is over, as in the result; NULL: it is not */
double tune_wait_seconds(const struct tune *tune); /* until the budget should be looked at again; < 0: never */
bool tune_may_repeat(const struct tune *tune, const struct trial_result *result); /* does the budget allow it? */

/* tune_run.c */
#endif
