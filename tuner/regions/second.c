/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The proof of the settings found and, where whole runs do not confirm them, of a second plan. A run in which settings
 * alternate cannot show everything: threads that are there for a whole run place the data, keep their caches, and take
 * turns with each other in another way. */
#include <math.h>

#include "base/mem.h"
#include "base/sys.h"
#include "tuner/race/look.h"
#include "tuner/race/numbers.h"
#include "tuner/regions/impl.h"
#include "tuner/regions/search_impl.h"

/* The proof of settings: pairs of whole runs in random order, judged as all duels are, with looks after 3, 5, 8, 13, 21
 * and more pairs (tuner/race/look.h). */
enum { RECORDED = 3 };
/* A gain or loss below MARGIN does not matter. Settings that are slower by less than TIE_MARGIN for certain are a tie.
 */
static const double MARGIN = 0.01, TIE_MARGIN = 0.03, WIDEST = 7;
static const double SHORT_SECONDS = 0.5, LIMIT_TIMES = 5, LIMIT_SECONDS = 10;
static const double SPARE = 1.1;      /* of the time that another proof needs */
static const double HOPELESS = 0.995; /* of the time before: above this the gain is too small to prove */

static struct look_rule rule_of(const struct regions_proving *proving, const struct regions_proof *proof) {
	bool is_short = proof->count && proof->plain[0] < SHORT_SECONDS;
	return (struct look_rule){.first = is_short ? RACE_PAIRS_SHORT : RACE_PAIRS_LEAST,
	                          .pairs_min = RACE_PAIRS_MIN,
	                          .pairs_max = RACE_PAIRS_MAX,
	                          .margin = MARGIN,
	                          .level = proving->level};
}

static enum verdict verdict_by(const struct paired *paired, enum paired_verdict verdict) {
	if (verdict != PAIRED_TIE)
		return verdict == PAIRED_FASTER ? VERDICT_FASTER : VERDICT_SLOWER;
	bool tie = paired->count > 1 && paired->ci[1] < 1 + TIE_MARGIN && !paired_is_vague(paired);
	return tie ? VERDICT_TIE : VERDICT_UNDECIDED;
}

/* Sets what the pairs say so far. True: more pairs would hardly change it. */
static bool judge(const struct look_rule *rule, struct regions_proof *proof, bool last) {
	double first = log(proof->tuned[0] / proof->plain[0]);
	struct look_answer answer = {.paired = {.ratio = exp(first), .ci = {0, INFINITY}, .count = 1},
	                             .verdict = PAIRED_TIE};
	if (proof->count > 1)
		answer = look_take(rule, proof->tuned, proof->plain, proof->count, last);
	const struct paired *paired = &answer.paired;
	proof->ratio = paired->ratio;
	/* Few pairs have a very wide interval or none, but the document promises numbers. */
	proof->ci[0] = fmax(paired->ci[0], paired->ratio * exp(-WIDEST));
	proof->ci[1] = fmin(paired->ci[1], paired->ratio * exp(WIDEST));
	proof->verdict = verdict_by(paired, answer.verdict);
	bool same = paired->ci[0] > 1 - TIE_MARGIN && paired->ci[1] < 1 + TIE_MARGIN;
	return answer.verdict != PAIRED_TIE ||
	       (proof->verdict == VERDICT_TIE && (same || answer.decided) && proof->count >= RACE_PAIRS_LEAST);
}

/* Pairs that others disturbed are repeated, as those of duels are. */
static void pairs_watch(struct regions_proof *proof, bool at_once) {
	enum race_watch_answer answer = race_watch_ask(&proof->watch, (int)(proof->count - proof->judged), at_once);
	if (answer == RACE_WATCH_REPEAT)
		proof->count = proof->judged;
	if (answer != RACE_WATCH_LATER)
		proof->judged = proof->count;
}

static double pair_seconds(const struct regions_proof *proof) {
	return proof->plain[proof->count - 1] + proof->tuned[proof->count - 1];
}

double regions_proof_seconds(double plain_s, double tuned_s) {
	return SPARE * RACE_PAIRS_LEAST * (plain_s + tuned_s);
}

/* Nothing is gained so far, and there is just time to prove other settings. */
static bool is_given_up(const struct regions_proving *proving, const struct regions_proof *proof, double left) {
	return proving->spare_s > 0 && proof->count > 1 && left < proving->spare_s + pair_seconds(proof) &&
	       paired_analyse(proof->tuned, proof->plain, proof->count, proving->level).ratio > HOPELESS;
}

static bool is_last(const struct regions_runs *runs, const struct regions_proving *proving,
                    const struct regions_proof *proof) {
	double left = regions_left(runs, proving->budget_s);
	return proof->count && (left < pair_seconds(proof) || proof->count >= RACE_PAIRS_MAX ||
	                        is_given_up(proving, proof, left) || runs->waiting > REGIONS_BUSY);
}

/* Judges the pairs at the looks, and when there will be no more. */
static bool is_over(struct regions_runs *runs, const struct regions_proving *proving, struct regions_proof *proof) {
	const struct look_rule rule = rule_of(proving, proof);
	bool last = is_last(runs, proving, proof);
	bool looks = proof->count && look_next(&rule, (int)proof->count - 1) == (int)proof->count;
	if (!last)
		pairs_watch(proof, looks);
	looks = looks && proof->count && proof->judged == proof->count;
	return ((looks || last) && judge(&rule, proof, last)) || last;
}

/* The least time in each region, so that a run that others disturbed does not count. */
static void regions_note(const struct regions_proving *proving, const struct regions_record *record,
                         struct regions_proof *proof) {
	const struct regions_record *baseline = proving->baseline;
	if (!proof->region_s) {
		proof->region_s = mem_alloc(baseline->count + 1, sizeof *proof->region_s);
		for (size_t i = 0; i < baseline->count; i++)
			proof->region_s[i] = NAN;
	}
	for (size_t i = 0; i < baseline->count; i++) {
		const struct regions_region *region = &baseline->regions[i];
		size_t there = regions_record_find(record, region->module, region->offset, region->facts.size_class);
		if (there != SIZE_MAX)
			proof->region_s[i] = fmin(proof->region_s[i], 1e-9 * (double)record->regions[there].facts.ns);
	}
}

static int side_run(struct regions_runs *runs, const struct regions_proving *proving, bool tuned,
                    struct regions_proof *proof, struct err *err) {
	double known = proof->count ? proof->plain[0] : proving->budget_s;
	double left = fmax(regions_left(runs, proving->budget_s), 2 * known) + 1;
	double limit = fmin(LIMIT_TIMES * known + LIMIT_SECONDS, left);
	bool records = tuned && proof->count < RECORDED;
	struct regions_run run;
	if (regions_run_plain(runs, tuned ? runs->options->table : NULL, records, limit, "proof", &run, err))
		return -1;
	if (run.record)
		regions_note(proving, run.record, proof);
	regions_record_free(run.record);
	(tuned ? proof->tuned : proof->plain)[proof->count] = run.seconds;
	return 0;
}

static int pair_run(struct regions_runs *runs, const struct regions_proving *proving, bool tuned_first,
                    struct regions_proof *proof, struct err *err) {
	if (side_run(runs, proving, tuned_first, proof, err) || side_run(runs, proving, !tuned_first, proof, err))
		return -1;
	proof->count++;
	return 0;
}

int regions_prove(struct regions_runs *runs, const struct regions_proving *proving, struct regions_proof *proof,
                  struct err *err) {
	struct rng rng;
	double start = sys_now();
	bool tuned_first = false;
	int failed = 0;
	rng_seed(&rng, runs->options->seed);
	*proof = (struct regions_proof){.plain = mem_alloc(RACE_PAIRS_MAX, sizeof(double)),
	                                .tuned = mem_alloc(RACE_PAIRS_MAX, sizeof(double)),
	                                .seen = json_array(),
	                                .watch = {.busy = runs->busy,
	                                          .seconds = RACE_SHARE_QUIET * proving->budget_s,
	                                          .interrupt = runs->options->interrupt},
	                                .verdict = VERDICT_UNDECIDED};
	runs->seen_changed = proof->seen;
	race_watch_begin(&proof->watch);
	while (!failed && !is_over(runs, proving, proof)) {
		tuned_first = look_first(&rng, proof->count, tuned_first);
		failed = pair_run(runs, proving, tuned_first, proof, err);
	}
	race_watch_end(&proof->watch, (int)(proof->count - proof->judged));
	/* Small teams win where others use the processors, which says nothing about the program itself. */
	if (proof->verdict == VERDICT_FASTER && race_watch_is_busy(&proof->watch))
		proof->verdict = VERDICT_UNDECIDED;
	runs->seen_changed = NULL;
	runs->seconds.proof += sys_now() - start;
	return failed;
}

/* Settings of this proof may be used. */
static bool regions_proof_holds(const struct regions_proof *proof) {
	return proof->verdict == VERDICT_FASTER;
}

void regions_proof_clear(struct regions_proof *proof) {
	free(proof->plain);
	free(proof->tuned);
	json_decref(proof->watch.pairs);
	json_decref(proof->seen);
	free(proof->region_s);
}

/* The error of both proofs is at most 5 %, and most of it is for the first. */
static const double LEVELS[] = {0.96, 0.99};

/* Regions that took longer in whole runs get their own setting back. False: there are none, or what is left does not
 * gain enough. */
static bool restrict_settings(const struct regions_search *search, const struct regions_proof *proof) {
	double gain = 0;
	size_t dropped = 0;
	for (size_t i = 0; proof->region_s && i < search->baseline->count; i++) {
		double before = regions_seconds_in(&search->baseline->regions[i]), after = proof->region_s[i];
		struct regions_setting *setting = &search->found->settings[i];
		if (!regions_setting_changes(setting) || !isfinite(after))
			continue;
		bool is_contradicted = after > before * (1 + REGIONS_GAIN_LEAST);
		search->seen[i] = is_contradicted ? NAN : log(after / before);
		gain += is_contradicted ? 0 : before - after;
		dropped += is_contradicted;
		if (is_contradicted) {
			*setting = (struct regions_setting){0};
			search->level[i] = 0;
		}
	}
	return dropped && gain > REGIONS_PLAN_GAIN_LEAST * search->baseline_s;
}

/* The teams of the plan that ranked next, with the schedules of the first one. */
static bool next_settings(const struct regions_search *search) {
	size_t plan = regions_plan_next(search);
	if (plan == SIZE_MAX)
		return false;
	for (size_t i = 0; i < search->baseline->count; i++) {
		search->level[i] = search->plans[plan][i];
		search->found->settings[i].threads = search->teams[search->level[i]];
		search->seen[i] = NAN;
	}
	return true;
}

struct kept {
	struct regions_setting *settings;
	double *gain;
	size_t changed;
};

static struct kept keep(const struct regions_search *search) {
	size_t count = search->baseline->count;
	struct kept kept = {.settings = mem_alloc(count + 1, sizeof *kept.settings),
	                    .gain = mem_alloc(count + 1, sizeof *kept.gain),
	                    .changed = search->found->changed};
	memcpy(kept.settings, search->found->settings, count * sizeof *kept.settings);
	memcpy(kept.gain, search->found->gain, count * sizeof *kept.gain);
	return kept;
}

static void take_back(const struct regions_search *search, const struct kept *kept) {
	size_t count = search->baseline->count;
	memcpy(search->found->settings, kept->settings, count * sizeof *kept->settings);
	memcpy(search->found->gain, kept->gain, count * sizeof *kept->gain);
	search->found->changed = kept->changed;
}

static bool propose(const struct regions_search *search, const struct regions_proof *proof, const struct kept *first) {
	if (restrict_settings(search, proof))
		return true;
	take_back(search, first);
	return next_settings(search);
}

static void swap(struct regions_proof *a, struct regions_proof *b) {
	struct regions_proof other = *a;
	*a = *b;
	*b = other;
}

/* More settings are not worth a try where the pairs have said that these are not slower. */
static bool is_settled(const struct regions_proof *proof) {
	return regions_proof_holds(proof) || proof->verdict == VERDICT_TIE;
}

/* Both proofs failed, or the second holds: the settings of the better one are those found. */
static int choose(const struct regions_search *search, const struct kept *first, struct regions_proof *proof,
                  struct regions_proof *other, struct err *err) {
	size_t changed = search->found->changed;
	if (other->count && (is_settled(other) || other->ratio < proof->ratio)) {
		swap(proof, other);
		search->found->other_changed = first->changed;
		return 0;
	}
	take_back(search, first);
	search->found->other_changed = changed;
	return regions_settings_write(search, err);
}

static int second_prove(const struct regions_search *search, double spare_s, struct regions_proof *proof,
                        struct regions_proof *other, struct err *err) {
	const struct regions_proving proving = {
		.baseline = search->baseline, .budget_s = search->budget_s, .level = LEVELS[1]};
	struct regions_runs *runs = search->runs;
	struct kept first = keep(search);
	int failed = 0;
	if (regions_left(runs, search->budget_s) >= spare_s && propose(search, proof, &first)) {
		regions_settings_finish(search);
		failed = regions_settings_write(search, err) || regions_prove(runs, &proving, other, err) ||
		         choose(search, &first, proof, other, err);
	} else {
		take_back(search, &first);
	}
	free(first.settings);
	free(first.gain);
	return failed ? -1 : 0;
}

int regions_prove_plans(const struct regions_search *search, struct regions_proof *proof, struct regions_proof *other,
                        struct err *err) {
	struct regions_runs *runs = search->runs;
	double spare_s = regions_proof_seconds(search->baseline_s, search->baseline_s);
	bool has_room = search->found->changed && regions_left(runs, search->budget_s) >= 2 * spare_s;
	const struct regions_proving proving = {.baseline = search->baseline,
	                                        .budget_s = search->budget_s,
	                                        .spare_s = has_room ? spare_s : 0,
	                                        .level = LEVELS[0]};
	if (regions_prove(runs, &proving, proof, err))
		return -1;
	bool is_decided = is_settled(proof) || runs->waiting > REGIONS_BUSY;
	return has_room && !is_decided ? second_prove(search, spare_s, proof, other, err) : 0;
}
