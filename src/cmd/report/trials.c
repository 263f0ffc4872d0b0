/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every trial of the newest search, and the pairs of its final comparison. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "src/cmd/report/report.h"

enum { SHOWN_MAX = 400 };
static const double WIDE = 8; /* values that differ by more need a logarithmic axis */

enum kind { KIND_MEASURED, KIND_CUT, KIND_FAILED, KIND_COUNT };

static enum kind kind_of(const struct report_trial *trial) {
	return trial->status == TRIAL_CORRECT ? KIND_MEASURED : trial->status == TRIAL_CENSORED ? KIND_CUT : KIND_FAILED;
}

const struct report_search *report_search_newest(const struct report_section *section) {
	for (size_t i = section->search_count; i-- > 0;)
		if (section->searches[i].tried_count > 1)
			return &section->searches[i];
	return NULL;
}

static double most_of(const struct report_section *section, const struct report_search *search) {
	double most = 0;
	for (size_t i = 0; i < search->tried_count; i++)
		if (kind_of(&search->tried[i]) != KIND_FAILED)
			most = fmax(most, report_shown(section, search->tried[i].value));
	return most;
}

/* A long search is thinned: failures are rare and all of them stay. */
static bool is_shown(const struct report_search *search, size_t i) {
	size_t step = search->tried_count / SHOWN_MAX + 1;
	return i % step == 0 || kind_of(&search->tried[i]) == KIND_FAILED;
}

/* A failure does not have a value, so it is drawn above all others, or below where more is better. */
static void points_take(const struct report_section *section, const struct report_search *search, double factor,
                        double failed, struct chart_series series[KIND_COUNT], struct chart_point *points) {
	static const char *const names[] = {"measured", "cut short (at least)", "failed"};
	for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
		series[kind] = (struct chart_series){names[kind], CHART_POINTS, points, 0};
		for (size_t i = 0; i < search->tried_count; i++) {
			const struct report_trial *trial = &search->tried[i];
			if (kind_of(trial) != kind || !is_shown(search, i))
				continue;
			double y = kind == KIND_FAILED ? failed : factor * report_shown(section, trial->value);
			*points++ = (struct chart_point){(double)i + 1, y, NAN, NAN};
			series[kind].count++;
		}
	}
}

static size_t series_pack(struct chart_series *series, size_t count) {
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (series[i].count)
			series[kept++] = series[i];
	return kept;
}

const struct chart_mark *report_winner_mark(struct report *report, const struct report_section *section,
                                            double factor) {
	const struct report_search *search = report_search_newest(section);
	if (!search || !search->winner || strcmp(js_string_or(section->tune, "verdict", ""), "faster") != 0)
		return NULL;
	struct chart_mark *mark = arena_alloc(report->arena, 1, sizeof *mark);
	double value = search->tried[search->winner - 1].value;
	*mark = (struct chart_mark){(double)search->winner, factor * report_shown(section, value)};
	return mark;
}

void report_trials_draw(struct report *report, const struct report_section *section) {
	const struct report_search *search = report_search_newest(section);
	double most = search ? most_of(section, search) : 0;
	if (!search || !(most > 0))
		return;
	struct report_scale scale = report_scale(section, most);
	struct chart_series *series = arena_alloc(report->arena, KIND_COUNT, sizeof *series);
	struct chart_point *points = arena_alloc(report->arena, search->tried_count, sizeof *points);
	double failed = section->maximize ? 0 : most * scale.factor * 1.3;
	points_take(section, search, scale.factor, failed, series, points);
	size_t failures = series[KIND_FAILED].count;
	const struct chart chart = {
		.title = report_title(report, section, NULL, "every trial of the newest search"),
		.x_label = "evaluations (count)",
		.y_label = report_axis(report, section, scale),
		.description =
			arena_printf(report->arena, "The %s of each of %zu trials in the order in which they ran; %zu failed%s.",
	                     section->label, search->tried_count, failures,
	                     !failures           ? ""
	                     : section->maximize ? ", drawn at the lower edge"
	                                         : ", drawn at the upper edge"),
		.y_log = !section->maximize,
		.series = series,
		.series_count = series_pack(series, KIND_COUNT),
		.winner = report_winner_mark(report, section, scale.factor),
	};
	charts_add(report->charts, arena_printf(report->arena, "%s-trials", section->kernel), &chart);
}

static const struct report_search *newest_duel(const struct report_section *section) {
	for (size_t i = section->search_count; i-- > 0;)
		if (section->searches[i].pair_count > 1)
			return &section->searches[i];
	return NULL;
}

/* Dots only: a line between pairs would suggest an order that random blocks do not have. */
void report_pairs_draw(struct report *report, const struct report_section *section) {
	bool won = strcmp(js_string_or(section->tune, "verdict", ""), "faster") == 0;
	const char *const names[] = {"baseline", won ? "runs of the winner" : "best found"};
	const struct report_search *search = newest_duel(section);
	double most = 0, least = INFINITY;
	for (size_t i = 0; search && i < search->pair_count; i++) {
		double shown = report_shown(section, search->pairs[i].value);
		most = fmax(most, shown);
		least = fmin(least, shown);
	}
	if (!search || !(most > 0))
		return;
	struct report_scale scale = report_scale(section, most);
	struct chart_series *series = arena_alloc(report->arena, 2, sizeof *series);
	struct chart_point *points = arena_alloc(report->arena, search->pair_count, sizeof *points);
	for (int side = 0; side < 2; side++) {
		series[side] = (struct chart_series){names[side], CHART_POINTS, points, 0};
		for (size_t i = 0; i < search->pair_count; i++) {
			const struct report_run *run = &search->pairs[i];
			if (run->winner != (side == 1))
				continue;
			double y = scale.factor * report_shown(section, run->value);
			*points++ = (struct chart_point){run->block + 1, y, NAN, NAN};
			series[side].count++;
		}
	}
	const struct chart chart = {
		.title = report_title(report, section, NULL, "the final comparison, run by run"),
		.x_label = "pair (count)",
		.y_label = report_axis(report, section, scale),
		.description = arena_printf(
			report->arena,
			"Each run of the baseline and of the best found in the pairs of the final comparison. The latter "
			"runs twice in a pair, which shows how much a configuration differs from itself."),
		.y_log = least > 0 && most > WIDE * least,
		.series = series,
		.series_count = series_pack(series, 2),
	};
	charts_add(report->charts, arena_printf(report->arena, "%s-pairs", section->kernel), &chart);
}
