/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of the best configurations. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"
#include "src/show/results.h"

enum { SHOWN_MAX = 50 };

static int by_value(const void *a, const void *b, void *ctx) {
	const struct study *study = ctx;
	double x = study_row(study, *(const size_t *)a)->value, y = study_row(study, *(const size_t *)b)->value;
	return (x > y) - (x < y);
}

static void row_put(struct html_table *table, const struct report_section *section, size_t index) {
	const struct study_row *row = study_row(section->view.study, index);
	double shown = report_shown(section, row->value), spread = exp(1.96 * row->deviation);
	char *config = results_config(row->config, NULL);
	html_table_row(table);
	html_table_text(table, "%s", config);
	report_cells(table, section, shown, shown / spread, shown * spread);
	html_table_number(table, (double)row->trials, "%zu", row->trials);
	html_table_text(table, "%s", js_bool_or(row->detail, "unsafe", false) ? "unsafe to use" : "");
	free(config);
}

void report_best(struct report *report, const struct report_section *section) {
	const struct study *study = section->view.study;
	const char *titles[] = {"\2configuration", arena_printf(report->arena, "\1%s", section->label),
	                        "\1interval",      "\1trials",
	                        "\2note",          NULL};
	size_t rows = study_rows(study), count = 0, *order = mem_alloc(rows + 1, sizeof *order);
	struct html_table table;
	for (size_t i = 0; i < rows; i++)
		if (explain_timed(&section->view, i))
			order[count++] = i;
	qsort_r(order, count, sizeof *order, by_value, (void *)study);
	html_table_begin_folded(&table, report->html, "the best configurations measured",
	                        arena_printf(report->arena, "The best %zu of %zu configurations",
	                                     count < SHOWN_MAX ? count : (size_t)SHOWN_MAX, count + study_left_out(study)),
	                        titles);
	for (size_t i = 0; i < count && i < SHOWN_MAX; i++)
		row_put(&table, section, order[i]);
	html_table_end(&table);
	free(order);
}
