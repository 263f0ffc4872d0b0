/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses what the finals compare, and whether to trust the outcome. A baseline that leads meets another rival than
 * itself, because that would prove nothing about the others. A gain that nodes report must also be seen on the tuner's
 * own clock: if a run of the winner is shorter by so much, its answer comes earlier by so much. What an answer takes
 * besides its run is the same for both sides of a pair and cancels (doc/fleet.md has the limits). The results of a
 * winner are checked before it is trusted (doc/measurement.md, rule 11). */
#include <math.h>

#include "base/json/js.h"
#include "base/stats.h"
#include "tuner/race/unsafe.h"
#include "tuner/tune/bench_impl.h"

/* Noise alone does not explain a gap this wide in the search. */
static const double FAR = 2, FAR_IF_BUSY = 4;

static bool is_baseline(const struct tune *tune, const struct race_entry *entry) {
	return json_equal(entry->config, tune->task->baseline);
}

static double time_of(const struct race_entry *entry) {
	return entry->blocks > 0 ? entry->median : entry->estimate;
}

/* The one that came closest in the race, or in the search where there was no time for one; SIZE_MAX: none. */
static size_t closest_entry(const struct race_entry *entries, size_t count, size_t winner) {
	size_t closest = SIZE_MAX;
	bool raced = entries[winner].blocks > 0;
	for (size_t i = 0; i < count; i++)
		if (i != winner && (entries[i].blocks > 0 || !raced) && entries[i].failed == TRIAL_CORRECT &&
		    (closest == SIZE_MAX || time_of(&entries[i]) < time_of(&entries[closest])))
			closest = i;
	return closest;
}

/* Where others come and go, the time of a run may grow by any factor, and what it prints perhaps by some. */
static double far_limit(const struct tune *tune) {
	if (!tune_is_busy(tune))
		return FAR;
	return tune->task->goal.metric ? FAR_IF_BUSY : INFINITY;
}

/* Equal metrics are told apart by wall time in steps of this factor; one such step outweighs any number of threads. */
static const double WALL_STEP = 1.1, COST_OF_STEP = 1e7;

/* The cost of a configuration besides time: threads first, then changes from the baseline. Decides ties. */
static double cost_of(const json_t *config, const json_t *baseline) {
	double threads = (double)js_int_or(config, "threads", 1), distance = 0;
	js_members (name, value, config)
		distance += !json_equal(value, json_object_get(baseline, name));
	return 1000 * threads + distance;
}

/* cost_of; if the objective is a metric, the time of a run comes before all else, in steps too large for noise:
 * `wall` against the baseline; NAN: not known. Beside other programs it does not count, because it may be theirs. */
static double price_of(const struct tune *tune, const json_t *config, double wall) {
	double cost = cost_of(config, tune->task->baseline);
	if (!tune->task->goal.metric || tune_is_busy(tune) || !(wall > 0) || !(tune->bench.times.run > 0))
		return cost;
	return cost + COST_OF_STEP * trunc(log(wall / tune->bench.times.run) / log(WALL_STEP));
}

static void entry_set(const struct tune *tune, struct race_entry *entry, uint64_t index, double estimate, double wall) {
	*entry = (struct race_entry){.config = space_config_json(tune->task->space, index), .estimate = estimate};
	entry->cost = price_of(tune, entry->config, wall);
}

/* Is it unsafe, or does it do other work, so that nothing is to be proven of it? */
static int is_unfit(const struct tune *tune, const json_t *config, bool *unfit, struct err *err) {
	if (unsafe_holds(tune->task->unsafe, tune->task->problem, config, unfit, err))
		return -1;
	*unfit = *unfit || (!tune->finals.any_work && tune_is_other(tune, config));
	return 0;
}

/* The one that came closest in the search, by the smallest sample, without the baseline; its configuration is a new
 * reference, NULL if none worked. */
static int closest_measured(const struct tune *tune, struct race_entry *closest, struct err *err) {
	for (size_t i = 0; i < tune->memory.worked_count && isfinite(tune->memory.worked[i].least); i++) {
		const struct measured *measured = &tune->memory.worked[i];
		bool unfit = true;
		entry_set(tune, closest, measured->index, measured->least, measured->wall);
		if (!is_baseline(tune, closest) && is_unfit(tune, closest->config, &unfit, err))
			return -1;
		if (!unfit)
			return 0;
		json_decref((json_t *)closest->config);
		closest->config = NULL;
	}
	return 0;
}

/* One that was cut short beside other programs may still be the best. */
static void cut_take(const struct tune *tune, struct race_entry *closest) {
	if (tune->memory.cut_index != UINT64_MAX && tune_is_busy(tune))
		entry_set(tune, closest, tune->memory.cut_index, tune->memory.best, NAN);
}

int tune_rival_choose(struct tune *tune, struct race_entry *entries, size_t *count, size_t *winner, struct err *err) {
	size_t rival = closest_entry(entries, *count, *winner);
	if (tune->bench.fleet || tune->memory.baseline.status != TRIAL_CORRECT || !is_baseline(tune, &entries[*winner]) ||
	    tune->tally.evaluations < 2)
		return 0;
	if (rival != SIZE_MAX) {
		*winner = rival;
		return 0;
	}
	if (*count > 1)
		return 0;
	struct race_entry closest = {0};
	if (closest_measured(tune, &closest, err))
		return -1;
	double times = closest.config ? closest.estimate / entries[0].estimate : INFINITY;
	if (!closest.config)
		cut_take(tune, &closest);
	if (!closest.config || (isfinite(times) && times >= far_limit(tune))) {
		tune->finals.rival_ratio = times;
		json_decref((json_t *)closest.config);
		return 0;
	}
	*winner = (*count)++;
	entries[*winner] = closest;
	return 0;
}

/* Differences may remain unexplained up to a share of the gain, so many standard errors, or the jitter of a connection.
 */
static const double SHARE = 0.25, DEVIATIONS = 4, JITTER_SECONDS = 2e-3;

/* Kernels run an unknown number of times in a trial, and a metric is not a time. */
static bool applies(const struct tune *tune) {
	return tune->bench.fleet && tune->task->whole_programs && !tune->task->goal.metric && !tune_is_metered(tune);
}

static size_t node_of(const struct tune *tune, const json_t *reply) {
	const char *name = js_string_or(reply, "node", "");
	size_t node = 0;
	while (node < tune->task->pool->count && strcmp(fleet_name(tune->bench.fleet, node), name) != 0)
		node++;
	return node;
}

/* Keeps the times of a trial of the duel on a node. */
static void tune_gain_note(struct tune *tune, const char *phase, int block, const json_t *config,
                           const struct trial_result *result) {
	struct tune_gain *gain = &tune->finals.gain;
	double said = tune_wall(result), verify = tune->task->checked ? js_real_or(result->reply, "verify_s", 0) : 0;
	if (!applies(tune) || strcmp(phase, "duel") != 0 || result->status != TRIAL_CORRECT || !(said > 0))
		return;
	gain->trials = mem_grow(gain->trials, gain->count + 1, sizeof *gain->trials);
	gain->trials[gain->count++] = (struct tune_gain_trial){.block = block,
	                                                       .baseline = json_equal(config, tune->task->baseline),
	                                                       .node = node_of(tune, result->reply),
	                                                       .said = said,
	                                                       .seen = result->elapsed_s - verify};
}

void tune_gain_clear(struct tune *tune) {
	free(tune->finals.gain.trials);
	tune->finals.gain = (struct tune_gain){.nodes = tune->finals.gain.nodes};
}

/* The next pair of a node; false: there are no more. A control is a second trial of the winner in its block. */
static bool pair_next(const struct tune_gain *gain, size_t node, size_t *at, const struct tune_gain_trial *pair[2]) {
	while (*at < gain->count) {
		int block = gain->trials[*at].block;
		pair[0] = pair[1] = NULL;
		for (; *at < gain->count && gain->trials[*at].block == block; ++*at) {
			const struct tune_gain_trial *trial = &gain->trials[*at];
			if (trial->node == node && !pair[trial->baseline])
				pair[trial->baseline] = trial;
		}
		if (pair[0] && pair[1])
			return true;
	}
	return false;
}

/* Do the answers of a node take what its times say, as far as the pairs tell? */
static bool confirms(struct tune_gain *gain, size_t node) {
	mem_auto double *said = mem_alloc(gain->count + 1, sizeof *said), *rest = mem_alloc(gain->count + 1, sizeof *rest);
	const struct tune_gain_trial *pair[2];
	size_t count = 0;
	for (size_t at = 0; pair_next(gain, node, &at, pair); count++) {
		said[count] = pair[1]->said - pair[0]->said;
		rest[count] = pair[1]->seen - pair[0]->seen - said[count];
	}
	double claim = stats_median(said, count), left = stats_median(rest, count);
	double noise = count ? stats_mad(rest, count) / sqrt((double)count) : 0;
	bool good = count < RACE_PAIRS_LEAST || fabs(left) <= SHARE * fabs(claim) + DEVIATIONS * noise + JITTER_SECONDS;
	if (!good) {
		gain->said = claim;
		gain->seen = claim + left;
	}
	return good;
}

/* The last node is not quarantined, because everything else that it measured would be lost as well. */
static void distrust(struct tune *tune, size_t node) {
	char reason[160];
	snprintf(reason, sizeof reason,
	         "its times do not add up: it reports a gain of %.3g s a run, but its answers come %.3g s earlier",
	         tune->finals.gain.said, tune->finals.gain.seen);
	if (fleet_alive(tune->bench.fleet) > 1)
		fleet_distrust(tune->bench.fleet, node, reason);
	if (!tune->finals.gain.nodes)
		tune->finals.gain.nodes = json_array();
	json_array_append_new(tune->finals.gain.nodes,
	                      json_pack("{s:s,s:o,s:o}", "name", fleet_name(tune->bench.fleet, node), "said_s",
	                                js_number(tune->finals.gain.said), "seen_s", js_number(tune->finals.gain.seen)));
}

bool tune_gain_is_seen(struct tune *tune) {
	bool good = true;
	if (!applies(tune) || tune->finals.duel.verdict != PAIRED_FASTER || tune->finals.duel.lost[1])
		return true;
	for (size_t node = 0; node < tune->task->pool->count; node++)
		if (!fleet_is_quarantined(tune->bench.fleet, node) && !confirms(&tune->finals.gain, node)) {
			distrust(tune, node);
			good = false;
		}
	return good;
}

static void gpu_keep(struct tune *tune, const json_t *config, const struct trial_result *result) {
	json_t *gpu = json_object_get(result->reply, "gpu");
	if (!gpu || result->status != TRIAL_CORRECT)
		return;
	mem_auto char *key = js_canonical(config);
	json_object_set(tune->finals.gpus, key, gpu);
}

static int on_race_trial(void *ctx, const char *phase, int block, const json_t *config,
                         const struct trial_result *result, struct err *err) {
	struct tune *tune = ctx;
	gpu_keep(tune, config, result);
	tune_pareto_record(tune, config, result);
	tune_checked_note(tune, config, result);
	tune_failure_note(tune, phase, config, result);
	tune_gain_note(tune, phase, block, config, result);
	tune->money.outlook.duel_trials += strcmp(phase, "duel") == 0;
	tune_report_trial(tune, strcmp(phase, "race") == 0 ? TUNE_RACE : TUNE_DUEL, config, result);
	if (trial_store(tune->task->store, tune->memory.id, phase, block, config, result, err))
		return -1;
	return tune_interrupted(tune) ? err_set(err, ERR_INTERRUPTED, NULL, "interrupted") : 0;
}

struct race_observer tune_race_observer(struct tune *tune) {
	return (struct race_observer){.ctx = tune, .trial = on_race_trial};
}

/* A baseline whose runs are ended must be allowed so many times what the best takes, or nothing would be proven; more
 * pairs are worth it if it is allowed more. */
static const double BOUND_TIMES = 4, BOUND_TIMES_LEAST = 1.5;
static const double BOUND_SHARE_OF_LEFT = 0.85; /* the pairs take what is left of the time, or a little more */

/* So many pairs with whole runs of the baseline fit into this time. */
static bool pairs_fit(const struct tune *tune, int pairs, double left) {
	double pair = tune_final_seconds(tune, tune_today_value(tune)) + tune_final_seconds(tune, tune->memory.best);
	return tune->memory.baseline.status == TRIAL_CORRECT && pairs * pair + tune_return_seconds(tune) <= left;
}

/* The length of the baseline's runs for which so many pairs take most of this time. */
static double bound_of(const struct tune *tune, int pairs, double left) {
	double most = BOUND_SHARE_OF_LEFT * left / pairs - tune_final_seconds(tune, tune->memory.best);
	return fmin(most - tune_restart_seconds(tune), tune_today_value(tune));
}

double tune_duel_bound(const struct tune *tune, double left) {
	double more = bound_of(tune, RACE_PAIRS_SHORT, left), best = tune->memory.best;
	if (!tune_can_bound(tune) || pairs_fit(tune, RACE_PAIRS_SHORT, left))
		return 0;
	if (more >= BOUND_TIMES * best)
		return more;
	if (pairs_fit(tune, RACE_PAIRS_LEAST, left))
		return 0;
	return fmax(bound_of(tune, RACE_PAIRS_LEAST, left), BOUND_TIMES_LEAST * best);
}

void tune_comparison_drop(struct tune *tune) {
	duel_result_clear(&tune->finals.duel);
	json_decref(tune->finals.best_config);
	tune->finals.best_config = NULL;
	tune->finals.dueled = tune->finals.reversed = tune->finals.no_rival = false;
	tune->finals.rival_ratio = 0;
}

static bool is_proof(const struct tune *tune) {
	return tune->finals.dueled && tune->finals.best_config && tune->finals.duel.verdict == PAIRED_FASTER &&
	       !tune->finals.duel.lost[1] && tune->finals.duel.paired.count > 1 &&
	       !json_equal(tune->finals.best_config, tune->task->baseline);
}

/* A later proof takes the place of an earlier one if it takes less than this share of its time. */
static const double BETTER = 0.98;

static bool is_priced(const json_t *worth) {
	js_each (price, worth)
		if (!js_bool_or(price, "proven", false))
			return false;
	return json_array_size(worth) > 0;
}

/* The prices may be those of an earlier comparison. */
static bool own_prices(const struct tune_finals *finals) {
	return finals->priced && json_equal(finals->priced, finals->best_config);
}

/* The last proof is of other work, or the first one has a price for each of its changes, and the last one has not, or
 * is hardly faster. */
static bool is_preferred(const struct tune *tune) {
	const struct tune_finals *finals = &tune->finals;
	bool other = tune_is_other(tune, finals->best_config);
	if (other != tune_is_other(tune, finals->proof.config))
		return other;
	bool better = finals->duel.paired.ratio < BETTER * finals->proof.duel.paired.ratio;
	return is_priced(json_array_get(finals->proof.prices, 0)) &&
	       !(better && own_prices(finals) && is_priced(finals->worth));
}

void tune_proof_keep(struct tune *tune) {
	struct tune_finals *finals = &tune->finals;
	if (is_proof(tune) && !(finals->proof.config && is_preferred(tune))) {
		duel_result_clear(&finals->proof.duel);
		json_decref(finals->proof.config);
		finals->proof.config = json_incref(finals->best_config);
		finals->proof.duel = finals->duel;
		finals->duel = (struct duel_result){0};
		json_decref(finals->proof.prices);
		finals->proof.prices = own_prices(finals) ? json_pack("[O,O,O,O]", finals->worth, finals->not_needed,
		                                                      finals->effects, finals->priced)
		                                          : NULL;
	}
	tune_comparison_drop(tune);
}

static void prices_take(struct tune_finals *finals) {
	json_t **members[] = {&finals->worth, &finals->not_needed, &finals->effects, &finals->priced};
	for (size_t i = 0; i < sizeof members / sizeof *members && finals->proof.prices; i++) {
		json_decref(*members[i]);
		*members[i] = json_incref(json_array_get(finals->proof.prices, i));
	}
}

void tune_proof_use(struct tune *tune) {
	struct tune_finals *finals = &tune->finals;
	bool base_fell = finals->dueled && finals->duel.lost[1];
	/* A proof of other work is worth less than what probably gains by the same work. */
	bool open = finals->best_config && !json_equal(finals->best_config, tune->task->baseline) &&
	            !tune_is_other(tune, finals->best_config);
	if (!finals->proof.config || base_fell || tune_has_fallen(tune, finals->proof.config) ||
	    (open && tune_is_other(tune, finals->proof.config)) || (is_proof(tune) && !is_preferred(tune)))
		return;
	tune_comparison_drop(tune);
	finals->dueled = true;
	finals->best_config = json_incref(finals->proof.config);
	finals->duel = finals->proof.duel;
	finals->proof.duel = (struct duel_result){0};
	prices_take(finals);
}

bool tune_gives_way(struct tune *tune) {
	struct tune_finals *finals = &tune->finals;
	bool stays = finals->best_config && json_equal(finals->best_config, tune->task->baseline);
	bool late = tune_promised(tune) && 2 * tune_proof_seconds(tune) > tune_left(tune);
	if (finals->any_work || !tune->task->hooks.other_work ||
	    !(stays ? !late : tune_is_other(tune, finals->best_config)))
		return false;
	finals->any_work = stays;
	tune_best_find(tune);
	if (tune_is_useful(tune)) {
		tune_proof_keep(tune);
		return true;
	}
	finals->any_work = false;
	tune_best_find(tune);
	return false;
}

bool tune_wants_final(const struct tune *tune) {
	const struct tune_finals *last = &tune->finals;
	bool done = is_proof(tune) && own_prices(last) && is_priced(last->worth);
	bool late = last->dueled && tune_promised(tune) && tune_proof_seconds(tune) > tune_left(tune);
	return !late && tune->memory.best_index != last->met &&
	       !(tune->memory.best > BETTER * tune_finals_value(tune, done));
}

/* The time for checking a winner where no budget limits it is at least this. */
static const double CHECK_SECONDS_LEAST = 5;
/* The share of the time before the duel that a whole run of the baseline may take. */
static const double FINISH_SHARE = 0.5;

/* Runs one configuration for what it does, and not for its times. */
static int check_runs(struct tune *tune, struct race_entry *entry, uint64_t runs, double seconds, struct err *err) {
	struct trial_request request = tune_request(tune, NULL);
	struct race_observer observer = tune_race_observer(tune);
	struct race_options options = race_defaults;
	size_t only;
	request.check = true;
	if (!tune->task->whole_programs) { /* the results count, and not the times */
		request.samples = 1;
		request.warmup = 0;
		request.min_sample_s = 0;
	}
	options.phase = "check";
	options.blocks_min = options.blocks_max = (int)runs;
	options.blocks = tune->bench.fleet ? &tune->bench.blocks : NULL;
	options.clock = tune_race_clock(tune, seconds);
	options.clock.end = tune_elapsed(tune) + seconds;
	if (options.clock.cut > 0)
		options.clock.cut = fmin(options.clock.cut, options.clock.end);
	struct runner runner = tune_runner(tune, SPENT_VERIFY);
	tune_spend_nodes(tune, SPENT_VERIFY);
	int rc = race_run(&runner, &request, entry, 1, &options, &observer, &only, err);
	tune_spend_nodes(tune, SPENT_IDLE);
	if (!rc || err->code != ERR_NOTHING)
		return rc;
	*err = (struct err){0};
	return 0;
}

/* A program shows what it does in runs that end. Where those of the baseline are ended before, so many of them go on to
 * their end, if that takes no longer than these seconds. */
static int baseline_finish(struct tune *tune, uint64_t runs, double seconds, struct err *err) {
	struct trial_result *baseline = &tune->memory.baseline;
	bool ended = baseline->status == TRIAL_CENSORED || tune->finals.duel.bounded > 0;
	struct race_entry entry = {.config = tune->task->baseline, .estimate = tune_today_value(tune)};
	if (!tune->task->whole_programs || tune->task->checked || !ended || tune->finals.trust.whole >= runs ||
	    !tune_promised(tune) || !(tune_final_seconds(tune, entry.estimate) <= seconds))
		return 0;
	int rc = check_runs(tune, &entry, runs - tune->finals.trust.whole, seconds, err);
	if (baseline->status == TRIAL_CENSORED && entry.blocks > 0) { /* now it is known how long it takes */
		baseline->status = TRIAL_CORRECT;
		baseline->value = baseline->least = tune->bench.times.run = entry.median;
	}
	return rc;
}

int tune_winner_check(struct tune *tune, const json_t *winner, struct err *err) {
	enum { TELL = 2 /* runs of the baseline show what repeats */ };
	uint64_t runs = tune_checked_runs(tune, winner);
	double value = tune->finals.dueled ? tune->finals.duel.median[0] : tune->memory.best;
	double seconds =
		tune_promised(tune) ? tune_left(tune) : fmax(CHECK_SECONDS_LEAST, RACE_SHARE_CHECK_SPENT * tune_elapsed(tune));
	struct race_entry entry = {.config = winner, .estimate = value};
	if (json_equal(winner, tune->task->baseline))
		return baseline_finish(tune, 1, FINISH_SHARE * seconds, err);
	if (runs == 0)
		return baseline_finish(tune, TELL, seconds, err);
	if (runs >= TUNE_CHECKED_RUNS || !(tune_final_seconds(tune, value) <= seconds))
		return 0;
	int rc = check_runs(tune, &entry, TUNE_CHECKED_RUNS - runs, seconds, err);
	if (entry.failed != TRIAL_CORRECT)
		tune_fall(tune, winner);
	return rc;
}

static int by_least(const void *a, const void *b) {
	const struct measured *x = a, *y = b;
	int order = (x->least > y->least) - (x->least < y->least);
	return order ? order : (x->wall > y->wall) - (x->wall < y->wall); /* metrics are often equal */
}

int tune_finalists_pick(struct tune *tune, struct race_entry *entries, size_t *count, struct err *err) {
	if (tune->memory.worked_count)
		qsort(tune->memory.worked, tune->memory.worked_count, sizeof *tune->memory.worked, by_least);
	double best = NAN;
	*count = 0;
	for (size_t i = 0; i < tune->memory.worked_count && *count < FINALISTS_MAX; i++) {
		const struct measured *measured = &tune->memory.worked[i];
		if (!isfinite(measured->least))
			return 0; /* dropped together with its node */
		if (measured->index == tune->task->start && tune->memory.baseline.status == TRIAL_CENSORED)
			continue;
		json_t *config = space_config_json(tune->task->space, measured->index);
		bool unfit;
		if (measured->least > best * TUNE_FINALIST_MARGIN || is_unfit(tune, config, &unfit, err)) {
			json_decref(config);
			return measured->least > best * TUNE_FINALIST_MARGIN ? 0 : -1;
		}
		if (unfit) {
			json_decref(config);
			continue;
		}
		if (isnan(best))
			best = measured->least;
		entries[(*count)++] = (struct race_entry){.config = config,
		                                          .estimate = measured->least,
		                                          .cost = price_of(tune, config, measured->wall),
		                                          .changes = tune_changes(tune, config)};
	}
	return 0;
}

bool tune_rival_is_sure(const struct tune *tune, const struct race_entry *entries, size_t count, size_t *winner) {
	if (count != 2 || tune->bench.fleet || tune_budget_time(tune) > 0 || tune->memory.baseline.status != TRIAL_CORRECT)
		return false;
	*winner = is_baseline(tune, &entries[0]);
	return is_baseline(tune, &entries[1 - *winner]);
}
