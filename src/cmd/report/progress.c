/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the searches went: the best so far, how trials ended, how much noise there was. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/cmd/report/report.h"

enum { LINES_MAX = 8, POINTS_MAX = 200 };

static bool is_search(const struct report_search *search) {
	return search->evaluations > 1 && search->best_count > 0;
}

static double most_of(const struct report_case *one) {
	double most = 0;
	for (size_t i = 0; i < one->search_count; i++)
		for (size_t k = 0; is_search(&one->searches[i]) && k < one->searches[i].best_count; k++)
			most = fmax(most, report_shown(one, one->searches[i].best[k].y));
	return most;
}

static void line_add(struct report *report, const struct report_case *one, const struct report_search *search,
                     struct report_scale scale, struct chart_series *series) {
	size_t count = search->best_count < POINTS_MAX ? search->best_count : POINTS_MAX;
	struct chart_point *points = arena_alloc(report->arena, count, sizeof *points);
	for (size_t i = 0; i < count; i++) {
		points[i] = search->best[count < 2 ? 0 : i * (search->best_count - 1) / (count - 1)];
		points[i].y = report_shown(one, points[i].y) * scale.factor;
	}
	*series =
		(struct chart_series){arena_printf(report->arena, "search %lld, %s", (long long)search->id, search->strategy),
	                          CHART_STEPS, points, count};
}

/* The newest ones. */
static void progress_draw(struct report *report, const struct report_case *one) {
	struct chart_series *series = arena_alloc(report->arena, LINES_MAX, sizeof *series);
	double most = most_of(one);
	struct report_scale scale = report_scale(one, most);
	size_t count = 0;
	for (size_t i = one->search_count; i-- > 0 && count < LINES_MAX;)
		if (is_search(&one->searches[i]))
			line_add(report, one, &one->searches[i], scale, &series[count++]);
	if (count == 0) {
		report_absent(report, "There was no search for this problem: it was only measured by hand. This searches:",
		              report_advice(report, one, "tune", ""));
		return;
	}
	const struct chart chart = {
		.title = arena_printf(report->arena, "%s: the search's progress", one->kernel),
		.x_label = "evaluations (count)",
		.y_label = arena_printf(report->arena, "best so far: %s", report_axis(report, one, scale)),
		.description = arena_printf(report->arena, "The least %s found so far over the evaluations of %zu search%s.",
	                                one->label, count, count == 1 ? "" : "es"),
		.y_log = !one->maximize,
		.series = series,
		.series_count = count,
	};
	html_begin(report->html, "div", "class", "figures", NULL);
	deck_chart(report->deck, arena_printf(report->arena, "%s-progress", one->kernel), &chart);
	html_end(report->html);
}

static void progress_table(struct report *report, const struct report_case *one) {
	const char *titles[] = {"\1search", "\1evaluation", arena_printf(report->arena, "\1best %s", one->label), NULL};
	struct sheet sheet;
	deck_numbers_begin(report->deck, "numbers: the search's progress");
	sheet_begin(&sheet, report->html, "Each time something better was found", titles);
	for (size_t i = 0; i < one->search_count; i++) {
		const struct report_search *search = &one->searches[i];
		for (size_t k = 0; is_search(search) && k < search->best_count && k < POINTS_MAX; k++) {
			char text[48];
			double shown = report_shown(one, search->best[k].y);
			report_value(one, shown, text, sizeof text);
			sheet_row(&sheet);
			sheet_number(&sheet, (double)search->id, "%lld", (long long)search->id);
			sheet_number(&sheet, search->best[k].x, "%.0f", search->best[k].x);
			sheet_number(&sheet, shown, "%s", text);
		}
	}
	sheet_end(&sheet);
	deck_numbers_end(report->deck);
}

static void ends_table(struct report *report, const struct report_case *one) {
	static const char *const titles[] = {"ended", "\1trials", "\2what it means", NULL};
	size_t ends[TRIAL_STATUS_COUNT] = {0}, failures = 0;
	struct sheet sheet;
	for (size_t i = 0; i < one->search_count; i++)
		for (int status = 0; status < TRIAL_STATUS_COUNT; status++)
			ends[status] += one->searches[i].ends[status];
	for (int status = 0; status < TRIAL_STATUS_COUNT; status++)
		failures += status != TRIAL_CORRECT && status != TRIAL_CENSORED ? ends[status] : 0;
	html_element(report->html, "p", NULL, failures ? "%zu trial%s failed." : "No trial failed%.0zu%s.", failures,
	             failures == 1 || !failures ? "" : "s");
	sheet_begin(&sheet, report->html, "How trials ended", titles);
	for (int status = 0; status < TRIAL_STATUS_COUNT; status++) {
		if (ends[status] == 0)
			continue;
		sheet_row(&sheet);
		sheet_text(&sheet, "%s", trial_status_word((enum trial_status)status));
		sheet_number(&sheet, (double)ends[status], "%zu", ends[status]);
		sheet_text(&sheet, "%s", trial_status_text((enum trial_status)status));
	}
	sheet_end(&sheet);
}

static void noise_say(struct report *report, const struct report_case *one) {
	double noise = NAN;
	for (size_t i = 0; i < one->search_count; i++)
		noise = one->searches[i].noise >= 0 ? one->searches[i].noise : noise;
	if (noise >= 0)
		html_element(report->html, "p", NULL,
		             "Noise floor: %.2f %%. A configuration against itself differed by no more than that; what differs "
		             "by less is no "
		             "difference.",
		             100 * noise);
	else
		report_absent(report, "The noise floor is not known: no duel was held. This holds one:",
		              report_advice(report, one, "tune", ""));
}

void report_progress(struct report *report, const struct report_case *one) {
	report_heading(report, "The search");
	progress_draw(report, one);
	if (most_of(one) > 0)
		progress_table(report, one);
	ends_table(report, one);
	noise_say(report, one);
}
