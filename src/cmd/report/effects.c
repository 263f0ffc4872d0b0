/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Effects of the parameters: the share of each, interactions of pairs, the path from the baseline to the winner, and
 * the neighbours of the winner. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "src/cmd/explain/text.h"
#include "src/cmd/report/report.h"
#include "src/show/results.h"

enum { BARS_MAX = 20 };

static double end_of(const json_t *object, const char *key, size_t end) {
	return report_end(json_object_get(object, key), end);
}

/* Error bars may be this many times as long as the longest bar. */
static const double ROOM = 1.3;

static double most_of(const json_t *effects, const char *key) {
	double most = 0;
	size_t i;
	json_t *effect;
	json_array_foreach((json_t *)effects, i, effect) most = fmax(most, js_real_or(effect, key, 0));
	return most;
}

static bool has_shares(const json_t *effects) {
	return json_is_number(json_object_get(json_array_get(effects, 0), "share"));
}

static void bars_draw(struct report *report, const struct report_section *section, const json_t *effects) {
	bool shares = has_shares(effects);
	const char *key = shares ? "share" : "ratio", *ci = shares ? "share_ci" : "ci";
	double factor = shares ? 100 : 1;
	const char **names = arena_alloc(report->arena, BARS_MAX, sizeof *names);
	struct chart_point *points = arena_alloc(report->arena, BARS_MAX, sizeof *points);
	struct chart_series *series = arena_alloc(report->arena, 1, sizeof *series);
	size_t count = 0, i;
	json_t *effect;
	double most = most_of(effects, key);
	bool cut = false;
	json_array_foreach((json_t *)effects, i, effect) {
		double value = js_real_or(effect, key, NAN);
		if (!isfinite(value) || count == BARS_MAX)
			continue;
		double high = end_of(effect, ci, 1);
		cut = cut || high > ROOM * most;
		names[count] = js_string_or(effect, "param", "?");
		points[count] = (struct chart_point){(double)count, factor * value, factor * end_of(effect, ci, 0),
		                                     factor * (high > ROOM * most ? ROOM * most : high)};
		count++;
	}
	if (count == 0)
		return;
	*series = (struct chart_series){NULL, CHART_BARS, points, count};
	const struct chart chart = {
		.title = report_title(report, section, NULL, "effect of each parameter"),
		.x_label = "parameter",
		.y_label = shares ? "share of variance (%)" : "worst / best value (x)",
		.description = arena_printf(
			report->arena, "%s; the largest effect is that of %s with %.3g%s. Error bars are 95 %% intervals%s.",
			shares ? "Share of the variance of the logarithm" : "Ratio of the worst to the best value", names[0],
			points[0].y, shares ? " %" : "x", cut ? ", cut at the upper edge" : ""),
		.x_names = names,
		.x_name_count = count,
		.series = series,
		.series_count = 1,
	};
	html_begin(report->html, "div", "class", "figures", NULL);
	charts_add(report->charts, arena_printf(report->arena, "%s-effects", section->kernel), &chart);
	report_parallel(report, section);
	html_end(report->html);
	if (cut)
		html_element(report->html, "p", "note",
		             "Some intervals reach beyond the chart, so that they do not flatten its bars; the numbers have "
		             "them whole.");
}

static void value_put(struct html_table *table, const json_t *value) {
	char text[80];
	explain_value_text(value, text, sizeof text);
	html_table_text(table, "%s", text);
}

static void effect_row(struct html_table *table, const json_t *effect, const json_t *winner) {
	double ratio = js_real_or(effect, "ratio", NAN), share = 100 * js_real_or(effect, "share", NAN);
	double low = end_of(effect, "ci", 0), high = end_of(effect, "ci", 1);
	html_table_row(table);
	html_table_text(table, "%s", js_string_or(effect, "param", "?"));
	html_table_number(table, share, "%.3g %%", share);
	html_table_number(table, ratio, "%.3gx", ratio);
	html_table_number(table, low, "%.3gx", low);
	html_table_number(table, high, "%.3gx", high);
	value_put(table, json_object_get(effect, "best"));
	value_put(table, json_object_get(effect, "worst"));
	value_put(table, json_object_get(winner, js_string_or(effect, "param", "")));
	html_table_number(table, (double)js_int_or(effect, "seen", 0), "%lld", (long long)js_int_or(effect, "seen", 0));
}

static void effects_table(struct report *report, const struct report_section *section, const json_t *effects) {
	static const char *const titles[] = {"parameter",  "\1share",     "\1worst / best", "\1from",   "\1to",
	                                     "best value", "worst value", "winner",         "\1values", NULL};
	const json_t *winner = json_object_get(json_object_get(section->result, "winner"), "config");
	struct html_table table;
	size_t i;
	json_t *effect;
	charts_numbers_begin(report->charts, "numbers: effects");
	html_table_begin(&table, report->html, "Effect of each parameter", titles);
	json_array_foreach((json_t *)effects, i, effect) effect_row(&table, effect, winner);
	html_table_end(&table);
	charts_numbers_end(report->charts);
}

static void pairs_table(struct report *report, const json_t *pairs) {
	static const char *const titles[] = {"parameter", "with", "\1share", "\1from", "\1to", NULL};
	struct html_table table;
	size_t i;
	json_t *one;
	if (json_array_size(pairs) == 0)
		return;
	html_table_begin_folded(&table, report->html, "interactions of parameters",
	                        "Share of the variance of each pair, beyond the shares of its two parameters", titles);
	json_array_foreach((json_t *)pairs, i, one) {
		const double values[] = {js_real_or(one, "share", NAN), end_of(one, "share_ci", 0), end_of(one, "share_ci", 1)};
		html_table_row(&table);
		for (size_t k = 0; k < 2; k++) {
			const char *name = json_string_value(json_array_get(json_object_get(one, "params"), k));
			html_table_text(&table, "%s", name ? name : "?");
		}
		for (size_t k = 0; k < 3; k++)
			html_table_number(&table, values[k], "%.3g %%", 100 * values[k]);
	}
	html_table_end(&table);
}

static void path_table(struct report *report, const json_t *result) {
	static const char *const titles[] = {"\1step", "\2change", "\2before", "\1speedup",
	                                     "\1from", "\1to",     "source",   NULL};
	const json_t *path = json_object_get(result, "path");
	bool faster = strcmp(js_string_or(result, "verdict", ""), "faster") == 0 || json_object_get(result, "table");
	struct html_table table;
	size_t i;
	json_t *one;
	if (json_array_size(path) == 0)
		return;
	html_table_begin_folded(&table, report->html, "from the baseline to the winner, one change at a time",
	                        faster ? "The settings that make it fast"
	                               : "The settings that differ, which are not proven to be faster",
	                        titles);
	json_array_foreach((json_t *)path, i, one) {
		const double values[] = {js_real_or(one, "ratio", NAN), end_of(one, "ci", 0), end_of(one, "ci", 1)};
		char *set = results_config(json_object_get(one, "set"), NULL),
			 *was = results_config(json_object_get(one, "was"), NULL);
		html_table_row(&table);
		html_table_number(&table, (double)i + 1, "%zu", i + 1);
		html_table_text(&table, "%s", set);
		html_table_text(&table, "%s", was);
		for (size_t k = 0; k < 3; k++)
			html_table_number(&table, values[k], "%.3gx", values[k]);
		html_table_text(&table, "%s", js_bool_or(one, "measured", false) ? "measured" : "predicted");
		free(set);
		free(was);
	}
	html_table_end(&table);
}

static void landscape_describe(struct report *report, const json_t *landscape) {
	static const struct {
		const char *verdict, *sentence;
	} sentences[] = {
		{"fragile", "The winner is on a peak: a neighbouring value of some parameter is clearly slower."},
		{"plateau", "The winner is on a plateau: its neighbours are about as fast."},
		{"partly flat", "For some parameters, the neighbours of the winner are about as fast."},
		{"unclear", "The measurements do not show whether the neighbours of the winner are as fast."},
	};
	const char *verdict = js_string_or(landscape, "verdict", "");
	for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
		if (strcmp(verdict, sentences[i].verdict) == 0)
			html_element(report->html, "p", NULL, "%s", sentences[i].sentence);
}

void report_effects(struct report *report, const struct report_section *section) {
	const json_t *effects = json_object_get(section->result, "effects");
	const char *reason = js_string_or(json_object_get(section->result, "variance"), "reason", NULL);
	report_heading(report, "Effect of each parameter");
	if (json_array_size(effects) == 0) {
		report_absent(report, "No parameter was varied, so the effects are unknown. This command measures them:",
		              report_advice(report, section, "tune", ""));
		return;
	}
	bars_draw(report, section, effects);
	if (reason)
		html_element(report->html, "p", "note", "Shares of the variance are unknown: %s.", reason);
	effects_table(report, section, effects);
	pairs_table(report, json_object_get(section->result, "interactions"));
	path_table(report, section->result);
	landscape_describe(report, json_object_get(section->result, "landscape"));
}
