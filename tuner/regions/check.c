/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run in which the plans for all regions, and the first of them with several schedules, alternate with the default.
 * The exploring run had the same team everywhere at a time, so that it says nothing about what changes of the team cost
 * the regions around them: new threads begin with empty caches, and those that are not needed spin or sleep. */
#include <math.h>

#include "base/mem.h"
#include "base/sys.h"
#include "tuner/race/numbers.h"
#include "tuner/regions/regions_impl.h"

/* One or two runs in which stretches of time have different teams, in blocks of random order. A program that calls its
 * regions a few times only does not have stretches: each team then gets a run of its own. */
enum { CALLS_A_STRETCH = 4, EXPLORING_RUNS = 2, TEAMS_BY_RUN = 4 };
static const double STRETCH_LEAST = 2e-3, ERROR_BY_RUN = 0.02, LIMIT_TIMES = 6, LIMIT_SECONDS = 10;
static const double LIMIT_TIMES_LEAST = 2, LIMIT_SECONDS_LEAST = 1;
/* A plan that the model puts farther behind is not looked at. */
static const double PLAN_TIMES = 1.35;

static size_t same_region(const struct regions_record *record, const struct regions_region *wanted) {
	return regions_record_find(record, wanted->module, wanted->offset, wanted->facts.size_class);
}

/* A stretch holds some calls of every region that matters and is called often; 0: there is no such region, or no room
 * for enough stretches. */
static double regions_stretch_choose(const struct regions_search *search, size_t columns) {
	double stretch = STRETCH_LEAST, most = search->baseline_s / (double)(columns * RACE_BLOCKS_OF_REGION_LEAST);
	bool any = false;
	for (size_t i = 0; i < search->baseline->count; i++) {
		const struct regions_region *region = &search->baseline->regions[i];
		double wanted = CALLS_A_STRETCH * search->baseline_s / (double)(region->facts.calls + 1);
		if (regions_seconds_in(region) < REGIONS_SHARE_LEAST * search->baseline_s || wanted > most)
			continue;
		any = true;
		stretch = fmax(stretch, wanted);
	}
	return any && stretch <= most ? stretch : 0;
}

/* Spreads the blocks that are wanted over a long run. */
static double regions_pause_choose(const struct regions_search *search, double stretch, size_t columns) {
	return fmax(0, search->baseline_s / RACE_BLOCKS_OF_REGION_SPREAD - stretch * (double)columns);
}

/* Twice the calls that the program makes in a stretch today. */
static unsigned long long regions_calls_choose(const struct regions_search *search, double stretch) {
	double calls = 0;
	for (size_t i = 0; i < search->baseline->count; i++)
		calls += (double)search->baseline->regions[i].facts.calls;
	return (unsigned long long)(2 * calls * stretch / search->baseline_s) + CALLS_A_STRETCH;
}

/* A program that hangs with another team must not take more than the budget. */
double regions_limit_s(const struct regions_search *search) {
	double left = fmax(regions_left(search->runs, search->budget_s), LIMIT_TIMES_LEAST * search->baseline_s);
	return fmin(LIMIT_TIMES * search->baseline_s + LIMIT_SECONDS, left + LIMIT_SECONDS_LEAST);
}

/* Effects of a record on the regions of the baseline; those it does not have stay unknown. */
static void effects_keep(const struct regions_search *search, const struct regions_record *record,
                         const struct regions_effect *effects, size_t columns, struct regions_effect *to) {
	for (size_t i = 0; i < search->baseline->count; i++) {
		size_t there = same_region(record, &search->baseline->regions[i]);
		for (size_t k = 0; k < columns; k++)
			to[i * columns + k] =
				there == SIZE_MAX ? (struct regions_effect){.log = NAN, .error = NAN} : effects[there * columns + k];
	}
}

/* The effects of a record's columns on the regions of the baseline. */
static void regions_search_fit(const struct regions_search *search, const struct regions_record *record, size_t columns,
                               struct regions_effect *to) {
	mem_auto struct regions_effect *effects = mem_alloc(record->count * columns, sizeof *effects);
	regions_fit(record, search->baseline, columns, effects);
	effects_keep(search, record, effects, columns, to);
}

static int explore_stretches(struct regions_search *search, double stretch, struct regions_record **costs,
                             struct err *err) {
	struct regions_setting any[REGIONS_TEAMS_MOST] = {0};
	unsigned timed[REGIONS_TEAMS_MOST];
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
		                                    .pause_s = regions_pause_choose(search, stretch, count),
		                                    .calls_most = regions_calls_choose(search, stretch),
		                                    .seed = (unsigned)search->runs->options->seed + 1 + (unsigned)runs,
		                                    .trace = true,
		                                    .force = search->runs->options->force,
		                                    .teams = timed,
		                                    .team_count = runs ? 0 : count,
		                                    .any = any,
		                                    .columns = count,
		                                    .sizes = search->sizes,
		                                    .sizes_count = search->sizes_count};
		failed = regions_run_quiet(search->runs, &table, search->baseline, regions_limit_s(search), "explore",
		                           search->budget_s * REGIONS_SEARCH_SHARE / 2, &run, err);
		if (failed)
			break;
		regions_search_fit(search, run.record, count, more);
		regions_effects_join(search->effects, more, cells);
		double blocks = run.seconds / (stretch * (double)count + table.pause_s);
		if (runs++ == 0)
			*costs = run.record;
		else
			regions_record_free(run.record);
		if (blocks >= RACE_BLOCKS_OF_REGION_WANTED ||
		    regions_left(search->runs, search->budget_s * REGIONS_SEARCH_SHARE) < run.seconds + search->baseline_s)
			break;
	}
	free(more);
	return failed;
}

/* Each team for a whole run. Its regions are compared with those of the profile, so only large effects count. */
static int explore_runs(struct regions_search *search, struct regions_record **costs, struct err *err) {
	size_t count = search->team_count;
	for (size_t k = 1; k < count && k <= TEAMS_BY_RUN; k++) {
		struct regions_setting any = {.threads = search->teams[count - k]};
		const struct regions_table table = {.trace = true,
		                                    .force = search->runs->options->force,
		                                    .any = &any,
		                                    .columns = 1,
		                                    .sizes = search->sizes,
		                                    .sizes_count = search->sizes_count};
		struct regions_run run;
		if (k > 1 && regions_left(search->runs, search->budget_s * REGIONS_SEARCH_SHARE) < search->baseline_s)
			break;
		if (regions_run_recorded(search->runs, &table, search->baseline, regions_limit_s(search), "explore", &run, err))
			return -1;
		for (size_t i = 0; i < search->baseline->count; i++) {
			size_t there = same_region(run.record, &search->baseline->regions[i]);
			double before = regions_seconds_in(&search->baseline->regions[i]);
			if (there == SIZE_MAX || before < REGIONS_SHARE_LEAST * search->baseline_s)
				continue;
			search->effects[i * count + count - k] =
				(struct regions_effect){.log = log(regions_seconds_in(&run.record->regions[there]) / before),
			                            .error = ERROR_BY_RUN,
			                            .stretches = 2};
		}
		if (*costs)
			regions_record_free(run.record);
		else
			*costs = run.record;
	}
	return 0;
}

static bool is_known(const struct regions_search *search, const size_t *plan) {
	size_t bytes = search->baseline->count * sizeof *plan, none = 0;
	for (size_t i = 0; i < search->baseline->count; i++)
		none += plan[i] == 0;
	if (none == search->baseline->count)
		return true;
	for (size_t k = 0; k < search->plan_count; k++)
		if (memcmp(search->plans[k], plan, bytes) == 0)
			return true;
	return false;
}

static void plan_add(struct regions_search *search, const size_t *plan, double seconds) {
	size_t bytes = search->baseline->count * sizeof *plan;
	if (is_known(search, plan) || (search->plan_count && seconds > PLAN_TIMES * search->plan_s[0]))
		return;
	size_t *copy = mem_alloc(search->baseline->count + 1, sizeof *copy);
	memcpy(copy, plan, bytes);
	search->plan_s[search->plan_count] = seconds;
	search->plans[search->plan_count++] = copy;
}

static void plans_make(struct regions_search *search, const struct regions_record *exploring) {
	const struct regions_plan_task task = {.baseline = search->baseline,
	                                       .exploring = exploring,
	                                       .effects = search->effects,
	                                       .teams = search->teams,
	                                       .team_count = search->team_count,
	                                       .threads_min_gain = REGIONS_GAIN_LEAST};
	mem_auto size_t *plan = mem_alloc(search->baseline->count + 1, sizeof *plan);
	double seconds = regions_plan(&task, search->level);
	plan_add(search, search->level, seconds);
	for (int uniform = 0; uniform < 2; uniform++) {
		seconds = regions_plan_common(&task, uniform, plan);
		plan_add(search, plan, seconds);
	}
}

static int teams_explore(struct regions_search *search, struct err *err) {
	size_t cells = search->baseline->count * search->team_count;
	struct regions_record *costs = NULL;
	double stretch = regions_stretch_choose(search, search->team_count), start = sys_now();
	search->effects = mem_alloc(cells, sizeof *search->effects);
	for (size_t i = 0; i < cells; i++)
		search->effects[i] = (struct regions_effect){.log = i % search->team_count ? NAN : 0};
	int failed = stretch > 0 ? explore_stretches(search, stretch, &costs, err) : explore_runs(search, &costs, err);
	if (!failed)
		plans_make(search, costs ? costs : search->baseline);
	regions_record_free(costs);
	search->runs->seconds.explore += sys_now() - start;
	return failed;
}

static const double CLEAR_GAIN = 0.05, CLEAR_ERRORS = 4; /* such a gain is not looked at again */
/* The gain that a plan with more changes needs over one with fewer if plans are not seen. */
static const double PLAN_GAIN_MODELLED = 0.05;
/* A plan that is not contradicted ranks behind those that are seen to be faster. */
static const double OPEN_SHARE = 1e-3, OPEN_ERRORS = 0.5, OPEN_ERRORS_SEEN = 2;
static const double CHANCE_ERRORS = 2, PLAN_GAIN_SEEN = 0.002;
static const double MODEL_ERROR = 0.1, SEEN_ERROR_LEAST = 0.005; /* of the logarithm of a plan's time */

/* Schedules that are tried of a loop: kind and chunk, or the chunk alone where the kind is compiled in. */
static const struct regions_setting runtime_variants[] = {{0, OMP_KIND_STATIC, 0},
                                                          {0, OMP_KIND_DYNAMIC, 1},
                                                          {0, OMP_KIND_DYNAMIC, 8},
                                                          {0, OMP_KIND_DYNAMIC, 64},
                                                          {0, OMP_KIND_GUIDED, 0}};
static const struct regions_setting chunk_variants[] = {{0, 0, 1}, {0, 0, 4}, {0, 0, 16}, {0, 0, 64}, {0, 0, 256}};
enum { VARIANTS = sizeof runtime_variants / sizeof *runtime_variants };
_Static_assert(1 + REGIONS_PLANS_MOST + VARIANTS <= OMP_SETTINGS, "columns of a table");

/* Columns: the default, each plan, and the first of these with each schedule. */
struct check {
	const struct regions_search *search;
	size_t plans, columns;
	struct regions_setting *rows;
	struct regions_effect *effects;
};

static const struct regions_setting *variants_of(const struct regions_search *search, size_t region) {
	const struct regions_region *one = &search->baseline->regions[region];
	if (regions_seconds_in(one) < REGIONS_SHARE_LEAST * search->baseline_s)
		return NULL;
	if (one->facts.sharing == OMP_LOOP_RUNTIME)
		return runtime_variants;
	bool chunked = one->facts.sharing == OMP_LOOP_DYNAMIC || one->facts.sharing == OMP_LOOP_GUIDED;
	return chunked ? chunk_variants : NULL;
}

static struct regions_setting chosen(const struct regions_search *search, size_t plan, size_t region) {
	const size_t *level = plan < search->plan_count ? search->plans[plan] : search->level;
	return (struct regions_setting){.threads = search->teams[level[region]]};
}

static bool check_rows(struct check *check) {
	const struct regions_search *search = check->search;
	bool any = search->plan_count > 0;
	for (size_t i = 0; i < search->baseline->count; i++) {
		const struct regions_setting *variants = variants_of(search, i);
		struct regions_setting *row = &check->rows[i * check->columns];
		any = any || variants;
		row[0] = (struct regions_setting){0};
		for (size_t k = 1; k < check->columns; k++) {
			size_t variant = k - 1 - check->plans;
			row[k] = chosen(search, k <= check->plans ? k - 1 : 0, i);
			if (k > check->plans && variants) {
				row[k].kind = variants[variant].kind;
				row[k].chunk = variants[variant].chunk;
			}
		}
	}
	return any;
}

/* Whether another run can add something: plans or schedules to try, or a team whose gain is not far beyond its error.
 */
static bool needs_check(const struct regions_search *search) {
	size_t level = SIZE_MAX;
	if (search->plan_count > 1)
		return true;
	/* A region of one thread finds its data in the caches of its neighbours' team, and the other way round. */
	for (size_t i = 0; i < search->baseline->count; i++) {
		if (regions_seconds_in(&search->baseline->regions[i]) < REGIONS_SHARE_LEAST * search->baseline_s)
			continue;
		if (level != SIZE_MAX && search->level[i] != level)
			return true;
		level = search->level[i];
	}
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
	return isfinite(effect->log) && effect->stretches > 1 && effect->log < log - REGIONS_GAIN_LEAST - 2 * error;
}

/* The schedule that is clearly better than the program's own with the same team, which is that of the first plan. */
static size_t variant_choose(const struct check *check, size_t region) {
	const struct regions_effect *effects = &check->effects[region * check->columns];
	size_t best = 1;
	double log = isfinite(effects[1].log) ? effects[1].log : 0;
	for (size_t k = 1 + check->plans; variants_of(check->search, region) && k < check->columns; k++)
		if (clear_of(&effects[k], best == 1 ? log : effects[best].log + REGIONS_GAIN_LEAST))
			best = k;
	return best;
}

/* A team of the first plan that turned out to be slower beside its neighbours is given up. */
static struct regions_setting decide(const struct check *check, size_t region) {
	const struct regions_setting *row = &check->rows[region * check->columns];
	const struct regions_effect *team = &check->effects[region * check->columns + 1];
	size_t variant = variant_choose(check, region);
	size_t plan = check->search->plan;
	struct regions_setting setting = plan == SIZE_MAX ? row[0] : row[1 + plan];
	setting.kind = row[variant].kind;
	setting.chunk = row[variant].chunk;
	if (plan == 0 && variant == 1 && isfinite(team->log) &&
	    team->log > REGIONS_GAIN_LEAST + 2 * (isfinite(team->error) ? team->error : 0))
		setting = row[0];
	return setting;
}

/* The logarithm of a plan's time against the default, as the model has it. */
static double plan_model(const struct regions_search *search, size_t plan) {
	double regions = 0;
	for (size_t i = 0; i < search->baseline->count; i++)
		regions += regions_seconds_in(&search->baseline->regions[i]);
	return log(fmax(search->plan_s[plan], search->baseline_s - regions + search->plan_s[plan]) /
	           fmax(regions, search->baseline_s));
}

/* The relative gain that the regions of a plan show one by one: those that it changes, and others as far as what they
 * lose or gain is more than chance. */
static double plan_gain_seen(const struct check *check, size_t plan) {
	const struct regions_search *search = check->search;
	double gain = 0;
	for (size_t i = 0; i < search->baseline->count; i++) {
		const struct regions_effect *effect = &check->effects[i * check->columns + 1 + plan];
		bool is_clear = isfinite(effect->error) && fabs(effect->log) > CHANCE_ERRORS * effect->error;
		if (isfinite(effect->log) && (search->plans[plan][i] || is_clear))
			gain += regions_seconds_in(&search->baseline->regions[i]) * (1 - exp(effect->log));
	}
	return gain / search->baseline_s;
}

/* A gain of small regions is lost in the noise of the large ones, which alone must not contradict it: the pairs of
 * whole runs that follow decide. */
static bool plan_is_open(const struct check *check, size_t plan, double model, const struct regions_effect *seen) {
	double error = fmax(seen->error, SEEN_ERROR_LEAST);
	double errors = plan_gain_seen(check, plan) > PLAN_GAIN_SEEN ? OPEN_ERRORS_SEEN : OPEN_ERRORS;
	return model < -REGIONS_PLAN_GAIN_LEAST && seen->log <= errors * error;
}

/* The same, of what the model says and what was seen, each by its precision: the model knows every region by many
 * calls, but not how its neighbours disturb it. */
static double plan_log(const struct check *check, size_t plan, const struct regions_effect *seen) {
	double weight = 1 / (MODEL_ERROR * MODEL_ERROR), model = plan_model(check->search, plan);
	if (!isfinite(seen->log) || !isfinite(seen->error))
		return model;
	double sight = 1 / pow(fmax(seen->error, SEEN_ERROR_LEAST), 2);
	double both = (weight * model + sight * seen->log) / (weight + sight);
	return plan_is_open(check, plan, model, seen) ? fmin(both, OPEN_SHARE * model - REGIONS_PLAN_GAIN_LEAST) : both;
}

/* The fastest plan as a whole but for `without`; SIZE_MAX: the default. */
static size_t plan_best(const struct regions_search *search, size_t without) {
	double best = -REGIONS_PLAN_GAIN_LEAST;
	size_t plan = SIZE_MAX;
	for (size_t k = 0; k < search->plan_count; k++)
		if (k != without && search->plan_log[k] < best) {
			best = search->plan_log[k];
			plan = k;
		}
	return plan;
}

size_t regions_plan_next(const struct regions_search *search) {
	return search->plan == SIZE_MAX ? SIZE_MAX : plan_best(search, search->plan);
}

static size_t plan_modelled(const struct regions_search *search) {
	size_t plan = search->plan_count;
	while (plan-- > 1)
		if (search->plan_s[plan] < (1 + PLAN_GAIN_MODELLED) * search->plan_s[0])
			return plan;
	return 0;
}

static void levels_set(struct regions_search *search, size_t plan) {
	for (size_t i = 0; i < search->baseline->count; i++)
		search->level[i] = plan < search->plan_count ? search->plans[plan][i] : 0;
}

static void settle(struct regions_search *search, struct check *check, const struct regions_record *record) {
	struct regions_effect totals[OMP_SETTINGS];
	regions_search_fit(search, record, check->columns, check->effects);
	regions_total(record, search->baseline, check->columns, totals);
	for (size_t k = 0; k < search->plan_count; k++)
		search->plan_log[k] = plan_log(check, k, &totals[1 + k]);
	search->plan = search->plan_count ? plan_best(search, SIZE_MAX) : 0;
	levels_set(search, search->plan);
	for (size_t i = 0; i < search->baseline->count; i++) {
		search->found->settings[i] = decide(check, i);
		if (search->found->settings[i].threads && search->plan != SIZE_MAX)
			search->seen[i] = check->effects[i * check->columns + 1 + search->plan].log;
	}
}

static int check_run(struct regions_search *search, struct check *check, double stretch, struct err *err) {
	const struct regions_table table = {.stretch_s = stretch,
	                                    .pause_s = regions_pause_choose(search, stretch, check->columns),
	                                    .calls_most = regions_calls_choose(search, stretch),
	                                    .seed = (unsigned)search->runs->options->seed + 11,
	                                    .trace = true,
	                                    .force = search->runs->options->force,
	                                    .rows = check->rows,
	                                    .columns = check->columns,
	                                    .sizes = search->sizes,
	                                    .sizes_count = search->sizes_count};
	struct regions_run run;
	int failed = regions_run_quiet(search->runs, &table, search->baseline, regions_limit_s(search), "check",
	                               search->budget_s * REGIONS_SEARCH_SHARE, &run, err);
	if (!failed) {
		settle(search, check, run.record);
		regions_record_free(run.record);
	}
	return failed;
}

static int plans_check(struct regions_search *search, struct err *err) {
	size_t count = search->baseline->count, variants = 0;
	for (size_t i = 0; i < count; i++)
		if (variants_of(search, i))
			variants = VARIANTS;
	struct check check = {.search = search, .plans = search->plan_count ? search->plan_count : 1};
	check.columns = 1 + check.plans + variants;
	check.rows = mem_alloc(count * check.columns, sizeof *check.rows);
	check.effects = mem_alloc(count * check.columns, sizeof *check.effects);
	search->seen = mem_alloc(count + 1, sizeof *search->seen);
	bool any = check_rows(&check);
	double stretch = regions_stretch_choose(search, check.columns), start = sys_now();
	int failed = 0;
	search->plan = plan_modelled(search);
	levels_set(search, search->plan);
	for (size_t k = 0; k < search->plan_count; k++)
		search->plan_log[k] = plan_model(search, k);
	for (size_t i = 0; i < count; i++) {
		search->seen[i] = NAN;
		search->found->settings[i] = chosen(search, search->plan, i);
	}
	if (any && stretch > 0 && needs_check(search) &&
	    regions_left(search->runs, search->budget_s * 0.7) > search->baseline_s)
		failed = check_run(search, &check, stretch, err);
	search->runs->seconds.explore += sys_now() - start;
	free(check.effects);
	free(check.rows);
	return failed;
}

int regions_explore(struct regions_search *search, struct err *err) {
	int failed = teams_explore(search, err) || plans_check(search, err) ? -1 : 0;
	if (!failed)
		regions_settings_finish(search);
	return failed;
}
