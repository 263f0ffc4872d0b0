/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/cmd/fleet/launcher.h"

/* Tells `tune` about the nodes of a type that is not known yet. */
static void launcher_add(struct fleet_run *run, struct fleet_line *line) {
	const char *words = opt_get(run->args, run->launcher->words, "");
	fleet_line_add(line, arena_printf(run->arena, "--launcher=%s", run->launcher->name));
	if (!run->launcher->single)
		fleet_line_add(line, arena_printf(run->arena, "--nodes=%zu", run->per_type));
	if (run->launcher->batch)
		fleet_line_add(line, arena_printf(run->arena, "--srun-args=%s%s%s -w NODE", words, run->partition ? " -p " : "",
		                                  run->partition ? run->partition : ""));
	if (run->launcher->named)
		fleet_line_add(line, arena_printf(run->arena, "--hosts=%s", opt_get(run->args, "hosts", "")));
	if (run->launcher->named && *words)
		fleet_line_add(line, arena_printf(run->arena, "--launcher-args=%s", words));
}

/* Runs `tune --plan`, which starts no jobs but reports the same usage errors as `tune` would. */
static json_t *tune_plan(struct fleet_run *run, struct err *err) {
	struct fleet_line line = {0};
	char *text;
	fleet_line_words(&line, (const char *const[]){run->self, "tune", "--json", "--plan", NULL});
	launcher_add(run, &line);
	fleet_line_tune(&line, run);
	/* Without SLURM_JOB_ID, because inside an allocation tune would check --nodes against it. */
	const char *const set[] = {"SLURM_JOB_ID=", NULL};
	int status = fleet_child_run(run->app, line.words, set, &text, err);
	json_t *plan = status == 0 ? js_parse(text, strlen(text), "the plan of tune", err) : NULL;
	if (status > 0)
		err->code = status == err_exit_status(ERR_USAGE) ? ERR_USAGE : ERR_FAILED; /* tune has printed the message */
	free(text);
	fleet_line_clear(&line);
	return plan;
}

int fleet_plan_check(struct fleet_run *run, struct err *err) {
	json_t *plan = tune_plan(run, err);
	json_decref(plan);
	return plan ? 0 : -1;
}

static json_t *probe_lines(struct fleet_run *run) {
	json_t *lines = json_array(), *node;
	size_t i;
	json_array_foreach(json_object_get(run->document, "nodes"), i, node) {
		struct fleet_line line = {0}, command = {0};
		if (!js_bool_or(node, "usable", false))
			continue;
		fleet_line_words(&command, (const char *const[]){run->self, "machine", "--json", NULL});
		fleet_line_on(&line, run, js_string_or(node, "node", ""), &command);
		char *text = fleet_line_text(&line);
		json_array_append_new(lines, json_string(text));
		free(text);
		fleet_line_clear(&line);
	}
	return lines;
}

static void lines_print(const json_t *lines) {
	json_t *line;
	size_t i;
	json_array_foreach((json_t *)lines, i, line) puts(json_string_value(line) ? json_string_value(line) : "");
}

static void people_print(const struct fleet_run *run, const json_t *document, bool of_nodes) {
	double each = js_real_or(document, "node_seconds", 0), most = js_real_or(document, "node_seconds_most", 0);
	lines_print(json_object_get(document, "probe"));
	puts("then, for each node type, on nodes of that type:");
	lines_print(json_object_get(document, "lines"));
	if (each > 0)
		printf("%zu node(s) to query, then %.6g node-seconds (%zu node(s) for %.6g s) for each type%s, %.6g at most\n",
		       json_array_size(json_object_get(document, "probe")), each, run->per_type, each / (double)run->per_type,
		       of_nodes ? "" : " and the final comparison", most);
	else
		printf("%zu node(s) to query, then %lld evaluations for each type\n",
		       json_array_size(json_object_get(document, "probe")), (long long)js_int_or(document, "evaluations", 0));
}

int fleet_plan_show(struct fleet_run *run, struct err *err) {
	json_t *plan = tune_plan(run, err);
	if (!plan)
		return -1;
	json_t *probe = probe_lines(run), *each = json_object_get(plan, "node_seconds");
	/* A budget of node-seconds does not depend on the number of nodes, a budget of seconds does. */
	bool of_nodes = strcmp(js_string_or(plan, "budget", ""), "node_seconds") == 0;
	double most = json_number_value(each) * (double)json_array_size(probe) / (of_nodes ? 1 : (double)run->per_type);
	json_t *document = json_pack("{s:s,s:s,s:O,s:o,s:O,s:O?,s:o,s:O?}", "schema", "sweetspot-fleet-plan/1", "launcher",
	                             run->launcher->name, "nodes", json_object_get(run->document, "nodes"), "probe", probe,
	                             "lines", json_object_get(plan, "lines"), "node_seconds", each, "node_seconds_most",
	                             json_is_number(each) ? js_number(most) : json_null(), "evaluations",
	                             json_object_get(plan, "evaluations"));
	if (opt_has(run->args, "json"))
		js_write(document, stdout);
	else
		people_print(run, document, of_nodes);
	json_decref(document);
	json_decref(plan);
	return 0;
}
