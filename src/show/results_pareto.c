/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "src/show/results.h"

enum { COLUMNS = 3 };

static void row_add(struct table *table, const char *const *words, const json_t *row) {
	char values[2][32], *config = results_config(json_object_get(row, "config"), NULL);
	for (int i = 0; i < 2; i++)
		results_value(js_real_or(row, words[i], NAN), trial_unit(words[i]), values[i], sizeof values[i]);
	table_add(table, values[0], values[1], config);
	free(config);
}

void results_pareto_print(struct ui *ui, const json_t *result, FILE *out) {
	const json_t *rows = json_object_get(result, "pareto"), *objectives = json_object_get(result, "objectives");
	const char *titles[COLUMNS] = {NULL, NULL, "Pareto-optimal configuration"};
	json_t *row;
	size_t i;
	for (i = 0; i < 2; i++)
		titles[i] = json_string_value(json_array_get(objectives, i));
	if (json_array_size(rows) == 0 || !titles[0] || !titles[1])
		return;
	char *kernel = mem_strdup(js_string_or(result, "kernel", "?"));
	text_clean(kernel, false);
	fprintf(out, "\n%s: %s against %s\n", kernel, titles[0], titles[1]);
	free(kernel);
	struct table *table = table_new(COLUMNS, titles);
	table_right(table, 0);
	table_right(table, 1);
	json_array_foreach((json_t *)rows, i, row) row_add(table, titles, row);
	table_print(table, ui, out);
	table_free(table);
}
