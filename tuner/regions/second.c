/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The proof of the settings found and, where whole runs do not confirm them, of a second plan. A run in which settings
 * alternate cannot show everything: threads that are there for a whole run place the data, keep their caches, and take
 * turns with each other in another way. */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "tuner/race/numbers.h"
#include "tuner/regions/regions_impl.h"

/* The proof of settings is a duel of whole runs, whose first runs with the settings are recorded. */
enum { RECORDED = 3, CHANGES_MOST = 62 };
/* A gain or loss below MARGIN does not matter. Settings that are slower by less than TIE_MARGIN for certain are a tie.
 */
static const double MARGIN = 0.01, TIE_MARGIN = 0.03;
static const double SHORT_SECONDS = 0.5, LIMIT_TIMES = 5, LIMIT_SECONDS = 10;
static const double SPARE = 1.1;      /* of the time that another proof needs */
static const double HOPELESS = 0.995; /* of the time before: above this the gain is too small to prove */
/* The share of the time that is left for runs without some of the settings; the rest proves what remains. */
static const double ARMS_SHARE = 0.6;
/* A region that saves less than this share of what all of them save, as modelled, is not likely to pay. */
static const double LIKELY_SHARE = 0.05;

static enum verdict verdict_by(const struct duel_result *duel) {
	const struct paired *paired = &duel->paired;
	if (duel->verdict != PAIRED_TIE)
		return duel->verdict == PAIRED_FASTER ? VERDICT_FASTER : VERDICT_SLOWER;
	bool tie = paired->count > 1 && paired->ci[1] < 1 + TIE_MARGIN && !paired_is_vague(paired);
	return tie || (duel->decided && paired->ratio <= 1) ? VERDICT_TIE : VERDICT_UNDECIDED;
}

double regions_proof_seconds(double plain_s, double tuned_s) {
	return SPARE * RACE_PAIRS_LEAST * (plain_s + tuned_s);
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

struct sides {
	struct regions_runs *runs;
	const struct regions_proving *proving;
	struct regions_proof *proof;
	double begun, sum[2]; /* sum: seconds of all runs as they are, and with the settings */
	int count[2], recorded;
};

static double elapsed(const struct sides *sides) {
	return sides->proving->budget_s - regions_left(sides->runs, sides->proving->budget_s);
}

/* The clock of the duel. One pair is always run. Where nothing is gained so far, time for other settings is left. */
static double sides_now(void *ctx) {
	const struct sides *sides = ctx;
	const struct regions_proving *proving = sides->proving;
	int least = sides->count[0] < sides->count[1] ? sides->count[0] : sides->count[1];
	if (least == 0)
		return fmin(sides->begun, proving->budget_s - 1e-3);
	bool vain = least > 1 && sides->sum[1] / sides->count[1] > HOPELESS * sides->sum[0] / sides->count[0];
	return elapsed(sides) + (vain ? proving->spare_s : 0) +
	       (sides->runs->waiting > REGIONS_BUSY ? proving->budget_s : 0);
}

static json_t *config_of(uint64_t set) {
	return set ? json_pack("{s:I}", "set", (json_int_t)set) : json_object();
}

static int side_run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct sides *sides = ctx;
	const struct regions_proving *proving = sides->proving;
	uint64_t set = (uint64_t)js_int_or(request->config, "set", 0);
	bool whole = set == proving->set, records = whole && sides->recorded < RECORDED;
	double left = fmax(regions_left(sides->runs, proving->budget_s), 2 * proving->plain_s) + 1;
	struct regions_run run;
	if (set && proving->choose && proving->choose(proving->ctx, set, err))
		return -1;
	if (regions_run_plain(sides->runs, set ? sides->runs->options->table : NULL, records,
	                      fmin(LIMIT_TIMES * proving->plain_s + LIMIT_SECONDS, left), "proof", &run, err))
		return -1;
	if (run.record)
		regions_note(proving, run.record, sides->proof);
	regions_record_free(run.record);
	sides->recorded += records;
	if (!set || whole) {
		sides->sum[whole] += run.seconds;
		sides->count[whole]++;
	}
	*result = (struct trial_result){.value = run.seconds, .least = run.seconds, .elapsed_s = run.seconds};
	result->samples = mem_alloc(1, sizeof *result->samples);
	result->samples[0] = run.seconds;
	result->sample_count = 1;
	return 0;
}

static void proof_judge(struct regions_proof *proof) {
	proof->told = paired_told(proof->duel.paired);
	proof->verdict = verdict_by(&proof->duel);
	/* Small teams win where others use the processors, which says nothing about the program itself. */
	if (proof->verdict == VERDICT_FASTER && race_watch_is_busy(&proof->watch))
		proof->verdict = VERDICT_UNDECIDED;
}

int regions_prove(struct regions_runs *runs, const struct regions_proving *proving, struct regions_proof *proof,
                  struct err *err) {
	double start = sys_now();
	const json_t *others[ABLATION_ARMS_MAX];
	struct sides sides = {.runs = runs, .proving = proving, .proof = proof};
	struct runner runner = {.ctx = &sides, .run = side_run};
	const struct trial_request request = {.kernel = "program", .whole_program = true};
	js_auto json_t *tuned = config_of(proving->set), *plain = config_of(0);
	struct duel_options options = duel_defaults;
	*proof = (struct regions_proof){.seen = json_array(),
	                                .watch = {.busy = runs->busy,
	                                          .seconds = RACE_SHARE_QUIET * proving->budget_s,
	                                          .interrupt = runs->options->interrupt},
	                                .verdict = VERDICT_UNDECIDED};
	runs->seen_changed = proof->seen;
	sides.begun = elapsed(&sides);
	for (size_t i = 0; i < proving->other_count; i++)
		others[i] = config_of(proving->others[i]);
	options.pairs_first = proving->plain_s < SHORT_SECONDS ? RACE_PAIRS_SHORT : RACE_PAIRS_LEAST;
	options.margin = MARGIN;
	options.level = proving->level;
	options.seconds_max = 0;
	options.phase = "proof";
	options.seed = runs->options->seed;
	options.watch = &proof->watch;
	options.clock = (struct race_clock){.now = sides_now, .ctx = &sides, .end = proving->budget_s};
	options.others = others;
	options.other_count = proving->other_count;
	options.others_seconds = ARMS_SHARE * regions_left(runs, proving->budget_s);
	options.others_end = proving->rough;
	options.others_first = proving->doubted;
	int failed = duel_run(&runner, &request, tuned, plain, &options, NULL, &proof->duel, err);
	if (!failed)
		proof_judge(proof);
	for (size_t i = 0; i < proving->other_count; i++)
		json_decref((json_t *)others[i]);
	runs->seen_changed = NULL;
	runs->seconds.proof += sys_now() - start;
	return failed;
}

void regions_proof_clear(struct regions_proof *proof) {
	duel_result_clear(&proof->duel);
	json_decref(proof->watch.pairs);
	json_decref(proof->seen);
	free(proof->region_s);
	*proof = (struct regions_proof){.verdict = VERDICT_UNDECIDED, .told = {.ratio = 1, .ci = {1, 1}}};
}

/* The settings of a plan as changes, each of which has to pay: those of each region, and the environment. */
struct changes {
	const struct regions_search *search;
	struct regions_proving proving;
	struct regions_setting *all; /* one a region */
	size_t region[CHANGES_MOST]; /* of each change; SIZE_MAX: the environment */
	double rank[CHANGES_MOST];
	json_t *environment;
	size_t count;
	uint64_t likely;
	struct regions_proof latest, *kept;
	bool has;
};

static int changes_choose(void *ctx, uint64_t set, struct err *err) {
	const struct changes *changes = ctx;
	const struct regions_search *search = changes->search;
	for (size_t i = 0; i < changes->count; i++) {
		size_t region = changes->region[i];
		bool on = set >> i & 1;
		if (region == SIZE_MAX) {
			json_decref(search->runs->environment);
			search->runs->environment = on ? json_copy(changes->environment) : json_object();
		} else {
			search->found->settings[region] = on ? changes->all[region] : (struct regions_setting){0};
		}
	}
	return regions_settings_write(search, err);
}

static void changes_find(struct changes *changes) {
	const struct regions_search *search = changes->search;
	size_t count = search->baseline->count;
	changes->all = mem_alloc(count + 1, sizeof *changes->all);
	memcpy(changes->all, search->found->settings, count * sizeof *changes->all);
	changes->environment = json_copy(search->runs->environment);
	for (size_t i = 0; i <= count && changes->count < CHANGES_MOST; i++) {
		bool is_region = i < count;
		if (is_region ? !regions_setting_changes(&changes->all[i]) : json_object_size(changes->environment) == 0)
			continue;
		double gain = is_region ? search->found->gain[i] : NAN;
		changes->rank[changes->count] = isfinite(gain) ? gain : 1;
		changes->region[changes->count++] = is_region ? i : SIZE_MAX;
	}
}

/* A setting whose gain was not seen by itself is likely to pay. */
static void changes_weigh(struct changes *changes) {
	double saved[CHANGES_MOST], all = 0;
	for (size_t i = 0; i < changes->count; i++) {
		size_t region = changes->region[i];
		double gain = region == SIZE_MAX ? NAN : changes->search->found->gain[region];
		saved[i] =
			isfinite(gain) ? regions_seconds_in(&changes->search->baseline->regions[region]) * (1 - 1 / gain) : NAN;
		all += saved[i] > 0 ? saved[i] : 0;
	}
	for (size_t i = 0; i < changes->count; i++)
		changes->likely |= (uint64_t) !(saved[i] < LIKELY_SHARE * all) << i;
}

/* Without a region's setting a run takes something between one with all of them and one as it is. */
static double tuned_seconds(const struct changes *changes) {
	const struct regions_search *search = changes->search;
	bool modelled = search->effects && search->plan < search->plan_count;
	return changes->proving.plain_s * (modelled ? exp(fmin(0, search->plan_log[search->plan])) : 1);
}

static int changes_room(void *ctx, uint64_t set) {
	const struct changes *changes = ctx;
	double plain_s = changes->proving.plain_s, left = regions_left(changes->search->runs, changes->proving.budget_s);
	int blocks = plain_s < SHORT_SECONDS ? RACE_PAIRS_OF_CHANGE_VAIN : RACE_PAIRS_LEAST;
	(void)set;
	if (changes->has && (changes->kept->verdict != VERDICT_FASTER || left < regions_proof_seconds(plain_s, plain_s)))
		return -1;
	double block_s = blocks * (plain_s + tuned_seconds(changes));
	double arms = (ARMS_SHARE * (left - changes->proving.spare_s) - block_s) / (block_s / 2);
	return arms > CHANGES_MOST ? CHANGES_MOST : arms > 0 ? (int)arms : 0;
}

static int changes_duel(void *ctx, uint64_t set, struct ablation_arm *arms, size_t count, bool first,
                        struct ablation_gain *gain, struct err *err) {
	struct changes *changes = ctx;
	struct regions_proving proving = changes->proving;
	uint64_t others[ABLATION_ARMS_MAX];
	for (size_t i = 0; i < count; i++)
		others[i] = arms[i].set;
	proving.set = set;
	proving.others = others;
	proving.other_count = count;
	proving.rough = first && changes->count > 1;
	proving.doubted = first && count > 0 && (arms[0].set & set) == set;
	proving.level = first || gain->faster ? proving.level : RACE_LEVEL_AGAIN;
	proving.spare_s = first ? proving.spare_s : 0;
	regions_proof_clear(&changes->latest);
	if (regions_prove(changes->search->runs, &proving, &changes->latest, err))
		return -1;
	for (size_t i = 0; i < count; i++)
		ablation_arm_take(&arms[i], &changes->latest.duel.others[i]);
	gain->faster = changes->latest.verdict == VERDICT_FASTER;
	gain->ratio = 1 / changes->latest.told.ratio;
	gain->open = changes->latest.duel.left_open;
	return 0;
}

static void changes_keep(void *ctx) {
	struct changes *changes = ctx;
	regions_proof_clear(changes->kept);
	*changes->kept = changes->latest;
	changes->latest = (struct regions_proof){0};
	changes->has = true;
}

/* Proves the settings found, and takes back those of regions, and the environment, that are not shown to pay. */
static int regions_prove_changes(const struct regions_search *search, const struct regions_proving *proving,
                                 struct regions_proof *proof, struct err *err) {
	struct changes changes = {.search = search, .proving = *proving, .kept = proof};
	struct ablation_result result;
	changes.proving.choose = changes_choose;
	changes.proving.ctx = &changes;
	changes_find(&changes);
	changes_weigh(&changes);
	const struct ablation_task task = {.ctx = &changes,
	                                   .count = changes.count,
	                                   .rank = changes.rank,
	                                   .likely = changes.likely,
	                                   .room = changes_room,
	                                   .duel = changes_duel,
	                                   .keep = changes_keep};
	int failed = ablation_run(&task, &result, err) || changes_choose(&changes, result.kept, err) ? -1 : 0;
	for (size_t i = 0; i < changes.count; i++)
		if (!failed && !(result.kept >> i & 1) && changes.region[i] != SIZE_MAX) {
			search->level[changes.region[i]] = 0;
			search->seen[changes.region[i]] = NAN;
		}
	if (!failed && search->effects)
		regions_settings_finish(search);
	regions_proof_clear(&changes.latest);
	json_decref(changes.environment);
	free(changes.all);
	return failed;
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
	return proof->verdict == VERDICT_FASTER || proof->verdict == VERDICT_TIE;
}

/* Both proofs failed, or the second holds: the settings of the better one are those found. */
static int choose(const struct regions_search *search, const struct kept *first, struct regions_proof *proof,
                  struct regions_proof *other, struct err *err) {
	size_t changed = search->found->changed;
	if (other->told.count && (is_settled(other) || other->told.ratio < proof->told.ratio)) {
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
	const struct regions_proving proving = {.baseline = search->baseline,
	                                        .plain_s = search->baseline_s,
	                                        .budget_s = search->budget_s,
	                                        .level = LEVELS[1],
	                                        .set = 1};
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
	                                        .plain_s = search->baseline_s,
	                                        .budget_s = search->budget_s,
	                                        .spare_s = has_room ? spare_s : 0,
	                                        .level = LEVELS[0]};
	if (regions_prove_changes(search, &proving, proof, err))
		return -1;
	bool is_decided = is_settled(proof) || runs->waiting > REGIONS_BUSY;
	return has_room && !is_decided ? second_prove(search, spare_s, proof, other, err) : 0;
}
