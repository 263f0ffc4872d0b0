/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "src/cmd/machine/ceilings.h"

enum { COLUMNS_MAX = 24, CELL = 24 };

/* Finds a ceiling, or returns NULL; level may be NULL. Borrowed. */
static const json_t *ceilings_find(const json_t *ceilings, const char *name, const char *level, int threads) {
	size_t i;
	json_t *one;
	json_array_foreach((json_t *)ceilings, i, one) {
		if (strcmp(js_string_or(one, "name", ""), name) == 0 && js_int_or(one, "threads", 0) == threads &&
		    (!level || strcmp(js_string_or(one, "level", ""), level) == 0))
			return one;
	}
	return NULL;
}

/* Prints three digits, and common magnitudes without an exponent. */
static void number(double value, char text[CELL]) {
	snprintf(text, CELL, value >= 100 && value < 1e7 ? "%.0f" : "%.3g", value);
}

/* Collects the thread counts in ascending order, in which they were measured. */
static size_t thread_counts(const json_t *ceilings, int counts[COLUMNS_MAX]) {
	size_t count = 0, i;
	json_t *one;
	json_array_foreach((json_t *)ceilings, i, one) {
		int threads = (int)js_int_or(one, "threads", 0);
		size_t known = 0;
		while (known < count && counts[known] != threads)
			known++;
		if (known == count && count < COLUMNS_MAX && !json_object_get(one, "from"))
			counts[count++] = threads;
	}
	return count;
}

struct grid {
	const json_t *ceilings;
	struct table *table;
	int counts[COLUMNS_MAX];
	size_t count;
};

static void grid_begin(struct grid *grid, const json_t *ceilings, const char *first, const char *unit) {
	char titles[COLUMNS_MAX][CELL];
	const char *pointers[COLUMNS_MAX + 2] = {first, unit};
	*grid = (struct grid){.ceilings = ceilings};
	grid->count = thread_counts(ceilings, grid->counts);
	for (size_t i = 0; i < grid->count; i++) {
		snprintf(titles[i], CELL, "%d thread%s", grid->counts[i], grid->counts[i] == 1 ? "" : "s");
		pointers[i + 2] = titles[i];
	}
	grid->table = table_new(grid->count + 2, pointers);
	for (size_t i = 0; i < grid->count; i++)
		table_right(grid->table, i + 2);
}

/* Skips the row if it was not measured with any number of threads. */
static void grid_row(struct grid *grid, const char *title, const struct ceiling_kind *kind, const char *level) {
	char cells[COLUMNS_MAX][CELL];
	const char *pointers[COLUMNS_MAX + 2] = {title, kind->unit};
	bool any = false;
	for (size_t i = 0; i < grid->count; i++) {
		const json_t *one = ceilings_find(grid->ceilings, kind->name, level, grid->counts[i]);
		snprintf(cells[i], CELL, "-");
		if (one)
			number(js_real_or(one, "value", 0), cells[i]);
		any = any || one;
		pointers[i + 2] = cells[i];
	}
	if (any)
		table_row(grid->table, pointers);
}

static void grid_end(struct grid *grid, struct ui *ui) {
	table_print(grid->table, ui, stdout);
	table_free(grid->table);
	putchar('\n');
}

static void bandwidths_print(struct ui *ui, const json_t *ceilings) {
	struct grid grid;
	grid_begin(&grid, ceilings, "bandwidth", "");
	for (size_t level = 0; ceiling_levels[level]; level++)
		for (const struct ceiling_kind *kind = ceiling_kinds; kind->name; kind++)
			if (kind->group == CEILING_BANDWIDTH) {
				char title[CELL];
				snprintf(title, sizeof title, "%s %s", ceiling_levels[level], kind->name);
				grid_row(&grid, title, kind, ceiling_levels[level]);
			}
	grid_end(&grid, ui);
}

static void group_print(struct ui *ui, const json_t *ceilings, enum ceiling_group group, const char *title) {
	struct grid grid;
	grid_begin(&grid, ceilings, title, "");
	for (const struct ceiling_kind *kind = ceiling_kinds; kind->name; kind++)
		if (kind->group == group)
			grid_row(&grid, kind->name, kind, NULL);
	grid_end(&grid, ui);
}

static void pairs_print(const json_t *ceilings) {
	const json_t *best = NULL, *worst = NULL;
	size_t i;
	json_t *one;
	json_array_foreach((json_t *)ceilings, i, one) {
		double value = js_real_or(one, "value", 0);
		if (!json_object_get(one, "from"))
			continue;
		best = !best || value < js_real_or(best, "value", 0) ? one : best;
		worst = !worst || value > js_real_or(worst, "value", 0) ? one : worst;
	}
	if (!best)
		return;
	char low[CELL], high[CELL];
	number(js_real_or(best, "value", 0), low);
	number(js_real_or(worst, "value", 0), high);
	printf("A cache line takes %s ns from core to core (%d to %d)", low, (int)js_int_or(best, "from", 0),
	       (int)js_int_or(best, "to", 0));
	if (worst != best)
		printf(" to %s ns (%d to %d)", high, (int)js_int_or(worst, "from", 0), (int)js_int_or(worst, "to", 0));
	printf(".\n");
}

/* Shows the best block sizes, if any ceiling used blocks. */
static void gpu_row(struct table *table, const json_t *one) {
	const char *name = js_string_or(one, "name", "?"), *level = js_string_or(one, "level", NULL);
	const struct ceiling_gpu *gpu = ceiling_gpu_find(name, level);
	char title[CELL], value[CELL], block[CELL] = "-", per_sm[CELL] = "-";
	snprintf(title, sizeof title, "%s%s%.18s", level ? level : "", level ? " " : "", name);
	number(js_real_or(one, "value", 0), value);
	if (json_object_get(one, "block")) {
		snprintf(block, sizeof block, "%d", (int)js_int_or(one, "block", 0));
		snprintf(per_sm, sizeof per_sm, "%d", (int)js_int_or(one, "per_sm", 0));
	}
	table_add(table, title, value, js_string_or(one, "unit", ""), block, per_sm, gpu ? gpu->summary : "");
}

static void gpus_print(struct ui *ui, const json_t *ceilings) {
	static const char *const titles[] = {"ceiling", "most", "", "block", "blocks/SM", "of"};
	struct table *table = table_new(6, titles);
	size_t i;
	json_t *one;
	table_right(table, 1);
	table_right(table, 3);
	table_right(table, 4);
	json_array_foreach((json_t *)ceilings, i, one) gpu_row(table, one);
	table_print(table, ui, stdout);
	table_free(table);
	printf(
		"\nCosts (us) are the lowest measured. Bytes read and bytes written both count. Block and blocks/SM are those "
		"of the best result.\n");
}

void ceilings_print(struct ui *ui, const json_t *ceilings) {
	if (json_object_get(json_array_get(ceilings, 0), "device")) {
		gpus_print(ui, ceilings);
		return;
	}
	bandwidths_print(ui, ceilings);
	group_print(ui, ceilings, CEILING_PEAK, "peak");
	group_print(ui, ceilings, CEILING_COST, "cost");
	pairs_print(ceilings);
	printf("Bytes read and bytes written both count, without the lines that plain stores read first.\n");
}
