/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/cmd/fleet/run.h"
#include "src/cmd/profile/text.h"
#include "src/show/results.h"

enum { NODES_SHOWN = 4, TEXT = 160 };

/* "n1, n2 and 7 more" */
static void nodes_text(const json_t *nodes, char *text, size_t size) {
	size_t count = json_array_size(nodes), used = 0;
	*text = '\0';
	for (size_t i = 0; i < count && i < NODES_SHOWN && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
		                         json_string_value(json_array_get(nodes, i)));
	if (count > NODES_SHOWN && used < size)
		snprintf(text + used, size - used, " and %zu more", count - NODES_SHOWN);
}

static void type_row(struct table *table, const json_t *type) {
	const json_t *machine = json_object_get(type, "machine");
	char cores[24], nodes[TEXT], *text = fleet_machine_text(machine);
	snprintf(cores, sizeof cores, "%lld", (long long)js_int_or(machine, "cores", 0));
	nodes_text(json_object_get(type, "nodes"), nodes, sizeof nodes);
	table_add(table, js_string_or(type, "type", ""), text, cores, nodes, js_string_or(type, "state", ""));
	free(text);
}

static void types_print(const struct fleet_run *run) {
	static const char *const titles[] = {"type", "processor", "cores", "nodes", "state"};
	struct table *table = table_new(5, titles);
	json_t *type;
	size_t i;
	table_right(table, 2);
	json_array_foreach(json_object_get(run->document, "types"), i, type) type_row(table, type);
	table_print(table, app_ui(run->app), stdout);
	table_free(table);
}

static void result_row(struct table *table, const json_t *type, const json_t *result) {
	const json_t *config = json_object_get(json_object_get(result, "best"), "config");
	char speedup[64], *kernel = profile_text_kernel(result), *problem = profile_text_problem(result);
	char *best = config ? results_config(config, NULL) : mem_strdup("-");
	profile_text_speedup(json_object_get(result, "speedup"), speedup, sizeof speedup);
	table_add(table, js_string_or(type, "type", ""), kernel, problem, best, speedup,
	          js_string_or(result, "verdict", ""));
	free(kernel);
	free(problem);
	free(best);
}

static void results_table(const struct fleet_run *run) {
	static const char *const titles[] = {"type", "kernel", "problem", "best configuration", "speedup", "verdict"};
	struct table *table = table_new(6, titles);
	json_t *type, *result;
	size_t i, k, rows = 0;
	json_array_foreach(json_object_get(run->document, "types"), i, type) {
		json_array_foreach(json_object_get(type, "results"), k, result) {
			result_row(table, type, result);
			rows++;
		}
	}
	if (rows) {
		putchar('\n');
		table_print(table, app_ui(run->app), stdout);
	}
	table_free(table);
}

static void loss_text(const json_t *loss, char *text, size_t size) {
	const char *state = js_string_or(loss, "state", ""), *verdict = js_string_or(loss, "verdict", "");
	const json_t *ci = json_object_get(loss, "ci");
	if (strcmp(state, "same") == 0)
		snprintf(text, size, "none: the same configuration");
	else if (strcmp(state, "measured") != 0)
		snprintf(text, size, "%s: %s", state, js_string_or(loss, "reason", ""));
	else
		snprintf(text, size, "%+.1f %% time [%+.1f, %+.1f]%s", 100 * js_real_or(loss, "loss", NAN),
		         100 * (json_number_value(json_array_get(ci, 0)) - 1),
		         100 * (json_number_value(json_array_get(ci, 1)) - 1), strcmp(verdict, "tie") == 0 ? ", tie" : "");
}

static void losses_print(const struct fleet_run *run) {
	static const char *const titles[] = {"profile of", "used on", "kernel", "costs"};
	struct table *table = table_new(4, titles);
	const json_t *losses = json_object_get(run->document, "losses");
	json_t *loss;
	size_t i;
	json_array_foreach((json_t *)losses, i, loss) {
		char text[TEXT];
		loss_text(loss, text, sizeof text);
		table_add(table, js_string_or(loss, "profile_of", ""), js_string_or(loss, "used_on", ""),
		          js_string_or(loss, "kernel", ""), text);
	}
	if (json_array_size(losses)) {
		putchar('\n');
		table_print(table, app_ui(run->app), stdout);
	}
	table_free(table);
	json_array_foreach((json_t *)losses, i, loss) {
		if (strcmp(js_string_or(loss, "state", ""), "not measured") == 0)
			printf("to measure the best of %s on %s: %s\n", js_string_or(loss, "profile_of", ""),
			       js_string_or(loss, "used_on", ""), js_string_or(loss, "command", ""));
	}
}

static void folder_print(const struct fleet_run *run) {
	char *folder = profile_text_clean(run->folder);
	json_t *type;
	size_t i, done = 0;
	json_array_foreach(json_object_get(run->document, "types"), i, type) done += fleet_type_done(type);
	if (done)
		printf("\n%zu profile(s) in %s\nuse them: sweetspot apply --profile %s -- PROGRAM, or SWEETSPOT_PROFILE=%s\n",
		       done, folder, folder, folder);
	free(folder);
}

void fleet_show(const struct fleet_run *run) {
	if (opt_has(run->args, "json")) {
		js_write(run->document, stdout);
		return;
	}
	types_print(run);
	results_table(run);
	losses_print(run);
	folder_print(run);
}
