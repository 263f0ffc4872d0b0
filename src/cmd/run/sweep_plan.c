/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/run/run_impl.h"

#include "base/json/js.h"
#include "base/text.h"
#include "src/show/results.h"

enum { ROWS_SHOWN = 12 };

/* A line is never wrapped, because it may be copied. */
static void row_print(const json_t *row) {
	const char *command = js_string_or(row, "line", NULL), *device = js_string_or(row, "device", NULL);
	mem_auto char *config = results_config(json_object_get(row, "config"), NULL);
	mem_auto char *problem = results_problem(json_object_get(row, "problem"));
	mem_auto char *line = command ? mem_strdup(command)
	                              : mem_printf("%s%s%s%s%s", device ? device : "", device ? " " : "", problem,
	                                           *problem ? " " : "", config);
	text_clean(line, false);
	printf("  %s\n", line);
}

static void people_print(const char *kernel, int runs, const json_t *rows) {
	size_t count = json_array_size(rows);
	printf("%s: %zu combination%s, %d run%s of each; nothing is run\n", kernel, count, count == 1 ? "" : "s", runs,
	       runs == 1 ? "" : "s");
	for (size_t i = 0; i < count && i < ROWS_SHOWN; i++)
		row_print(json_array_get(rows, i));
	if (count > ROWS_SHOWN)
		printf("  .. and %zu more (--json lists all)\n", count - ROWS_SHOWN);
}

void sweep_plan_print(const struct opt_args *args, const char *kernel, int runs, const json_t *rows) {
	if (!opt_has(args, "json")) {
		people_print(kernel, runs, rows);
		return;
	}
	js_print(json_pack("{s:s,s:s,s:I,s:i,s:O}", "schema", "sweetspot-sweep-plan/1", "kernel", kernel, "combinations",
	                   (json_int_t)json_array_size(rows), "runs", runs, "rows", rows));
}
