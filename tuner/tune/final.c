/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The finals: race of the finalists, duel of the winner with the baseline, and the recommendation. Fresh measurements
 * are needed because the minimum of a search is biased downwards (doc/measurement.md, rules 4 to 6; ADR 14). */
#include <math.h>

#include "base/json/js.h"
#include "tuner/race/unsafe.h"
#include "tuner/tune/bench_impl.h"

/* A sample of the finals lasts at least this long, so that noise of timer and scheduler averages out. */
static const double FINALS_SAMPLE_SECONDS = 4e-3;
/* Where the baseline's runs are ended, a longer sample of what meets it costs little and is less noisy. */
static const double BOUND_SAMPLE = 0.05;
/* A proof that takes less than this share of the budget is made once the best has stood still for some evaluations, or
 * before the race, in which somebody may press Ctrl-C. It may take so many times as long as expected. */
static const double EARLY_SHARE = 0.02, FIRST_SHARE = 0.06, EARLY_TIMES = 3;
static const uint64_t STANDS_STILL = 10;
/* Without a budget of time, a duel that is not promising (look.h) gets this long, or as long as all before it. */
static const double VAGUE_SECONDS_LEAST = 5;
/* A wider interval than this factor gives a headline that says little. */
static const double WIDE = 1.5;
/* The same for the race, of whose blocks with eight runs of 10 ms all fit in. */
static const double RACE_SECONDS_LEAST = 5;

static bool is_baseline(const struct tune *tune, const json_t *config) {
	return json_equal(config, tune->task->baseline);
}

static void finalists_add(json_t *array, const struct race_entry *entries, size_t count) {
	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_pack("{s:O,s:o,s:i,s:b}", "config", entries[i].config, "median",
		                                       js_number(entries[i].blocks ? entries[i].median : entries[i].estimate),
		                                       "blocks", entries[i].blocks, "alive", entries[i].alive));
}

/* The seconds after which a comparison gets no more than the fewest pairs. Without a budget of time it may take as long
 * as the search did, but at least `least`: on a busy machine, where the threads of a team wait for each other's
 * processors, a run of 0.2 ms can last a second, and the pairs that a close duel asks for would take hours. */
static double patience(const struct tune *tune, double least) {
	double budget = tune_budget_time(tune);
	return budget > 0 ? fmax(budget - tune_elapsed(tune), 0.01) : fmax(least, tune_elapsed(tune));
}

/* The number of finalists that can race in the time left. */
static size_t affordable_field(const struct tune *tune, size_t count, double left) {
	double each = ceil(RACE_BLOCKS_EARLY / tune_nodes(tune)) * tune_final_seconds(tune, tune->memory.best);
	if (!(each * (double)count > left))
		return count;
	return left < 2 * each ? 1 : (size_t)(left / each);
}

/* The race leaves enough for the duel. */
static double race_seconds(const struct tune *tune) {
	double left = tune_left(tune);
	double duel = tune_rounds(tune, tune_pairs_expected(tune)) * tune_pair_seconds(tune);
	return fmin(RACE_SHARE * left, left - duel - tune_rent_seconds(tune));
}

static bool any_fell(const struct tune *tune, const struct race_entry *entries, size_t count) {
	for (size_t i = 0; i < count; i++)
		if (tune_has_fallen(tune, entries[i].config))
			return true;
	return false;
}

/* Those that the race lost for good fall. If all of them do, that is an answer, too. */
static int losers_fall(struct tune *tune, const struct race_entry *entries, size_t count, int rc, struct err *err) {
	for (size_t i = 0; i < count; i++)
		if (entries[i].failed != TRIAL_CORRECT && !is_baseline(tune, entries[i].config))
			tune_fall(tune, entries[i].config);
	if (!rc || err->code != ERR_NOTHING || !any_fell(tune, entries, count))
		return rc;
	*err = (struct err){0};
	return 0;
}

/* A kernel whose verification takes no longer than this, its run included, is verified in every trial of the finals. */
static const double CHEAP_SECONDS = 2e-3;

/* Is a kernel verified so quickly that each trial of the finals can do it again? */
static bool tune_verifies_again(const struct tune *tune) {
	return !tune->task->whole_programs && tune->finals.trust.verify_s > 0 &&
	       tune->finals.trust.verify_s + tune_seconds(tune, tune->memory.best) <= CHEAP_SECONDS;
}

static int race(struct tune *tune, struct race_entry *entries, size_t count, size_t *winner, struct err *err) {
	const struct tune_task *task = tune->task;
	struct trial_request request = tune_request(tune, NULL);
	struct race_observer observer = tune_race_observer(tune);
	struct race_options options = race_defaults;
	request.min_sample_s = FINALS_SAMPLE_SECONDS;
	request.check = tune_verifies_again(tune);
	options.seed = task->seed;
	options.blocks = tune->bench.fleet ? &tune->bench.blocks : NULL;
	options.watch = &tune->finals.watch;
	options.early = true;
	options.seconds_max = RACE_SHARE * patience(tune, RACE_SECONDS_LEAST / RACE_SHARE);
	if (json_array_size(tune->finals.finalists) == 0)
		tune_counting_early(tune, entries, count);
	if (tune_promised(tune)) {
		options.clock = tune_race_clock(tune, race_seconds(tune));
		count = affordable_field(tune, count, fmax(race_seconds(tune), 1e-3));
	}
	*winner = 0;
	struct runner runner = tune_runner(tune, SPENT_RACE);
	tune_spend_nodes(tune, SPENT_RACE);
	int rc = count > 1 ? race_run(&runner, &request, entries, count, &options, &observer, winner, err) : 0;
	tune_spend_nodes(tune, SPENT_IDLE);
	return losers_fall(tune, entries, count, rc, err);
}

/* Where the gain need not be known well, the arms come first. A bound would spoil earlier blocks that had none. */
static void duel_plan(struct tune *tune, const struct tune_others *others, struct duel_options *options, double left) {
	double pair = tune_pair_seconds(tune);
	double whole = pair + tune_final_seconds(tune, tune->memory.best);
	bool before = others->log && others->log->blocks >= RACE_PAIRS_LEAST && !others->log->bounded;
	options->bound = before                             ? 0
	                 : others->rough && others->cut > 0 ? others->cut * tune->memory.best
	                                                    : tune_duel_bound(tune, left);
	options->pairs_first = tune_pairs_first(tune);
	options->clock = tune_race_clock(tune, left);
	options->control =
		!(others->rough && others->cut > 0) && tune_rounds(tune, tune_pairs_expected(tune)) * whole <= left;
	if (tune_rounds(tune, options->pairs_first) * pair > left)
		options->pairs_first = RACE_PAIRS_LEAST;
}

static void today_note(struct tune *tune, const struct duel_result *duel) {
	if (duel->bounded > 0 || duel->paired.count < RACE_PAIRS_LEAST)
		return;
	tune->bench.times.today = duel->median[1];
	if (tune->task->whole_programs && !tune->task->goal.metric && !tune_is_metered(tune))
		tune->bench.times.run = duel->median[1];
}

/* The duel begins */
static void tune_duel_clock(struct tune *tune, bool control) {
	tune->money.outlook.duel_begun = tune_elapsed(tune);
	tune->money.outlook.duel_trials = 0;
	tune->money.outlook.pair_trials = control ? 3 : 2;
}

static int duel(struct tune *tune, const json_t *challenger, const struct tune_others *others, double left,
                struct err *err) {
	const struct tune_task *task = tune->task;
	struct trial_request request = tune_request(tune, NULL);
	struct race_observer observer = tune_race_observer(tune);
	struct duel_options options = duel_defaults;
	request.check = tune_verifies_again(tune);
	options.seed = task->seed;
	options.blocks = tune->bench.fleet ? &tune->bench.blocks : NULL;
	options.watch = &tune->finals.watch;
	options.seconds_max = patience(tune, duel_defaults.seconds_max);
	options.seconds_vague = patience(tune, VAGUE_SECONDS_LEAST);
	options.phase = "duel";
	options.width = others->count > 0 ? 0 : WIDE;
	options.others_end = others->rough;
	options.others_first = others->doubted;
	options.level = others->again ? RACE_LEVEL_AGAIN : options.level;
	options.controls_max = others->count > 0 ? RACE_PAIRS_SHORT : 0;
	options.others = others->configs;
	options.other_count = others->count;
	options.others_seconds = others->seconds;
	options.others_cut = others->cut;
	options.expected = tune->memory.best;
	options.others_phase = "ablation";
	options.log = tune->bench.fleet ? NULL : others->log; /* which may distrust a node afterwards */
	duel_plan(tune, others, &options, left);
	request.min_sample_s = fmax(FINALS_SAMPLE_SECONDS, BOUND_SAMPLE * options.bound);
	request.trusted = options.bound > 0; /* a reference costs more than a run, and each worker that is ended loses it */
	tune->finals.dueled = true;
	tune_duel_clock(tune, options.control);
	struct runner runner = tune_runner(tune, SPENT_DUEL);
	tune_spend_nodes(tune, SPENT_DUEL);
	int rc = duel_run(&runner, &request, challenger, task->baseline, &options, &observer, &tune->finals.duel, err);
	tune_spend_nodes(tune, SPENT_IDLE);
	if (rc == 0)
		today_note(tune, &tune->finals.duel);
	return rc;
}

/* The budget ended before there were pairs to compare: all that is known is what the search saw. */
static bool is_unmet(const struct tune *tune) {
	return tune->finals.duel.failed[0] == TRIAL_CORRECT && tune->finals.duel.failed[1] == TRIAL_CORRECT &&
	       tune->finals.duel.paired.count < 2;
}

/* Does the baseline stay once the winner has met it? A tie keeps the user's own setting, because a change must be worth
 * something. If the budget ended the duel, only a winner that looks better is kept, marked as not proven. */
static bool baseline_stays(const struct tune *tune) {
	const struct duel_result *met = &tune->finals.duel;
	bool looks_better = met->paired.ratio < 1 - duel_defaults.margin;
	if (is_unmet(tune))
		return !tune_is_useful(tune);
	switch (met->verdict) {
	case PAIRED_SLOWER:
		return true;
	case PAIRED_FASTER:
		return false;
	default: /* a tie */
		return met->decided || !looks_better;
	}
}

static void decide(struct tune *tune, const json_t *winner) {
	tune->finals.reversed = tune->finals.duel.verdict == PAIRED_SLOWER;
	tune->finals.best_config = json_incref((json_t *)(baseline_stays(tune) ? tune->task->baseline : winner));
}

static void baseline_keep(struct tune *tune) {
	json_decref(tune->finals.best_config);
	tune->finals.best_config = json_incref((json_t *)tune->task->baseline);
}

int tune_duel_honest(struct tune *tune, const json_t *winner, const struct tune_others *others, struct err *err) {
	for (;;) {
		size_t nodes = tune->bench.fleet ? fleet_alive(tune->bench.fleet) : 1;
		tune_gain_clear(tune);
		if (duel(tune, winner, others, tune_left(tune), err))
			return -1;
		if (tune_gain_is_seen(tune))
			return 0;
		tune_comparison_drop(tune);
		if (nodes == fleet_alive(tune->bench.fleet) || tune_proof_seconds(tune) > tune_left(tune))
			break;
	}
	tune->finals.gain.unconfirmed = true;
	return 0;
}

/* The challenger lost, or failed until the budget ended and did not work once. */
static bool failed_for_good(const struct duel_result *duel) {
	return duel->lost[0] || (duel->failed[0] != TRIAL_CORRECT && duel->paired.count == 0);
}

static void outcome_take(struct tune *tune, const json_t *winner, const json_t *kept) {
	if (failed_for_good(&tune->finals.duel) && !is_baseline(tune, winner))
		tune_fall(tune, winner);
	decide(tune, kept);
}

/* The baseline is the reference of every verdict. If it does not work, there is no duel. */
static int meet_baseline(struct tune *tune, const json_t *winner, struct err *err) {
	bool short_of_time = tune_promised(tune) && tune_proof_seconds(tune) > tune_left(tune);
	if (!tune_has_reference(tune) || short_of_time) {
		bool keep = tune->memory.baseline.status == TRIAL_CORRECT && !tune_is_useful(tune);
		tune->finals.best_config = json_incref((json_t *)(keep ? tune->task->baseline : winner));
		return keep || short_of_time ? 0 : tune_winner_check(tune, winner, err);
	}
	json_t *kept;
	int rc = tune_rent(tune, winner, &kept, err);
	if (kept && tune->finals.gain.unconfirmed)
		baseline_keep(tune);
	else if (kept)
		outcome_take(tune, winner, kept);
	json_decref(kept);
	if (rc || tune->finals.gain.unconfirmed || is_baseline(tune, tune->finals.best_config))
		return rc;
	js_auto json_t *best = json_incref(tune->finals.best_config);
	rc = tune_winner_check(tune, best, err);
	if (tune_has_fallen(tune, best)) /* whatever is left of the winner, it is not to be trusted */
		tune_fall(tune, winner);
	return rc;
}

static int nothing_worked(struct tune *tune, struct err *err) {
	char hint[300] = "run one by hand: `sweetspot run KERNEL P=V...`";
	if (tune->task->whole_programs)
		snprintf(hint, sizeof hint, "run the program by hand");
	const char *message = tune->memory.baseline.message;
	if (*message)
		snprintf(hint, sizeof hint, "the baseline: %s", message);
	/* a program that refuses to overwrite its output works once */
	if (tune->task->whole_programs && (strcasestr(message, "file exists") || strcasestr(message, "already exists")))
		snprintf(hint, sizeof hint, "if an earlier run has left it, remove it before each: --before-each 'rm -f FILE'");
	if (tune->memory.baseline.status == TRIAL_CENSORED)
		return tune_budget_short(tune, err);
	if (tune->stopped && strcmp(tune->stopped, "baseline") == 0)
		return err_set(err, ERR_NOTHING, hint,
		               tune->memory.baseline.status == TRIAL_CORRECTNESS
		                   ? "the output of %s is rejected as it is run today, and so is that of another configuration"
		                   : "%s fails as it is run today, and so does another configuration of it",
		               tune->task->kernel);
	return err_set(err, ERR_NOTHING, hint, "no configuration of %s worked in %llu evaluation%s", tune->task->kernel,
	               (unsigned long long)tune->tally.evaluations, tune->tally.evaluations == 1 ? "" : "s");
}

/* Before the comparison that decides, waits for a quiet machine; what is left of that time is for blocks that others
 * disturb. */
static void quiet_wait(struct tune *tune) {
	double budget = tune_budget_time(tune), share = RACE_SHARE_QUIET_SPENT * tune_elapsed(tune);
	double spare = fmax(0, tune_left(tune) - tune_finals_kept(tune)); /* the comparison itself comes first */
	if (!tune->bench.busy || tune_is_recalling(tune) || tune->finals.watch.seconds > 0)
		return;
	tune->finals.watch =
		(struct race_watch){.busy = tune->bench.busy, .seconds = share, .interrupt = tune->task->hooks.interrupt};
	if (!(budget > 0))
		return;
	tune->finals.watch.seconds = fmin(spare, fmin(RACE_SHARE_QUIET * budget, share));
	tune->finals.watch.spent = busy_wait(tune->bench.busy, tune->finals.watch.seconds, tune->task->hooks.interrupt);
}

/* Everything was tried and nothing else worked: comparing the baseline with itself would use up the budget and could
 * not change that. */
static bool works_alone(const struct tune *tune, const struct race_entry *entries, size_t count) {
	bool others = tune->memory.worked_count > count || count > 1 ||
	              (count == 1 && !json_equal(entries[0].config, tune->task->baseline));
	return tune->task->whole_programs && !tune->bench.fleet && !others && tune->tally.evaluations > 1 &&
	       !(tune->memory.cut_index != UINT64_MAX && tune_is_busy(tune)) &&
	       tune->memory.baseline.status == TRIAL_CORRECT && tune->stopped && strcmp(tune->stopped, "space") == 0;
}

/* The budget ended before anything else was tried. To compare the baseline with itself would say nothing of the others.
 */
static bool tried_nothing_else(const struct tune *tune) {
	return tune->tally.evaluations <= 1 && space_valid(tune->task->space) > 1 &&
	       tune->memory.baseline.status == TRIAL_CORRECT;
}

/* A program that nothing but the baseline works for may be one that runs only once, because of what the first run
 * leaves behind: then the others are not to blame. */
static int look_twice(struct tune *tune, struct err *err) {
	struct trial_request request = tune_search_request(tune, tune->task->baseline, 0);
	struct trial_result again = {0};
	request.show = true;
	if (tune_promised(tune) && tune->bench.times.run > tune_left(tune))
		return 0;
	if (tune_attempt(tune, "baseline", &request, MERGE_FIRST, &again, err))
		return -1;
	tune->finals.no_rival = again.status != TRIAL_RUNTIME;
	if (tune->finals.no_rival) {
		trial_result_clear(&again);
		return 0;
	}
	trial_result_clear(&tune->memory.baseline);
	tune->memory.baseline = again;
	return err_set(err, ERR_NOTHING, "remove what a run leaves before each: --before-each 'rm -f FILE'",
	               "%s works only once: the second run of the same command fails", tune->task->kernel);
}

/* The best of the others that did not fall, by the race if they took part; SIZE_MAX: none. */
static size_t next_best(const struct tune *tune, const struct race_entry *entries, size_t count) {
	size_t best = SIZE_MAX;
	double least = INFINITY;
	for (size_t i = 0; i < count; i++) {
		bool raced = entries[i].blocks > 0, before = best != SIZE_MAX && entries[best].blocks > 0;
		double value = raced ? entries[i].median : entries[i].estimate;
		if (is_baseline(tune, entries[i].config) || tune_has_fallen(tune, entries[i].config) || before > raced ||
		    (before == raced && !(value < least)))
			continue;
		best = i;
		least = value;
	}
	return best;
}

/* Has a comparison in the middle of the search told all that one at the end could? */
static bool is_proven(const struct tune *tune, const json_t *config) {
	const struct tune_proof *proof = &tune->finals.proof;
	return proof->config && proof->duel.bounded == 0 && json_equal(proof->config, config) &&
	       !tune_has_fallen(tune, config) && tune_changes(tune, config) < 2;
}

/* The best of the race meets the baseline, or the best of the others does if the baseline leads. If it falls, the next
 * best does. *again: all of them fell, or those that could have met a baseline that leads. */
static int finalists_compare(struct tune *tune, struct race_entry *entries, size_t *count, bool *again,
                             struct err *err) {
	size_t winner = 0;
	*again = false;
	if (!tune_rival_is_sure(tune, entries, *count, &winner)) {
		if (race(tune, entries, *count, &winner, err))
			return -1;
		*again = is_baseline(tune, entries[winner].config) && any_fell(tune, entries, *count) &&
		         next_best(tune, entries, *count) == SIZE_MAX;
		if (*again)
			return 0;
		if (tune_rival_choose(tune, entries, count, &winner, err))
			return -1;
	}
	tune->finals.no_rival = tune->finals.rival_ratio > 0 && (isfinite(tune->finals.rival_ratio) || !tune_is_busy(tune));
	if (tune->finals.rival_ratio > 0)
		baseline_keep(tune);
	if (is_proven(tune, entries[winner].config)) {
		if (tune_winner_check(tune, entries[winner].config, err))
			return -1;
		if (!tune_has_fallen(tune, entries[winner].config))
			return 0;
	}
	while (!(tune->finals.rival_ratio > 0) && winner != SIZE_MAX) {
		if (!tune_has_fallen(tune, entries[winner].config) && meet_baseline(tune, entries[winner].config, err))
			return -1;
		if (!tune_has_fallen(tune, entries[winner].config))
			return 0;
		entries[winner].alive = false;
		tune_comparison_drop(tune);
		winner = next_best(tune, entries, *count);
	}
	*again = !(tune->finals.rival_ratio > 0);
	return 0;
}

/* Everything that worked in the search fell in the finals. */
static int nothing_left(struct tune *tune, struct err *err) {
	if (tune->memory.baseline.status != TRIAL_CORRECT)
		return nothing_worked(tune, err);
	tune->finals.no_rival = true;
	baseline_keep(tune);
	return 0;
}

/* The first of them is decided by what the search found, any other by what is left of that. */
static int comparison(struct tune *tune, struct race_entry *entries, size_t *count, bool *again, struct err *err) {
	bool first = json_array_size(tune->finals.finalists) == 0 && json_object_size(tune->finals.trust.fallen) == 0;
	*again = false;
	if (tune_finalists_pick(tune, entries, count, err))
		return -1;
	if (!first && (*count == 0 || (*count == 1 && tune->bench.fleet && is_baseline(tune, entries[0].config))))
		return nothing_left(tune, err);
	tune->finals.no_rival = first && works_alone(tune, entries, *count);
	if (tune->finals.no_rival && look_twice(tune, err))
		return -1;
	if (tune->finals.no_rival || tried_nothing_else(tune))
		baseline_keep(tune);
	else if (*count == 0 && tune->memory.baseline.status == TRIAL_CORRECT)
		return meet_baseline(tune, tune->task->baseline, err);
	else if (*count == 0)
		return nothing_worked(tune, err);
	else
		return finalists_compare(tune, entries, count, again, err);
	return 0;
}

static bool tune_proof_is_cheap(const struct tune *tune, double share) {
	double pair = tune_base_seconds(tune) + tune_final_seconds(tune, tune->memory.best);
	double pairs = tune_rounds(tune, tune_pairs_first(tune)) * pair;
	return tune_promised(tune) && tune_is_useful(tune) && !tune_is_recalling(tune) &&
	       pairs + tune_return_seconds(tune) < share * tune_budget_time(tune);
}

/* The best so far meets the baseline, if that takes little of the budget. */
static int prove(struct tune *tune, double share, struct err *err) {
	uint64_t index = tune->memory.best_index;
	bool unsafe = false;
	if (index == tune->finals.proof.index || !tune_proof_is_cheap(tune, share))
		return 0;
	js_auto json_t *config = space_config_json(tune->task->space, index);
	tune->finals.proof.index = index;
	if (unsafe_holds(tune->task->unsafe, tune->task->problem, config, &unsafe, err) || unsafe)
		return unsafe ? 0 : -1;
	/* Another try follows. */
	if (duel(tune, config, &(struct tune_others){.again = true}, EARLY_TIMES * tune_proof_seconds(tune), err))
		return -1;
	decide(tune, config);
	tune_proof_keep(tune);
	return 0;
}

int tune_prove_early(struct tune *tune, struct err *err) {
	bool still = tune->tally.evaluations - tune->memory.best_at >= STANDS_STILL;
	return still && tune->finals.met == UINT64_MAX ? prove(tune, EARLY_SHARE, err) : 0;
}

/* Gives time that is kept for counting to a proof that lacks it. */
static void tune_counters_yield(struct tune *tune) {
	double lacking = fmin(tune->counting.kept, tune_proof_seconds(tune) - tune_left(tune));
	if (lacking > 0) {
		tune->counting.kept -= lacking;
		tune->money.budget.seconds += lacking;
	}
}

int tune_final_phase(struct tune *tune, struct err *err) {
	enum { COMPARISONS_MAX = 8 /* with fresh finalists, where all of the last ones fell */ };
	bool again = true;
	tune_proof_keep(tune);
	tune_counters_yield(tune);
	tune_best_choose(tune, true);
	quiet_wait(tune);
	tune->finals.met = tune->memory.best_index; /* the wait is only for what this best does not need */
	tune->finals.met_value = tune->memory.best;
	if (tune->bench.busy)
		busy_mark(tune->bench.busy); /* a short search has not looked yet */
	tune_finals_clock(tune);
	json_decref(tune->finals.finalists);
	tune->finals.finalists = json_array();
	int failed = tune_earlier_failures(tune, err) || prove(tune, FIRST_SHARE, err) ? -1 : 0;
	tune_best_choose(tune, true); /* that may have told more of what does other work */
	for (int i = 0; i < COMPARISONS_MAX && again && !failed; i++) {
		struct race_entry entries[FINALISTS_MAX];
		size_t count = 0;
		failed = comparison(tune, entries, &count, &again, err);
		again = again || (!failed && tune_gives_way(tune));
		finalists_add(tune->finals.finalists, entries, count);
		for (size_t k = 0; k < count; k++)
			json_decref((json_t *)entries[k].config);
	}
	if (again && !failed && tune->memory.baseline.status == TRIAL_CORRECT)
		baseline_keep(tune);
	return failed || !again || tune->finals.best_config ? failed : nothing_worked(tune, err);
}
