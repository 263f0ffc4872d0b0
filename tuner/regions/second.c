/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The proof of the settings found and, where whole runs do not confirm them, of a second plan. A run in which settings
 * alternate cannot show everything: threads that are there for a whole run place the data, keep their caches, and take
 * turns with each other in another way. */
#include <math.h>

#include "base/mem.h"
#include "tuner/regions/search_impl.h"

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
