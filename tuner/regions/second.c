/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The proof of the settings found and, where whole runs do not confirm them, of a second plan. A run in which settings
 * alternate cannot show everything: threads that are there for a whole run place the data, keep their caches, and take
 * turns with each other in another way. */
#include <math.h>

#include "base/mem.h"
#include "base/sys.h"
#include "tuner/race/look.h"
#include "tuner/race/numbers.h"
#include "tuner/regions/regions_impl.h"

/* The proof of settings: pairs of whole runs in random order, judged as all duels are, with looks after 3, 5, 8, 13, 21
 * and more pairs (tuner/race/look.h). */
enum { RECORDED = 3 };
/* A gain or loss below MARGIN does not matter. Settings that are slower by less than TIE_MARGIN for certain are a tie.
 */
static const double MARGIN = 0.01, TIE_MARGIN = 0.03, WIDEST = 7;
static const double SHORT_SECONDS = 0.5, LIMIT_TIMES = 5, LIMIT_SECONDS = 10;
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

void regions_proof_clear(struct regions_proof *proof) {
	free(proof->plain);
	free(proof->tuned);
	json_decref(proof->watch.pairs);
	json_decref(proof->seen);
	free(proof->region_s);
}
