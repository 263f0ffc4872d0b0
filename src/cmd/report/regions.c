/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parallel regions that `tune --regions` has tuned: their time before and after, and their efficiency over team size.
 */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "src/cmd/regions/file.h"
#include "src/cmd/report/report.h"

enum { BARS_MAX = 12, LINES_MAX = 6, TEAMS_MAX = 16 };
static const double SMALL = 0.01;

static const char *name_of(struct report *report, const json_t *region) {
	const char *place = js_string_or(region, "place", "");
	return arena_printf(report->arena, "%s%s%s%s", js_string_or(region, "name", "?"), *place ? " (" : "", place,
	                    *place ? ")" : "");
}

/* With its place only where another region has the same name. */
static const char *short_name_of(struct report *report, const json_t *regions, size_t number) {
	const json_t *region = json_array_get(regions, number);
	const char *name = js_string_or(region, "name", "?");
	for (size_t i = 0; i < json_array_size(regions); i++)
		if (i != number && strcmp(js_string_or(json_array_get(regions, i), "name", "?"), name) == 0)
			return name_of(report, region);
	return name;
}

/* Those that matter come first. */
static size_t shown_count(const json_t *regions, size_t most) {
	size_t i = 0;
	while (i < json_array_size(regions) && i < most && js_real_or(json_array_get(regions, i), "share", 0) >= SMALL)
		i++;
	return i;
}

static void bars_put(struct report *report, const char *program, const json_t *regions) {
	size_t count = shown_count(regions, BARS_MAX);
	struct chart_point *before = arena_alloc(report->arena, count + 1, sizeof *before);
	struct chart_point *after = arena_alloc(report->arena, count + 1, sizeof *after);
	const char **names = arena_alloc(report->arena, count + 1, sizeof *names);
	for (size_t i = 0; i < count; i++) {
		const json_t *region = json_array_get(regions, i);
		double time = js_real_or(region, "time", NAN);
		names[i] = short_name_of(report, regions, i);
		before[i] = (struct chart_point){(double)i, time, NAN, NAN};
		after[i] = (struct chart_point){(double)i, time / js_real_or(region, "gain", 1), NAN, NAN};
	}
	const struct chart_series series[] = {{"before", CHART_BARS, before, count}, {"after", CHART_BARS, after, count}};
	const struct chart chart = {.title = arena_printf(report->arena, "%s: time by region", program),
	                            .x_label = "region",
	                            .y_label = "time in one run (s)",
	                            .description =
	                                "Seconds that one run spends in each region: as measured, and as fitted with "
	                                "the settings found.",
	                            .x_names = names,
	                            .x_name_count = count,
	                            .series = series,
	                            .series_count = 2};
	if (count)
		charts_add(report->charts, arena_printf(report->arena, "%s-regions", program), &chart);
}

/* Seconds of one thread, over threads times their seconds. */
static size_t line_make(const json_t *region, struct chart_point *points) {
	const json_t *teams = json_object_get(region, "teams");
	double one = NAN;
	size_t i, count = 0;
	json_t *team;
	json_array_foreach((json_t *)teams, i, team) {
		if (js_int_or(team, "threads", 0) == 1)
			one = js_real_or(team, "time", NAN);
	}
	for (int64_t threads = 1; isfinite(one) && threads <= 4096 && count < TEAMS_MAX; threads++)
		json_array_foreach((json_t *)teams, i, team) {
			double time = js_real_or(team, "time", NAN);
			if (js_int_or(team, "threads", 0) == threads && time > 0 && count < TEAMS_MAX)
				points[count++] = (struct chart_point){(double)threads, one / ((double)threads * time), NAN, NAN};
		}
	return count;
}

static void efficiency_put(struct report *report, const char *program, const json_t *regions) {
	size_t most = shown_count(regions, LINES_MAX), count = 0;
	struct chart_series *series = arena_alloc(report->arena, most + 1, sizeof *series);
	for (size_t i = 0; i < most; i++) {
		struct chart_point *points = arena_alloc(report->arena, TEAMS_MAX, sizeof *points);
		size_t known = line_make(json_array_get(regions, i), points);
		if (known > 1)
			series[count++] =
				(struct chart_series){name_of(report, json_array_get(regions, i)), CHART_LINE, points, known};
	}
	const struct chart chart = {.title = arena_printf(report->arena, "%s: efficiency by team size", program),
	                            .x_label = "threads (count)",
	                            .y_label = "efficiency (1 = perfect)",
	                            .description = "Time of one thread over the number of threads times their time.",
	                            .series = series,
	                            .series_count = count};
	if (count)
		charts_add(report->charts, arena_printf(report->arena, "%s-regions-efficiency", program), &chart);
}

static void setting_put(struct html_table *table, const json_t *setting) {
	int64_t chunk = js_int_or(setting, "chunk", 0);
	const char *schedule = js_string_or(setting, "schedule", "");
	if (chunk)
		html_table_text(table, "%.3g threads %s chunk %lld", js_real_or(setting, "threads", NAN), schedule,
		                (long long)chunk);
	else
		html_table_text(table, "%.3g threads %s", js_real_or(setting, "threads", NAN), schedule);
}

static void table_put(struct report *report, const json_t *regions) {
	static const char *const titles[] = {"region", "\1calls", "\1time",      "\1share", "before",
	                                     "after",  "\1gain",  "\1imbalance", "\2limit", NULL};
	struct html_table table;
	size_t i;
	json_t *region;
	html_table_begin(&table, report->html, "Parallel regions, by the time that one run spends in them", titles);
	json_array_foreach((json_t *)regions, i, region) {
		double time = js_real_or(region, "time", NAN), share = js_real_or(region, "share", NAN);
		double gain = js_real_or(region, "gain", NAN), imbalance = js_real_or(region, "imbalance", NAN);
		html_table_row(&table);
		html_table_text(&table, "%s", name_of(report, region));
		html_table_number(&table, js_real_or(region, "calls", NAN), "%lld", (long long)js_int_or(region, "calls", 0));
		html_table_number(&table, time, "%.4g s", time);
		html_table_number(&table, share, "%.1f %%", 100 * share);
		setting_put(&table, json_object_get(region, "baseline"));
		setting_put(&table, json_object_get(region, "best"));
		html_table_number(&table, gain, "%.2fx", gain);
		html_table_number(&table, imbalance, "%.0f %%", 100 * imbalance);
		html_table_text(&table, "%s", js_string_or(region, "limit_text", ""));
	}
	html_table_end(&table);
}

static const char *program_of(const json_t *document) {
	const char *path = js_string_or(document, "program", "?"), *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static int document_put(void *ctx, const json_t *document) {
	struct report *report = ctx;
	const json_t *regions = json_object_get(document, "regions"), *speedup = json_object_get(document, "speedup");
	const char *program = program_of(document), *anchor = arena_printf(report->arena, "regions-%zu", report->regions);
	char gain[64];
	report_ratio(js_real_or(speedup, "ratio", NAN), json_object_get(speedup, "ci"), gain, sizeof gain);
	html_begin(report->html, "section", "class", "regions", "id", anchor, NULL);
	html_begin(report->html, "h2", NULL);
	html_text(report->html, program);
	html_element(report->html, "small", NULL, " by parallel region");
	html_end(report->html);
	html_begin(report->html, "p", "class", "lead", NULL);
	html_printf(report->html, "A team and a schedule for each region: ");
	html_element(report->html, "strong", NULL, "%s%s%s", js_string_or(document, "verdict", "undecided"),
	             *gain ? ", " : "", gain);
	if (js_bool_or(document, "busy", false))
		html_printf(report->html, ". The machine was too busy to decide, so these settings are not used.");
	html_end(report->html);
	html_begin(report->html, "div", "class", "figures", NULL);
	bars_put(report, program, regions);
	efficiency_put(report, program, regions);
	html_end(report->html);
	table_put(report, regions);
	html_end(report->html);
	report->regions++;
	return 0;
}

static bool are_shown(const struct report *report) {
	return opt_words(report->args) == 0 && !report->from && !report->is_foreign && !app_device(report->app);
}

void report_regions(struct report *report) {
	if (are_shown(report))
		regions_files_each(report->args, document_put, report);
}

struct entries {
	struct report *report;
	size_t count;
};

static int entry_put(void *ctx, const json_t *document) {
	struct entries *entries = ctx;
	struct html *html = entries->report->html;
	html_begin(html, "li", NULL);
	html_begin(html, "a", "href", arena_printf(entries->report->arena, "#regions-%zu", entries->count++), NULL);
	html_text(html, program_of(document));
	html_end(html);
	html_element(html, "small", NULL, " by parallel region");
	html_end(html);
	return 0;
}

void report_regions_entries(struct report *report) {
	struct entries entries = {.report = report};
	if (are_shown(report))
		regions_files_each(report->args, entry_put, &entries);
}

static int one(void *ctx, const json_t *document) {
	(void)ctx;
	(void)document;
	return 1;
}

bool report_regions_any(const struct opt_args *args) {
	return opt_words(args) == 0 && !opt_has(args, "machine") && !opt_has(args, "device") &&
	       regions_files_each(args, one, NULL) != 0;
}
