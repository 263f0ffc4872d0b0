/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef TUNER_TUNE_TUNE_IMPL_H
#define TUNER_TUNE_TUNE_IMPL_H
#include "tuner/race/race.h"
#include "tuner/tune/tune.h"

struct tune;

/* Replays the trials of an interrupted run in their order instead of measuring them, so that a resumed search takes the
 * same decisions again. */
struct recall;
/* Reads what an interrupted run has measured, and how long that took. */
int recall_begin(struct tune *tune, struct err *err);
void recall_free(struct recall *recall);
/* Takes the next trial of this configuration in this phase, as its runner returned it. */
bool recall_take(struct recall *recall, const char *phase, const json_t *config, struct trial_result *result);
/* Takes a probe made before the trial that comes next for this configuration (NULL: before the end). */
bool recall_probe(struct recall *recall, const json_t *next, struct trial_result *result);
/* Takes all remaining search trials, merged per configuration, in the order in which the last one of each ended. The
 * results stay owned by the recall. */
void recall_each(struct recall *recall, void (*each)(void *ctx, const char *config, const struct trial_result *result),
                 void *ctx);
/* Is there an untaken search trial of this configuration? */
bool recall_has(const struct recall *recall, const json_t *config);
bool recall_searched(const struct recall *recall); /* its search was complete */

/* Earlier searches in the store that may help a new one: the same kernel under the same objective, most similar first
 * (this machine before others, this source before older ones, then the nearest problem, then the newest).
 * doc/adr/0009-surrogate.md describes how the model uses them. */

/* One of them: its outcomes, mapped to another space. */
enum { SOURCE_OUTCOMES_MAX = 1000 };

struct tune_source_data {
	uint64_t *index;
	struct strategy_outcome *outcome;
	size_t count;
};

/* Reads the outcomes of a search up to trial `until`, failures included. Values are matched by the name of the
 * parameter; a number that is not in the list maps to the nearest one in its logarithm, if it lies within the range of
 * the list. Configurations that cannot be mapped are dropped, and of several mapped to the same one the nearest stays.
 * `start` (UINT64_MAX: none) provides values of parameters that the earlier search did not have. Of more than
 * SOURCE_OUTCOMES_MAX the best half and a sample of the rest are kept. */
int tune_source_read(struct store *store, int64_t search, int64_t until, const struct space *space, uint64_t start,
                     struct tune_source_data *data, struct err *err);
void tune_source_clear(struct tune_source_data *data);

enum { SOURCES_MAX = 8, SOURCES_OF_A_KIND = 2 /* per machine, source and problem */ };

struct tune_sources {
	const struct tune_sources_query *query; /* only while sources are collected */
	struct relative *relatives;
	size_t relative_count;
	struct tune_source_data data[SOURCES_MAX];
	struct strategy_source list[SOURCES_MAX];
	int64_t search[SOURCES_MAX];
	size_t count;
};
/* The plan of the search: that of an interrupted one, or a new one, with its sources. */
int tune_plan_make(struct tune *tune, uint64_t budget, json_t **plan, struct err *err);
void tune_sources_free(struct tune_sources *sources);

/* The memory holds all that was measured. */
struct tune;

struct tune_probe {
	int steady;         /* probes in a row that found the best unchanged */
	double at, seconds; /* when the best was last measured again, and how long that took */
};

struct tune_memory {
	int64_t id;                   /* of the search in the store */
	struct trial_result baseline; /* of the first phase */
	struct measured *worked;
	size_t worked_count;
	double best;         /* of the successful ones, as reported to the strategy; NAN: none yet */
	uint64_t best_index; /* UINT64_MAX: none in the space */
	uint64_t best_at;    /* the evaluations when it was found */
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

enum merge { MERGE_FIRST, MERGE_BEST, MERGE_MEAN };

/* session_memory.c */

/* Only merges, also into *deviation. Returns false if `one` is a failure after a success, which changes nothing. A
 * wrong result is no such failure: it takes the place of what worked. */
bool tune_merge(double *deviation, struct trial_result *sum, struct trial_result *one, enum merge merge);
/* Reports the outcome to the strategy, with deviation, seconds and counters of the current evaluation. */
void tune_outcome_report(struct tune *tune, uint64_t index, const struct trial_result *result);
/* Keeps a configuration that worked, or was cut short, for the finals. */
void tune_remember(struct tune *tune, uint64_t index, const struct trial_result *result);
/* Finds the best of those kept. */
void tune_best_find(struct tune *tune);
/* The same once more runs tell what others do. In the finals, other work counts where nothing else seems faster. */
void tune_best_choose(struct tune *tune, bool finals);
/* Notes how many runs of a trial were checked. */
void tune_checked_note(struct tune *tune, const json_t *config, const struct trial_result *result);
uint64_t tune_checked_runs(const struct tune *tune, const json_t *config);
/* Counts and names what a configuration does wrong after it worked in the search. A wrong result makes it fall. */
void tune_failure_note(struct tune *tune, const char *phase, const json_t *config, const struct trial_result *result);
/* Makes what was measured of this configuration count for nothing. */
void tune_forget(struct tune *tune, uint64_t index);
/* The configuration failed for good: it is out of the search's results. */
void tune_fall(struct tune *tune, const json_t *config);
bool tune_has_fallen(const struct tune *tune, const json_t *config);
/* Makes those fall that an interrupted run of a resumed search found wrong. */
int tune_earlier_failures(struct tune *tune, struct err *err);
/* Records both objectives of a trial, if there are two. */
void tune_pareto_record(struct tune *tune, const json_t *config, const struct trial_result *result);

/* An estimate of the effect of each parameter in the search: [{"param", "known", "seen", "ratio", "ci", "best",
 * "worst"}], the last four only if known. Parameters that changed together, and those that act together, can deceive
 * it. New reference. */
json_t *tune_effects(const struct tune *tune);

/* Money is what a session may spend, and what it spent: budget, clock, and where the seconds go. */
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

/* remaining.c */

void tune_report(struct tune *tune, enum tune_phase phase);
/* The same after a trial. */
void tune_report_trial(struct tune *tune, enum tune_phase phase, const json_t *config,
                       const struct trial_result *result);
void tune_finals_clock(struct tune *tune); /* race and duel begin */

/* budget.c */

/* True while trials of an interrupted run are replayed; those are used completely, however long they took. */
bool tune_is_recalling(const struct tune *tune);
/* The budget as seconds from start to end; 0: unlimited. A budget in node-seconds is shorter the more nodes are held,
 * so this changes as nodes come and go. */
double tune_budget_time(const struct tune *tune);
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
double tune_proof_seconds(const struct tune *tune); /* of the shortest duel that can prove anything */
/* Cuts a trial at the end of the budget; and did that happen? */
void tune_limit(const struct tune *tune, struct trial_request *request);
bool tune_was_cut(const struct trial_request *request, const struct trial_result *result);
/* Reports a budget that is too short, once the baseline was measured, or cut. Fails if nothing useful could be done. */
int tune_budget_check(struct tune *tune, bool cut, struct err *err);
/* Fails because the budget ended the baseline, and nothing else ended within the same time. */
int tune_budget_short(struct tune *tune, struct err *err);
int tune_budget_used(const struct tune *tune, struct err *err);
const char *tune_over(const struct tune *tune); /* why the search is over, as in the result; NULL: it is not */
bool tune_may_repeat(const struct tune *tune, const struct trial_result *result); /* does the budget allow it? */
/* Until the budget should be looked at again; < 0: never. */
static inline double tune_wait_seconds(const struct tune *tune) {
	static const double LEAST = 0.1;
	double left = tune_left(tune);
	return !tune_promised(tune) ? -1 : left > LEAST ? left : LEAST;
}

/* tune_run.c */

/* Counters: during the search, beside the finals, and after them. */
struct tune;

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

/* counters_phase.c */

/* Were counters requested? */
bool counting_asked(const struct tune *tune);
/* Requested counters of a search with a promised budget: counts the best so far when half of the time is used. */
int tune_counters_ahead(struct tune *tune, struct err *err);
/* After the finals: counts the baseline, the winner and the other finalists, as far as there is time. */
int tune_counters_phase(struct tune *tune, struct err *err);
/* Nodes for which the race (of these entries) and the duel have no work start counting early. The remaining functions
 * serve the code that runs their blocks: does a configuration wait for a node; start it; was this block a counting
 * block, which is then recorded and freed; wait for all of them and keep their counters. */
void tune_counting_early(struct tune *tune, const struct race_entry *entries, size_t count);
bool tune_counting_waits(const struct tune *tune);
int tune_counting_fill(struct tune *tune, struct err *err);
bool tune_counting_record(struct tune *tune, struct block *block, int *rc, struct err *err);
void tune_counting_end(struct tune *tune);
void tune_counting_free(struct counting *counting);

/* Race and duel: what they compare, what they found, and whether to trust it. */
struct tune;

/* One run in twenty that is wrong is among so many in 19 of 20 cases: 0.95^59 < 0.05. */
enum { TUNE_CHECKED_RUNS = 59 };

struct tune_trust {
	json_t *checked; /* configuration text -> number of its runs whose results were checked */
	json_t *fallen;  /* configuration text -> true: it worked at first, and failed for good later */
	double verify_s; /* of a kernel, the shortest so far; 0: not known */
	bool unverified; /* nothing is known to be right, because the baseline did not end */
	uint64_t whole;  /* runs of a program's baseline that ended, so that it is known what they did */
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

/* A winner that is proven, and stays so whatever comes next. */
struct tune_proof {
	json_t *config; /* NULL: none */
	uint64_t index; /* of what met the baseline last; UINT64_MAX: nothing */
	struct duel_result duel;
	json_t *prices; /* [worth, not_needed, effects, priced] of the finals; NULL: none */
};

/* Race and duel, and what they found. */
struct tune_finals {
	struct tune_proof proof;
	uint64_t met; /* the best of the search when they last began; UINT64_MAX: they have not */
	double met_value;
	json_t *best_config;
	struct duel_result duel;
	bool dueled;
	bool any_work;      /* what does other work counts, because nothing else seems to be faster */
	bool no_rival;      /* nothing else works, or comes near the baseline, which stays without a duel */
	double rival_ratio; /* how many times as long the closest of the others takes, where that ends the comparison;
	                     * INFINITY: none finished; 0: it does not */
	bool reversed;      /* the winner of the search lost its duel: the baseline stays */
	json_t *finalists;
	json_t *worth, *not_needed, *effects; /* as in the result; NULL: nothing met the baseline */
	json_t *priced;                       /* the configuration that they are about */
	json_t *both; /* configuration text -> {"config", "first", "second"}: both objectives of each trial */
	json_t *gpus; /* configuration text -> GPU state in its last trial */
	struct tune_trust trust;
	struct tune_gain gain;
	struct race_watch watch; /* what others on this machine did to the finals */
};

/* rivals.c */

struct race_observer tune_race_observer(struct tune *tune);
/* Where the baseline leads these entries, sorted by their smallest sample, chooses as `winner` what meets it instead,
 * perhaps one more that is added. Leaves it where nothing comes near, and sets the rival's ratio. */
int tune_rival_choose(struct tune *tune, struct race_entry *entries, size_t *count, size_t *winner, struct err *err);
/* Picks the best few of the search, safe ones only. Their configurations are owned by the caller. */
int tune_finalists_pick(struct tune *tune, struct race_entry *entries, size_t *count, struct err *err);
/* True if the baseline and one other are all there is, which becomes the winner: the two meet in the duel whoever
 * leads, so that a race has nothing to decide. False with a budget of time, whose end may cut the duel short, because a
 * race tells which of them to keep until then; and on nodes, which have no rule for a baseline that leads. */
bool tune_rival_is_sure(const struct tune *tune, const struct race_entry *entries, size_t count, size_t *winner);
/* The seconds after which a run of the baseline ends; 0: never. Where whole runs do not fit, more pairs with shorter
 * ones prove more: how much slower the baseline is at least. */
double tune_duel_bound(const struct tune *tune, double left);
void tune_comparison_drop(struct tune *tune); /* forgets the last one */
/* Keeps what the last comparison has proven, and forgets the comparison. */
void tune_proof_keep(struct tune *tune);
/* Is there another that is to meet the baseline, too? Only the runs of a duel may show that the winner does other work,
 * so that what does the same and may be faster follows; if the baseline stays, what does other work follows. */
bool tune_gives_way(struct tune *tune);
/* Makes what is proven the outcome, unless the last comparison has proven something else. */
void tune_proof_use(struct tune *tune);
/* Runs a winner for what it does, as far as there is time, and the baseline where too little is known of that; before
 * the duel, the baseline alone. */
int tune_winner_check(struct tune *tune, const json_t *winner, struct err *err);
void tune_gain_clear(struct tune *tune);
/* Is the gain that the duel shows also seen on the tuner's clock? Quarantines the nodes for which it is not. */
bool tune_gain_is_seen(struct tune *tune);

/* changes.c */

/* The duel of the winner with the baseline, and of what remains of it when what does not pay is dropped. *kept: the
 * configuration that the duel in the finals is about, a new reference; also set if it fails after one has ended. */
int tune_rent(struct tune *tune, const json_t *winner, json_t **kept, struct err *err);
/* The number of changes of a configuration from the baseline. */
size_t tune_changes(const struct tune *tune, const json_t *config);
/* Sees to it that the prices are those of the best configuration: nothing is known of one that other pairs have proven.
 */
void tune_prices_match(struct tune *tune);

/* final.c */

int tune_final_phase(struct tune *tune, struct err *err);
/* Is there a new best since the last finals that may be faster than what they have proven and priced, and than what
 * they found to be a tie? */
bool tune_wants_final(const struct tune *tune);
/* The best so far meets the baseline, in the middle of the search. */
int tune_prove_early(struct tune *tune, struct err *err);

struct tune_others { /* they meet the winner in the blocks of its duel */
	const json_t *const *configs;
	size_t count;
	double seconds;       /* that they may take part */
	double cut;           /* their trials end after so many times the winner's; 0: they do not */
	bool again;           /* an earlier duel has not proven what it set out to prove */
	bool rough;           /* the gain need not be known well, only whether there is one */
	bool doubted;         /* the first of them has more changes, and takes the winner's place if those pay */
	struct duel_log *log; /* of this final; NULL: none */
};

/* A duel with the baseline. Repeats it on other nodes while some of them report a gain that nobody else sees. */
int tune_duel_honest(struct tune *tune, const json_t *winner, const struct tune_others *others, struct err *err);

/* session_result.c */

json_t *tune_result(const struct tune *tune);
#endif
