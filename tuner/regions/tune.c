/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages of a search inside the runs of a program:
 *   profile   one run as it is: which regions there are, how often they are called, in which order
 *   explore   one or two runs in which stretches of time have different teams, in blocks of random order
 *   check     one run in which the teams chosen together, with several schedules, alternate with the default
 *   environment   whole runs with binding or a wait policy, where the budget has room for them
 *   proof     pairs of whole runs
 * A program that calls its regions a few times only has no stretches: each team then gets a run of its own. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/sys.h"
#include "tuner/regions/environment.h"
#include "tuner/regions/impl.h"

enum {
	TEAMS_MOST = 8,
	BLOCKS_WANTED = 8,
	BLOCKS_LEAST = 4,
	BLOCKS_SPREAD = 24,
	CALLS_A_STRETCH = 4,
	EXPLORING_RUNS = 2,
	TEAMS_BY_RUN = 4
};
static const double STRETCH_LEAST = 2e-3, SHARE_LEAST = 0.01, GAIN_LEAST = 0.02, ERROR_BY_RUN = 0.02;
static const double CLEAR_GAIN = 0.05, CLEAR_ERRORS = 4; /* such a gain is not looked at again */
static const double LIMIT_TIMES = 6, LIMIT_SECONDS = 10, BUDGET_TIMES = 8, BUDGET_LEAST = 15, SEARCH_SHARE = 0.55,
					PROOF_SPARE = 1.1;

struct search {
	struct regions_runs *runs;
	struct regions_record *baseline;
	double baseline_s, budget_s;
	unsigned teams[TEAMS_MOST];
	size_t team_count;
	struct regions_effect *effects; /* baseline's regions x teams */
	size_t *level;
	struct regions_found *found;
};

static size_t same_region(const struct regions_record *record, const struct regions_region *wanted) {
	return regions_record_find(record, wanted->module, wanted->offset);
}

static double seconds_in(const struct regions_region *region) {
	return 1e-9 * (double)region->facts.ns;
}

/* The default first, then one thread, halves, and three quarters of all. */
static void teams_choose(struct search *search) {
	unsigned all = search->baseline->raw->default_threads;
	search->teams[search->team_count++] = 0;
	for (unsigned team = 1; team < all && search->team_count < TEAMS_MOST - 1; team *= 2)
		search->teams[search->team_count++] = team;
	if (all > 4 && (all & (all - 1)) == 0)
		search->teams[search->team_count++] = all / 4 * 3;
}

/* A stretch holds some calls of every region that matters and is called often; 0: there is no such region, or no room
 * for enough stretches. */
static double stretch_choose(const struct search *search, size_t columns) {
	double stretch = STRETCH_LEAST, most = search->baseline_s / (double)(columns * BLOCKS_LEAST);
	bool any = false;
	for (size_t i = 0; i < search->baseline->count; i++) {
		const struct regions_region *region = &search->baseline->regions[i];
		double wanted = CALLS_A_STRETCH * search->baseline_s / (double)(region->facts.calls + 1);
		if (seconds_in(region) < SHARE_LEAST * search->baseline_s || wanted > most)
			continue;
		any = true;
		stretch = fmax(stretch, wanted);
	}
	return any && stretch <= most ? stretch : 0;
}

/* Spreads the blocks that are wanted over a long run. */
static double pause_choose(const struct search *search, double stretch, size_t columns) {
	return fmax(0, search->baseline_s / BLOCKS_SPREAD - stretch * (double)columns);
}

/* Twice the calls that the program makes in a stretch today. */
static unsigned long long calls_choose(const struct search *search, double stretch) {
	double calls = 0;
	for (size_t i = 0; i < search->baseline->count; i++)
		calls += (double)search->baseline->regions[i].facts.calls;
	return (unsigned long long)(2 * calls * stretch / search->baseline_s) + CALLS_A_STRETCH;
}

static double limit_s(const struct search *search) {
	return LIMIT_TIMES * search->baseline_s + LIMIT_SECONDS;
}

/* Effects of a record on the regions of the baseline; those it does not have stay unknown. */
static void effects_keep(const struct search *search, const struct regions_record *record,
                         const struct regions_effect *effects, size_t columns, struct regions_effect *to) {
	for (size_t i = 0; i < search->baseline->count; i++) {
		size_t there = same_region(record, &search->baseline->regions[i]);
		for (size_t k = 0; k < columns; k++)
			to[i * columns + k] =
				there == SIZE_MAX ? (struct regions_effect){.log = NAN, .error = NAN} : effects[there * columns + k];
	}
}

static void fit(const struct search *search, const struct regions_record *record, size_t columns,
                struct regions_effect *to) {
	struct regions_effect *effects = mem_alloc(record->count * columns, sizeof *effects);
	regions_fit(record, search->baseline, columns, effects);
	effects_keep(search, record, effects, columns, to);
	free(effects);
}

static int explore_stretches(struct search *search, double stretch, struct regions_record **costs, struct err *err) {
	struct regions_setting any[TEAMS_MOST] = {0};
	unsigned timed[TEAMS_MOST];
	size_t count = search->team_count, cells = search->baseline->count * count;
	struct regions_effect *more = mem_alloc(cells, sizeof *more);
	int failed = 0, runs = 0;
	for (size_t k = 0; k < count; k++) {
		any[k].threads = search->teams[k];
		timed[k] = search->teams[k] ? search->teams[k] : search->baseline->raw->default_threads;
	}
	while (!failed && runs < EXPLORING_RUNS) {
		struct regions_run run;
		const struct regions_table table = {.stretch_s = stretch,
		                                    .pause_s = pause_choose(search, stretch, count),
		                                    .calls_most = calls_choose(search, stretch),
		                                    .seed = (unsigned)search->runs->options->seed + 1 + (unsigned)runs,
		                                    .trace = true,
		                                    .force = search->runs->options->force,
		                                    .teams = timed,
		                                    .team_count = runs ? 0 : count,
		                                    .any = any,
		                                    .columns = count};
		failed = regions_run_quiet(search->runs, &table, NULL, limit_s(search), "explore",
		                           search->budget_s * SEARCH_SHARE / 2, &run, err);
		if (failed)
			break;
		fit(search, run.record, count, more);
		regions_effects_join(search->effects, more, cells);
		double blocks = run.seconds / (stretch * (double)count + table.pause_s);
		if (runs++ == 0)
			*costs = run.record;
		else
			regions_record_free(run.record);
		if (blocks >= BLOCKS_WANTED ||
		    regions_left(search->runs, search->budget_s * SEARCH_SHARE) < run.seconds + search->baseline_s)
			break;
	}
	free(more);
	return failed;
}

/* Each team for a whole run. Its regions are compared with those of the profile, so only large effects count. */
static int explore_runs(struct search *search, struct regions_record **costs, struct err *err) {
	size_t count = search->team_count;
	for (size_t k = 1; k < count && k <= TEAMS_BY_RUN; k++) {
		struct regions_setting any = {.threads = search->teams[count - k]};
		const struct regions_table table = {
			.trace = true, .force = search->runs->options->force, .any = &any, .columns = 1};
		struct regions_run run;
		if (k > 1 && regions_left(search->runs, search->budget_s * SEARCH_SHARE) < search->baseline_s)
			break;
		if (regions_run_recorded(search->runs, &table, NULL, limit_s(search), "explore", &run, err))
			return -1;
		for (size_t i = 0; i < search->baseline->count; i++) {
			size_t there = same_region(run.record, &search->baseline->regions[i]);
			double before = seconds_in(&search->baseline->regions[i]);
			if (there == SIZE_MAX || before < SHARE_LEAST * search->baseline_s)
				continue;
			search->effects[i * count + count - k] = (struct regions_effect){
				.log = log(seconds_in(&run.record->regions[there]) / before), .error = ERROR_BY_RUN, .stretches = 2};
		}
		if (*costs)
			regions_record_free(run.record);
		else
			*costs = run.record;
	}
	return 0;
}

static int explore(struct search *search, struct err *err) {
	size_t cells = search->baseline->count * search->team_count;
	struct regions_record *costs = NULL;
	double stretch = stretch_choose(search, search->team_count), start = sys_now();
	search->effects = mem_alloc(cells, sizeof *search->effects);
	for (size_t i = 0; i < cells; i++)
		search->effects[i] = (struct regions_effect){.log = i % search->team_count ? NAN : 0};
	int failed = stretch > 0 ? explore_stretches(search, stretch, &costs, err) : explore_runs(search, &costs, err);
	if (!failed) {
		const struct regions_plan_task task = {.baseline = search->baseline,
		                                       .exploring = costs ? costs : search->baseline,
		                                       .effects = search->effects,
		                                       .teams = search->teams,
		                                       .team_count = search->team_count,
		                                       .threads_min_gain = GAIN_LEAST};
		regions_plan(&task, search->level);
	}
	regions_record_free(costs);
	search->runs->seconds.explore += sys_now() - start;
	return failed;
}

/* Schedules that are tried of a loop: kind and chunk, or the chunk alone where the kind is compiled in. */
static const struct regions_setting runtime_variants[] = {{0, OMP_KIND_STATIC, 0},
                                                          {0, OMP_KIND_DYNAMIC, 1},
                                                          {0, OMP_KIND_DYNAMIC, 8},
                                                          {0, OMP_KIND_DYNAMIC, 64},
                                                          {0, OMP_KIND_GUIDED, 0}};
static const struct regions_setting chunk_variants[] = {{0, 0, 1}, {0, 0, 4}, {0, 0, 16}, {0, 0, 64}, {0, 0, 256}};
enum { VARIANTS = sizeof runtime_variants / sizeof *runtime_variants, CHECK_COLUMNS = 2 + VARIANTS };

static const struct regions_setting *variants_of(const struct search *search, size_t region) {
	const struct regions_region *one = &search->baseline->regions[region];
	if (seconds_in(one) < SHARE_LEAST * search->baseline_s)
		return NULL;
	if (one->facts.sharing == OMP_LOOP_RUNTIME)
		return runtime_variants;
	bool chunked = one->facts.sharing == OMP_LOOP_DYNAMIC || one->facts.sharing == OMP_LOOP_GUIDED;
	return chunked ? chunk_variants : NULL;
}

static struct regions_setting chosen(const struct search *search, size_t region) {
	return (struct regions_setting){.threads = search->teams[search->level[region]]};
}

/* Columns: the default, the teams chosen, and these with each schedule. */
static bool check_rows(const struct search *search, size_t columns, struct regions_setting *rows) {
	bool any = false;
	for (size_t i = 0; i < search->baseline->count; i++) {
		const struct regions_setting *variants = variants_of(search, i);
		struct regions_setting *row = &rows[i * columns];
		any = any || search->level[i] || variants;
		row[0] = (struct regions_setting){0};
		for (size_t k = 1; k < columns; k++) {
			row[k] = chosen(search, i);
			if (k >= 2 && variants) {
				row[k].kind = variants[k - 2].kind;
				row[k].chunk = variants[k - 2].chunk;
			}
		}
	}
	return any;
}

/* Whether another run can add something: a schedule to try, or a team whose gain is not far beyond its error. */
static bool needs_check(const struct search *search) {
	for (size_t i = 0; i < search->baseline->count; i++) {
		const struct regions_effect *effect = &search->effects[i * search->team_count + search->level[i]];
		if (variants_of(search, i))
			return true;
		if (search->level[i] && (!isfinite(effect->error) || effect->log > -CLEAR_GAIN - CLEAR_ERRORS * effect->error))
			return true;
	}
	return false;
}

static bool clear_of(const struct regions_effect *effect, double log) {
	double error = isfinite(effect->error) ? effect->error : 0;
	return isfinite(effect->log) && effect->stretches > 1 && effect->log < log - GAIN_LEAST - 2 * error;
}

/* The schedule that is clearly better than the program's own with the same team; a team that turned out to be slower
 * beside its neighbours is given up. */
static void decide(const struct search *search, size_t region, const struct regions_effect *effects, size_t columns,
                   const struct regions_setting *row, struct regions_setting *setting) {
	const struct regions_effect *team = &effects[region * columns + 1];
	size_t best = 1;
	double log = isfinite(team->log) ? team->log : 0;
	for (size_t k = 2; variants_of(search, region) && k < columns; k++)
		if (clear_of(&effects[region * columns + k],
		             best == 1 ? log : effects[region * columns + best].log + GAIN_LEAST))
			best = k;
	*setting = row[best];
	if (best == 1 && isfinite(team->log) && team->log > GAIN_LEAST + 2 * (isfinite(team->error) ? team->error : 0))
		*setting = (struct regions_setting){0};
}

static int check(struct search *search, struct err *err) {
	size_t count = search->baseline->count, columns = 2;
	for (size_t i = 0; i < count; i++)
		if (variants_of(search, i))
			columns = CHECK_COLUMNS;
	struct regions_setting *rows = mem_alloc(count * columns, sizeof *rows);
	struct regions_effect *effects = mem_alloc(count * columns, sizeof *effects);
	bool any = check_rows(search, columns, rows);
	double stretch = stretch_choose(search, columns), start = sys_now();
	int failed = 0;
	for (size_t i = 0; i < count; i++)
		search->found->settings[i] = chosen(search, i);
	if (any && stretch > 0 && needs_check(search) &&
	    regions_left(search->runs, search->budget_s * 0.7) > search->baseline_s) {
		const struct regions_table table = {.stretch_s = stretch,
		                                    .pause_s = pause_choose(search, stretch, columns),
		                                    .calls_most = calls_choose(search, stretch),
		                                    .seed = (unsigned)search->runs->options->seed + 11,
		                                    .trace = true,
		                                    .force = search->runs->options->force,
		                                    .rows = rows,
		                                    .columns = columns};
		struct regions_run run;
		failed = regions_run_quiet(search->runs, &table, search->baseline, limit_s(search), "check",
		                           search->budget_s * SEARCH_SHARE, &run, err);
		if (!failed) {
			fit(search, run.record, columns, effects);
			for (size_t i = 0; i < count; i++)
				decide(search, i, effects, columns, &rows[i * columns], &search->found->settings[i]);
			regions_record_free(run.record);
		}
	}
	search->runs->seconds.explore += sys_now() - start;
	free(effects);
	free(rows);
	return failed;
}

static void found_finish(const struct search *search) {
	struct regions_found *found = search->found;
	found->effects = search->effects;
	found->teams = search->teams;
	found->team_count = search->team_count;
	for (size_t i = 0; i < search->baseline->count; i++) {
		const struct regions_setting *setting = &found->settings[i];
		double log = search->effects[i * search->team_count + search->level[i]].log;
		bool changed = setting->threads || setting->kind || setting->chunk;
		found->gain[i] = changed && isfinite(log) && setting->threads ? exp(-log) : NAN;
		found->changed += changed;
	}
}

static int table_write(const struct search *search, struct err *err) {
	const struct regions_table table = {
		.force = search->runs->options->force, .rows = search->found->settings, .columns = 1};
	char *text = regions_table_text(&table, search->baseline);
	int failed = sys_write_file(search->runs->options->table, text, strlen(text), err);
	free(text);
	return failed;
}

struct trying {
	struct search *search;
	double guess_s;
};

/* Room for these runs and for a proof. */
static bool has_room(void *ctx, int runs, double seconds) {
	const struct trying *trying = ctx;
	const struct search *search = trying->search;
	/* Without a budget of the user's, the whole search keeps to a few runs of a short program, too. */
	double budget_s =
		fmin(search->budget_s, search->runs->options->budget_s > 0 ? INFINITY : BUDGET_TIMES * search->baseline_s);
	return regions_left(search->runs, budget_s) >
	       runs * seconds + PROOF_SPARE * REGIONS_PAIRS_LEAST * (search->baseline_s + seconds);
}

/* An environment that the program cannot stand is a failure of its own, and the regions keep their settings. */
static int try_environment(void *ctx, const json_t *environment, double *seconds, struct err *err) {
	const struct trying *trying = ctx;
	struct regions_runs *runs = trying->search->runs;
	struct regions_run run;
	json_t *kept = runs->environment;
	runs->environment = environment ? json_incref((json_t *)environment) : json_object();
	int failed = regions_run_plain(runs, runs->options->table, limit_s(trying->search), "environment", &run, err);
	json_decref(runs->environment);
	runs->environment = kept;
	*seconds = run.seconds;
	if (!failed || err->code == ERR_INTERRUPTED || !environment || !*runs->failure)
		return failed;
	*err = (struct err){0};
	*runs->failure = '\0';
	return 1;
}

static int environment(struct search *search, struct err *err) {
	struct trying trying = {search, search->baseline_s};
	const struct omp_record *raw = search->baseline->raw;
	double start = sys_now();
	for (size_t i = 0; i < search->baseline->count; i++)
		if (isfinite(search->found->gain[i]))
			trying.guess_s -= seconds_in(&search->baseline->regions[i]) * (1 - 1 / search->found->gain[i]);
	const struct regions_environment_task task = {.run = try_environment,
	                                              .has_room = has_room,
	                                              .ctx = &trying,
	                                              .processes = search->baseline->processes,
	                                              .is_crowded = raw->cpus && raw->default_threads > raw->cpus,
	                                              .guess_s = trying.guess_s};
	json_t *found = search->runs->waiting > REGIONS_BUSY ? json_object() : regions_environment_find(&task, err);
	search->runs->seconds.explore += sys_now() - start;
	if (!found)
		return -1;
	json_decref(search->runs->environment);
	search->runs->environment = found;
	return 0;
}

static int profile(struct search *search, struct err *err) {
	struct regions_setting none = {0};
	const struct regions_table table = {.trace = true, .busy = true, .any = &none, .columns = 1};
	struct regions_run run;
	double start = sys_now();
	if (regions_run_quiet(search->runs, &table, NULL, 0, "profile", search->runs->options->budget_s / 8, &run, err))
		return -1;
	search->runs->seconds.profile = sys_now() - start;
	search->baseline = search->found->baseline = run.record;
	search->baseline_s = run.seconds;
	search->budget_s = search->runs->options->budget_s;
	if (!(search->budget_s > 0))
		search->budget_s = fmax(BUDGET_TIMES * run.seconds, BUDGET_LEAST);
	search->level = mem_alloc(run.record->count, sizeof *search->level);
	search->found->settings = mem_alloc(run.record->count, sizeof *search->found->settings);
	search->found->gain = mem_alloc(run.record->count, sizeof *search->found->gain);
	teams_choose(search);
	search->runs->all = 4 + (int)fmin(40, fmax(6, (search->budget_s - 4 * run.seconds) / run.seconds));
	return 0;
}

/* Runs that failed with settings of ours say that the program must keep its own. */
static int fall_back(struct search *search, struct regions_proof *proof, struct err *err) {
	if (!search->baseline || !*search->runs->failure || err->code == ERR_INTERRUPTED)
		return -1;
	*err = (struct err){0};
	for (size_t i = 0; i < search->baseline->count; i++) {
		search->found->settings[i] = (struct regions_setting){0};
		search->found->gain[i] = NAN;
	}
	search->found->changed = 0;
	json_object_clear(search->runs->environment);
	regions_proof_clear(proof);
	*proof = (struct regions_proof){.verdict = "undecided", .ratio = 1, .ci = {1, 1}};
	return table_write(search, err);
}

/* A region that matters was seen with another team. */
static bool is_compared(const struct search *search) {
	for (size_t i = 0; search->effects && i < search->baseline->count; i++)
		for (size_t k = 1; k < search->team_count; k++)
			if (search->effects[i * search->team_count + k].stretches > 1)
				return true;
	return search->team_count < 2;
}

json_t *regions_tune(const struct regions_options *options, struct err *err) {
	struct regions_runs runs;
	struct regions_found found = {0};
	struct regions_proof proof = {.verdict = "tie", .ratio = 1, .ci = {1, 1}};
	struct search search = {.runs = &runs, .found = &found};
	json_t *result = NULL;
	int failed = regions_runs_open(&runs, options, err) || profile(&search, err);
	if (!failed && search.team_count > 1)
		failed = explore(&search, err);
	if (!failed && search.effects) {
		failed = check(&search, err);
		if (!failed)
			found_finish(&search);
	}
	failed = failed || table_write(&search, err) || (search.effects && environment(&search, err));
	if (!failed && (found.changed || json_object_size(runs.environment)))
		failed = regions_prove(&runs, search.budget_s, &proof, err);
	failed = failed && fall_back(&search, &proof, err);
	if (!failed && !is_compared(&search))
		proof.verdict = "undecided";
	/* Teams that lose to other programs say nothing about the program itself. */
	if (runs.waiting > REGIONS_BUSY)
		proof.verdict = "undecided";
	if (!failed)
		result = regions_result_json(&runs, &found, &proof);
	regions_proof_clear(&proof);
	regions_record_free(found.baseline);
	free(found.settings);
	free(found.gain);
	free(search.effects);
	free(search.level);
	regions_runs_close(&runs);
	return result;
}
