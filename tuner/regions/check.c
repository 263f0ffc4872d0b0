/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run in which the teams chosen together, with several schedules, alternate with the default. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/sys.h"
#include "tuner/regions/search_impl.h"

static const double CLEAR_GAIN = 0.05, CLEAR_ERRORS = 4; /* such a gain is not looked at again */

/* Schedules that are tried of a loop: kind and chunk, or the chunk alone where the kind is compiled in. */
static const struct regions_setting runtime_variants[] = {{0, OMP_KIND_STATIC, 0},
                                                          {0, OMP_KIND_DYNAMIC, 1},
                                                          {0, OMP_KIND_DYNAMIC, 8},
                                                          {0, OMP_KIND_DYNAMIC, 64},
                                                          {0, OMP_KIND_GUIDED, 0}};
static const struct regions_setting chunk_variants[] = {{0, 0, 1}, {0, 0, 4}, {0, 0, 16}, {0, 0, 64}, {0, 0, 256}};
enum { VARIANTS = sizeof runtime_variants / sizeof *runtime_variants, CHECK_COLUMNS = 2 + VARIANTS };

static const struct regions_setting *variants_of(const struct regions_search *search, size_t region) {
	const struct regions_region *one = &search->baseline->regions[region];
	if (regions_seconds_in(one) < REGIONS_SHARE_LEAST * search->baseline_s)
		return NULL;
	if (one->facts.sharing == OMP_LOOP_RUNTIME)
		return runtime_variants;
	bool chunked = one->facts.sharing == OMP_LOOP_DYNAMIC || one->facts.sharing == OMP_LOOP_GUIDED;
	return chunked ? chunk_variants : NULL;
}

static struct regions_setting chosen(const struct regions_search *search, size_t region) {
	return (struct regions_setting){.threads = search->teams[search->level[region]]};
}

/* Columns: the default, the teams chosen, and these with each schedule. */
static bool check_rows(const struct regions_search *search, size_t columns, struct regions_setting *rows) {
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
static bool needs_check(const struct regions_search *search) {
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

/* The schedule that is clearly better than the program's own with the same team; a team that turned out to be slower
 * beside its neighbours is given up. */
static void decide(const struct regions_search *search, size_t region, const struct regions_effect *effects,
                   size_t columns, const struct regions_setting *row, struct regions_setting *setting) {
	const struct regions_effect *team = &effects[region * columns + 1];
	size_t best = 1;
	double log = isfinite(team->log) ? team->log : 0;
	for (size_t k = 2; variants_of(search, region) && k < columns; k++)
		if (clear_of(&effects[region * columns + k],
		             best == 1 ? log : effects[region * columns + best].log + REGIONS_GAIN_LEAST))
			best = k;
	*setting = row[best];
	if (best == 1 && isfinite(team->log) &&
	    team->log > REGIONS_GAIN_LEAST + 2 * (isfinite(team->error) ? team->error : 0))
		*setting = (struct regions_setting){0};
}

int regions_check(struct regions_search *search, struct err *err) {
	size_t count = search->baseline->count, columns = 2;
	for (size_t i = 0; i < count; i++)
		if (variants_of(search, i))
			columns = CHECK_COLUMNS;
	struct regions_setting *rows = mem_alloc(count * columns, sizeof *rows);
	struct regions_effect *effects = mem_alloc(count * columns, sizeof *effects);
	bool any = check_rows(search, columns, rows);
	double stretch = regions_stretch_choose(search, columns), start = sys_now();
	int failed = 0;
	for (size_t i = 0; i < count; i++)
		search->found->settings[i] = chosen(search, i);
	if (any && stretch > 0 && needs_check(search) &&
	    regions_left(search->runs, search->budget_s * 0.7) > search->baseline_s) {
		const struct regions_table table = {.stretch_s = stretch,
		                                    .pause_s = regions_pause_choose(search, stretch, columns),
		                                    .calls_most = regions_calls_choose(search, stretch),
		                                    .seed = (unsigned)search->runs->options->seed + 11,
		                                    .trace = true,
		                                    .force = search->runs->options->force,
		                                    .rows = rows,
		                                    .columns = columns,
		                                    .sizes = search->sizes,
		                                    .sizes_count = search->sizes_count};
		struct regions_run run;
		failed = regions_run_quiet(search->runs, &table, search->baseline, regions_limit_s(search), "check",
		                           search->budget_s * REGIONS_SEARCH_SHARE, &run, err);
		if (!failed) {
			regions_search_fit(search, run.record, columns, effects);
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
