/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/list/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/worker/counters.h"

static const char *text_of(const json_t *object, const char *key) {
	return js_string_or(object, key, "");
}

static void rows_print(struct ui *ui, const json_t *metrics) {
	static const char *const titles[] = {"metric", "type", "unit", "passes", "summary"};
	struct table *table = table_new(5, titles);
	size_t i;
	json_t *row;
	json_array_foreach((json_t *)metrics, i, row) {
		const json_t *passes = json_object_get(row, "passes");
		char *count =
			json_is_integer(passes) ? mem_printf("%lld", (long long)json_integer_value(passes)) : mem_strdup("");
		table_add(table, text_of(row, "name"), text_of(row, "type"), text_of(row, "unit"), count,
		          text_of(row, "summary"));
		free(count);
	}
	table_print(table, ui, stdout);
	table_free(table);
}

/* Prints the description of a metric only if it is the only one, because it is long. */
static void rollups_print(const json_t *row) {
	char *text = mem_printf("rollups:");
	size_t i;
	json_t *rollup;
	json_array_foreach(json_object_get(row, "rollups"), i, rollup) {
		char *longer = mem_printf("%s %s", text, json_is_string(rollup) ? json_string_value(rollup) : "?");
		free(text);
		text = longer;
	}
	if (i > 0)
		ui_wrap(stdout, 0, 2, text);
	free(text);
}

static void metrics_print(struct app *app, const json_t *answer) {
	const json_t *metrics = json_object_get(answer, "metrics");
	size_t count = json_array_size(metrics);
	rows_print(app_ui(app), metrics);
	if (count == 1)
		rollups_print(json_array_get(metrics, 0));
	printf("\n%zu metric%s of %s; `--counters cupti:NAME` counts one\n", count, count == 1 ? "" : "s",
	       text_of(answer, "chip"));
}

int list_chip_metrics(struct app *app, const char *chip, const char *prefix, bool json, struct err *err) {
	struct worker *worker = app_worker(app, err);
	json_t *answer = worker ? worker_metrics(worker, chip, prefix, err) : NULL;
	if (!answer)
		return -1;
	json_object_del(answer, "id");
	if (json)
		js_write(answer, stdout);
	else
		metrics_print(app, answer);
	json_decref(answer);
	return 0;
}
