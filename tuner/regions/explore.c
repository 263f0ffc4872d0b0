/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One or two runs in which stretches of time have different teams, in blocks of random order. A program that calls its
 * regions a few times only does not have stretches: each team then gets a run of its own. */
#include <math.h>

#include "base/mem.h"
#include "base/sys.h"
#include "tuner/race/numbers.h"
#include "tuner/regions/search_impl.h"

enum { CALLS_A_STRETCH = 4, EXPLORING_RUNS = 2, TEAMS_BY_RUN = 4 };
static const double STRETCH_LEAST = 2e-3, ERROR_BY_RUN = 0.02, LIMIT_TIMES = 6, LIMIT_SECONDS = 10;
static const double LIMIT_TIMES_LEAST = 2, LIMIT_SECONDS_LEAST = 1;
/* A plan that the model puts farther behind is not looked at. */
static const double PLAN_TIMES = 1.35;

double regions_seconds_in(const struct regions_region *region) {
	return 1e-9 * (double)region->facts.ns;
}

static size_t same_region(const struct regions_record *record, const struct regions_region *wanted) {
	return regions_record_find(record, wanted->module, wanted->offset, wanted->facts.size_class);
}

double regions_stretch_choose(const struct regions_search *search, size_t columns) {
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
double regions_pause_choose(const struct regions_search *search, double stretch, size_t columns) {
	return fmax(0, search->baseline_s / RACE_BLOCKS_OF_REGION_SPREAD - stretch * (double)columns);
}

/* Twice the calls that the program makes in a stretch today. */
unsigned long long regions_calls_choose(const struct regions_search *search, double stretch) {
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

void regions_search_fit(const struct regions_search *search, const struct regions_record *record, size_t columns,
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

int regions_explore(struct regions_search *search, struct err *err) {
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
