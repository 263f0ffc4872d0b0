/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>

#include "base/mem.h"
#include "tuner/regions/regions_impl.h"

static void columns_print(FILE *out, const struct regions_setting *settings, size_t count) {
	for (size_t i = 0; i < count; i++) {
		fprintf(out, " %u", settings[i].threads);
		if (settings[i].kind || settings[i].chunk)
			fprintf(out, ":%d:%u", settings[i].kind, settings[i].chunk);
	}
	fputc('\n', out);
}

static void modules_print(FILE *out, const struct regions_record *record) {
	for (size_t i = 0; i < record->module_count && i < OMP_MODULES; i++)
		fprintf(out, "module %zu %s\n", i, record->modules[i].build_id);
}

static void sizes_print(FILE *out, const struct regions_table *table) {
	for (size_t i = 0; i < table->sizes_count && i < OMP_SEEN; i++) {
		const struct regions_sizes *sizes = &table->sizes[i];
		if (sizes->module_number >= OMP_MODULES)
			continue;
		fprintf(out, "size %u %" PRIx64 " %u", sizes->module_number, sizes->offset, sizes->measure);
		for (unsigned k = 0; k < sizes->count; k++)
			fprintf(out, " %u:%" PRId64, sizes->numbers[k], sizes->upto[k]);
		fputc('\n', out);
	}
}

static void rows_print(FILE *out, const struct regions_table *table, const struct regions_record *record) {
	for (size_t i = 0; i < record->count && i < OMP_REGIONS; i++) {
		if (record->regions[i].module_number >= OMP_MODULES)
			continue;
		fprintf(out, "region %u %" PRIx64, record->regions[i].module_number, record->regions[i].offset);
		if (record->regions[i].facts.size_class)
			fprintf(out, "/%u", record->regions[i].facts.size_class);
		columns_print(out, &table->rows[i * table->columns], table->columns);
	}
}

char *regions_table_text(const struct regions_table *table, const struct regions_record *record) {
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	fputs("sweetspot-omp 1\n", out);
	if (table->stretch_s > 0)
		fprintf(out, "stretch %" PRIu64 " %u %" PRIu64 " %llu\n", (uint64_t)(1e9 * table->stretch_s), table->seed,
		        (uint64_t)(1e9 * table->pause_s), table->calls_most);
	fprintf(out, "%s%s%s%s", table->trace ? "trace\n" : "", table->busy ? "busy\n" : "", table->force ? "force\n" : "",
	        table->learn ? "learn\n" : "");
	if (table->team_count) {
		fputs("teams", out);
		for (size_t i = 0; i < table->team_count; i++)
			fprintf(out, " %u", table->teams[i]);
		fputc('\n', out);
	}
	if (record && (table->sizes_count || !table->any))
		modules_print(out, record);
	sizes_print(out, table);
	if (table->any) {
		fputs("any", out);
		columns_print(out, table->any, table->columns);
	} else if (record) {
		rows_print(out, table, record);
	}
	if (fclose(out)) {
		free(text);
		return mem_strdup("");
	}
	return text;
}

/* The settings of a search: what they gain, and the table that the library reads. */
void regions_settings_finish(const struct regions_search *search) {
	struct regions_found *found = search->found;
	found->effects = search->effects;
	found->teams = search->teams;
	found->team_count = search->team_count;
	found->changed = 0;
	for (size_t i = 0; i < search->baseline->count; i++) {
		const struct regions_setting *setting = &found->settings[i];
		double log = search->effects[i * search->team_count + search->level[i]].log;
		if (search->seen && isfinite(search->seen[i]))
			log = search->seen[i];
		found->gain[i] = isfinite(log) && setting->threads ? exp(-log) : NAN;
		found->changed += regions_setting_changes(setting);
	}
}

/* A sample of the calls is enough to count the changes of the team. */
enum { CALLS_MOST = 20000, SWEEPS = 8 };
static const double SMALL = 0.01; /* of the time in regions */

static const struct regions_effect *effect_of(const struct regions_plan_task *task, size_t region, size_t level) {
	return &task->effects[region * task->team_count + level];
}

/* A level may be chosen where it was seen, and where the default or a clear gain speaks for it. */
static bool is_open(const struct regions_plan_task *task, size_t region, size_t level) {
	const struct regions_effect *effect = effect_of(task, region, level);
	const struct omp_region *facts = &task->baseline->regions[region].facts;
	return level == 0 || (isfinite(effect->log) && effect->stretches > 1 && facts->fixed < facts->calls);
}

static bool is_clear(const struct regions_plan_task *task, size_t region, size_t level) {
	const struct regions_effect *effect = effect_of(task, region, level);
	double error = isfinite(effect->error) ? effect->error : 0;
	return level == 0 || effect->log < -task->threads_min_gain - 2 * error;
}

static double region_seconds(const struct regions_plan_task *task, size_t region, size_t level) {
	double log = effect_of(task, region, level)->log;
	return 1e-9 * (double)task->baseline->regions[region].facts.ns * (level && isfinite(log) ? exp(log) : 1);
}

static int cost_index(const struct omp_record *raw, unsigned team) {
	for (uint32_t i = 0; i < raw->team_count; i++)
		if (raw->teams[i] == team)
			return (int)i;
	return -1;
}

/* Seconds that one change from a team to another costs beyond what both cost in turn with themselves. */
static double change_seconds(const struct regions_plan_task *task, unsigned from, unsigned to) {
	const struct omp_record *raw = task->exploring->raw;
	int a = cost_index(raw, from), b = cost_index(raw, to);
	if (a < 0 || b < 0)
		return 0;
	double extra = (double)raw->team_cost[a][b] - 0.5 * ((double)raw->team_cost[a][a] + (double)raw->team_cost[b][b]);
	return isfinite(extra) && extra > 0 ? extra : 0;
}

static unsigned team_of(const struct regions_plan_task *task, size_t level) {
	return level || task->teams[0] ? task->teams[level] : task->baseline->raw->default_threads;
}

/* A team of one does not touch the runtime's pool of threads, so it is not a change. */
static double changes_seconds(const struct regions_plan_task *task, const size_t *level) {
	const struct regions_record *record = task->baseline;
	size_t count = record->call_count < CALLS_MOST ? record->call_count : CALLS_MOST;
	unsigned pool = 0;
	double sum = 0;
	for (size_t i = 0; i < count; i++) {
		unsigned team = team_of(task, level[record->raw->calls[i].region]);
		if (team <= 1)
			continue;
		if (pool && team != pool)
			sum += change_seconds(task, pool, team);
		pool = team;
	}
	return count ? sum * (double)record->raw->call_count / (double)count : 0;
}

/* The modelled seconds of all regions in one run with these levels. */
static double regions_plan_seconds(const struct regions_plan_task *task, const size_t *level) {
	double sum = changes_seconds(task, level);
	for (size_t i = 0; i < task->baseline->count; i++)
		sum += region_seconds(task, i, level[i]);
	return sum;
}

/* One region after the other gets the level that is best for all together, until nothing changes. */
static double descend(const struct regions_plan_task *task, size_t *level) {
	double best = regions_plan_seconds(task, level);
	bool changed = true;
	for (int sweep = 0; changed && sweep < SWEEPS; sweep++) {
		changed = false;
		for (size_t i = 0; i < task->baseline->count; i++) {
			size_t keep = level[i];
			for (size_t k = 0; k < task->team_count; k++) {
				size_t was = level[i];
				if (k == was || !is_open(task, i, k) || !is_clear(task, i, k))
					continue;
				level[i] = k;
				double seconds = regions_plan_seconds(task, level);
				if (seconds < best)
					best = seconds;
				else
					level[i] = was;
			}
			changed = changed || level[i] != keep;
		}
	}
	return best;
}

/* Starts: the default; each region's own best; one team for all that may have it, because a common team saves changes.
 */
static void start_make(const struct regions_plan_task *task, size_t start, size_t *level) {
	for (size_t i = 0; i < task->baseline->count; i++) {
		level[i] = 0;
		if (start >= 2 && is_open(task, i, start - 1))
			level[i] = start - 1;
		for (size_t k = 1; start == 1 && k < task->team_count; k++)
			if (is_open(task, i, k) && is_clear(task, i, k) &&
			    region_seconds(task, i, k) < region_seconds(task, i, level[i]))
				level[i] = k;
	}
}

/* A region that was not seen often enough follows the others if it cannot matter, because it would change their team.
 */
static bool may_follow(const struct regions_plan_task *task, size_t region, double seconds) {
	const struct omp_region *facts = &task->baseline->regions[region].facts;
	return facts->fixed < facts->calls && 1e-9 * (double)facts->ns < SMALL * seconds;
}

static bool is_better_alone(const struct regions_plan_task *task, size_t region, size_t one, size_t team) {
	const struct regions_effect *alone = effect_of(task, region, one), *with = effect_of(task, region, team);
	double error = hypot(isfinite(alone->error) ? alone->error : 0, team && isfinite(with->error) ? with->error : 0);
	return is_open(task, region, one) && alone->log < with->log - task->threads_min_gain - 2 * error;
}

static void common_make(const struct regions_plan_task *task, size_t team, bool uniform, size_t *level) {
	size_t one = 0;
	double seconds = 0;
	for (size_t k = 1; k < task->team_count; k++)
		if (task->teams[k] == 1)
			one = k;
	for (size_t i = 0; i < task->baseline->count; i++)
		seconds += region_seconds(task, i, 0);
	for (size_t i = 0; i < task->baseline->count; i++) {
		level[i] = is_open(task, i, team) || (task->teams[team] > 1 && may_follow(task, i, seconds)) ? team : 0;
		if (!uniform && one && is_better_alone(task, i, one, level[i]))
			level[i] = one;
	}
}

double regions_plan_common(const struct regions_plan_task *task, bool uniform, size_t *level) {
	size_t count = task->baseline->count, *mine = mem_alloc(count + 1, sizeof *mine);
	double best = INFINITY;
	for (size_t team = 0; team < task->team_count; team++) {
		common_make(task, team, uniform, mine);
		double seconds = regions_plan_seconds(task, mine);
		if (seconds < best) {
			best = seconds;
			memcpy(level, mine, count * sizeof *level);
		}
	}
	free(mine);
	return best;
}

double regions_plan(const struct regions_plan_task *task, size_t *level) {
	size_t count = task->baseline->count, *mine = mem_alloc(count + 1, sizeof *mine);
	double best = INFINITY;
	for (size_t start = 0; start <= task->team_count; start++) {
		start_make(task, start, mine);
		double seconds = descend(task, mine);
		/* A common team also moves regions for which nothing clear speaks, so that it must save more than they might
		 * lose. */
		double gain = start < 2 ? 1e-6 : task->threads_min_gain;
		if (seconds < best * (1 - gain)) {
			best = seconds;
			memcpy(level, mine, count * sizeof *level);
		}
	}
	free(mine);
	return best;
}
