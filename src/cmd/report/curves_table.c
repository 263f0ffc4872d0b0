/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table with the numbers of the curves. */
#include <config.h>

#include "src/cmd/report/curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "src/show/results.h"

/* Over threads, the speedup over one thread stands beside that over the serial code. */
static bool has_single(const struct curves *curves) {
	return curves->threads && isfinite(curves->serial_time);
}

static void row_put(const struct curves *curves, struct html_table *table, const struct slice *slice, size_t row) {
	const struct study_row *one = study_row(curves->study, row);
	double shown = curves_shown(curves, row), spread = exp(1.96 * one->deviation), base = curves_base(curves, slice);
	const char *level =
		slice_level(curves->report, study_column(curves->study, curves->column), one->level[curves->column]);
	html_table_row(table);
	if (study_column(curves->study, curves->column)->numeric)
		html_table_number(table, curves_number(curves, row), "%s", level);
	else
		html_table_text(table, "%s", level);
	if (curves->split != SIZE_MAX)
		html_table_text(table, "%s", slice->name);
	report_cells(table, curves->section, shown, shown / spread, shown * spread);
	html_table_number(table, base / one->value, "%.3gx", base / one->value);
	if (has_single(curves)) {
		double single = curves_one(curves, slice) / one->value;
		html_table_number(table, single, "%.3gx", single);
	}
	char *config = results_config(one->config, NULL);
	html_table_text(table, "%s", config);
	free(config);
}

void curves_table(const struct curves *curves) {
	struct report *report = curves->report;
	const struct study_column *column = study_column(curves->study, curves->column);
	const char *titles[9] = {arena_printf(report->arena, "%s%s", column->numeric ? "\1" : "", curves->name)};
	struct html_table table;
	size_t at = 1;
	if (curves->split != SIZE_MAX)
		titles[at++] = study_column(curves->study, curves->split)->name;
	titles[at++] = arena_printf(report->arena, "\1%s", curves->section->label);
	titles[at++] = "\1interval";
	if (isfinite(curves->serial_time))
		titles[at++] = "\1speedup over serial code";
	if (has_single(curves) || !isfinite(curves->serial_time))
		titles[at++] = curves->threads ? "\1speedup over 1 thread" : "\1speedup over the baseline";
	titles[at++] = "\2configuration";
	charts_numbers_begin(report->charts,
	                     arena_printf(report->arena, "numbers: %s by %s", curves->section->label, curves->name));
	html_table_begin(&table, report->html,
	                 arena_printf(report->arena, "Best %s at each value of %s", curves->section->label, curves->name),
	                 titles);
	for (size_t s = 0; s < curves->count; s++)
		for (size_t i = 0; i < curves->slices[s].count && i < CURVES_POINTS; i++)
			row_put(curves, &table, &curves->slices[s],
			        curves->slices[s].rows[curves_thinned(curves->slices[s].count, i)]);
	html_table_end(&table);
	charts_numbers_end(report->charts);
}
