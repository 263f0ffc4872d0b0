/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Race and duel: what they compare, what they found, and whether to trust it. */
#ifndef TUNER_TUNE_FINALS_IMPL_H
#define TUNER_TUNE_FINALS_IMPL_H
#include "tuner/race/race.h"

struct tune;

/* One run in twenty that is wrong is among so many in 19 of 20 cases: 0.95^59 < 0.05. */
enum { TUNE_CHECKED_RUNS = 59 };

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
	json_t *best_config;
	struct duel_result duel;
	bool dueled;
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
/* Makes what is proven the outcome, unless the last comparison has proven something else. */
void tune_proof_use(struct tune *tune);
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
/* Is there a new best since the last finals that may be faster than what they have proven and priced? */
bool tune_wants_final(const struct tune *tune);
/* The best so far meets the baseline, in the middle of the search. */
int tune_prove_early(struct tune *tune, struct err *err);

struct tune_others { /* they meet the winner in the blocks of its duel */
	const json_t *const *configs;
	size_t count;
	double seconds; /* that they may take part */
	bool again;     /* an earlier duel has not proven what it set out to prove */
	bool rough;     /* the gain need not be known well, only whether there is one */
};

/* A duel with the baseline. Repeats it on other nodes while some of them report a gain that nobody else sees. */
int tune_duel_honest(struct tune *tune, const json_t *winner, const struct tune_others *others, struct err *err);

/* session_result.c */

json_t *tune_result(const struct tune *tune);

/* parameter_effects.c */

/* An estimate of the effect of each parameter in the search: [{"param", "known", "seen", "ratio", "ci", "best",
 * "worst"}], the last four only if known. Parameters that changed together, and those that act together, can deceive
 * it. New reference. */
json_t *tune_effects(const struct tune *tune);
/* The effects that pairs have measured, in the same form; `estimate` is the ratio of an effect that is known from the
 * search only. */
json_t *tune_effects_measured(const struct tune *tune);
#endif
