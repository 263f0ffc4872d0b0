/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/cmd/replay/score_output.h"

/* The columns of the table, which are some of the 21 figures. */
static const struct {
	enum score_figure figure;
	const char *title, *format;
	bool least; /* the lowest value is the best */
} shown[] = {
	{SCORE_TIME, "score", "%.3f", false},
	{SCORE_TIME_EXPECTED, "by mean", "%.3f", false},
	{SCORE_EVALS_EXPECTED, "evals", "%.3f", false},
	{SCORE_RATIO + 1, "best at 25", "%.3f", false},
	{SCORE_RATIO + 2, "50", "%.3f", false},
	{SCORE_RATIO + 3, "100", "%.3f", false},
	{SCORE_RATIO + 4, "200", "%.3f", false},
	{SCORE_TO, "run to 10 %", "%.1f", true},
	{SCORE_TO + 1, "5 %", "%.1f", true},
	{SCORE_TO + 2, "1 %", "%.1f", true},
};
enum { SHOWN = sizeof shown / sizeof *shown, COLUMNS = SHOWN + 2, CELL = 64 };

static void row_add(struct table *table, const char *name, const double figures[SCORE_FIGURES], double asking) {
	char cells[COLUMNS][CELL];
	const char *texts[COLUMNS];
	snprintf(cells[0], CELL, "%.60s", name);
	for (size_t i = 0; i < SHOWN; i++)
		if (isfinite(figures[shown[i].figure]))
			snprintf(cells[i + 1], CELL, shown[i].format, figures[shown[i].figure]);
		else
			snprintf(cells[i + 1], CELL, "-");
	if (isnan(asking))
		cells[SHOWN + 1][0] = '\0';
	else
		ui_seconds(asking, cells[SHOWN + 1], CELL);
	for (size_t i = 0; i < COLUMNS; i++)
		texts[i] = cells[i];
	table_row(table, texts);
}

static struct table *table_begin(const char *first) {
	const char *titles[COLUMNS] = {first};
	for (size_t i = 0; i < SHOWN; i++)
		titles[i + 1] = shown[i].title;
	titles[SHOWN + 1] = "proposal";
	struct table *table = table_new(COLUMNS, titles);
	for (size_t i = 1; i < COLUMNS; i++)
		table_right(table, i);
	return table;
}

static const char *space_name(const struct score_space *space) {
	const char *slash = strrchr(space->path, '/');
	return slash ? slash + 1 : space->path;
}

static void spaces_print(const struct score_output *output, const struct score_entry *entry, const struct ui *ui) {
	struct table *table = table_begin(entry->strategy->name);
	for (size_t i = 0; i < output->space_count; i++)
		row_add(table, space_name(&output->spaces[i]), entry->results[i].value, score_table_asking(entry->tables[i]));
	table_print(table, ui, stdout);
	table_free(table);
	putchar('\n');
}

/* Tells whether the peer is the best peer in at least one column. */
static bool is_top(const struct score_output *output, size_t peer) {
	for (size_t column = 0; column < SHOWN; column++) {
		int figure = (int)shown[column].figure;
		double sign = shown[column].least ? -1 : 1, value = sign * output->peers[peer].figures[figure];
		bool top = isfinite(value);
		for (size_t i = 0; i < output->peer_count && top; i++)
			top = !(sign * output->peers[i].figures[figure] > value);
		if (top)
			return true;
	}
	return false;
}

static void all_print(const struct score_output *output, const struct ui *ui) {
	struct table *table = table_begin("over all spaces");
	for (size_t i = 0; i < output->entry_count; i++) {
		const struct score_result *all = &output->entries[i].results[output->space_count];
		row_add(table, output->entries[i].strategy->name, all->value, NAN);
		row_add(table, "  95 % from", all->low, NAN);
		row_add(table, "  to", all->high, NAN);
	}
	for (size_t i = 0; i < output->peer_count; i++)
		if (is_top(output, i))
			row_add(table, output->peers[i].name, output->peers[i].figures, NAN);
	table_print(table, ui, stdout);
	table_free(table);
}

void score_output_print(const struct score_output *output, const struct ui *ui) {
	for (size_t i = 0; i < output->entry_count; i++)
		spaces_print(output, &output->entries[i], ui);
	all_print(output, ui);
	printf("\n%zu repeats. score: performance over time against random search, by rank (0: as random search,\n"
	       "1: the optimum at once); by mean, evals: against the mean of random search, over time and over\n"
	       "evaluations; best at N: optimum over the best so far; run to X %%: evaluations until the best is\n"
	       "within X %% of the optimum. Medians over repeats.\n",
	       output->repeat);
	if (output->peers_path && output->peer_count == 0)
		printf("No peer in %s was measured on all of these spaces.\n", output->peers_path);
}
