/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/tune/dry.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "src/show/results.h"
#include "tuner/program/program.h"

enum { EXAMPLES = 3, VALUES_SHOWN = 160 };

static json_t *case_json(const struct tune_item *item, const json_t *config) {
	json_t *one = json_pack("{s:O}", "config", config);
	char *line = item->line ? item->line(item, config) : NULL;
	if (line)
		json_object_set_new(one, "line", json_string(line));
	free(line);
	return one;
}

/* The first and the last configuration, and one in the middle, but not the baseline. */
static json_t *examples_json(const struct tune_item *item) {
	const struct space *space = item->task.space;
	uint64_t valid = space_valid(space), before = UINT64_MAX;
	json_t *examples = json_array();
	for (uint64_t i = 0; valid > 0 && i < EXAMPLES; i++) {
		uint64_t index = (valid - 1) / (EXAMPLES - 1) * i;
		index = i == EXAMPLES - 1 ? valid - 1 : index;
		if (index == before || index == item->task.start)
			continue;
		json_t *config = space_config_json(space, index);
		json_array_append_new(examples, case_json(item, config));
		json_decref(config);
		before = index;
	}
	return examples;
}

static json_t *budget_json(const struct tune_budget *budget, bool program) {
	if (budget->evaluations)
		return json_pack("{s:I}", "evaluations", (json_int_t)budget->evaluations);
	return json_pack("{s:f,s:b}", "seconds", budget->seconds, "may_grow", program && budget->may_grow);
}

static json_t *item_json(const struct tune_item *item, const struct tune_settings *settings) {
	const struct tune_task *task = &item->task;
	json_t *json = json_pack("{s:s,s:O}", "kernel", task->kernel, "problem", task->problem);
	json_t *space = space_json(task->space);
	json_object_update(json, space); /* "space", "params" and "constraints" */
	json_decref(space);
	json_object_set_new(json, "baseline", case_json(item, task->baseline));
	json_object_set_new(json, "examples", examples_json(item));
	json_object_set_new(json, "strategy", json_string(settings->strategy->name));
	json_object_set_new(json, "budget", budget_json(&settings->budget, task->whole_programs));
	return json;
}

/* A command is never wrapped, because it may be copied. */
static void command_print(const char *command) {
	char *clean = mem_strdup(command);
	text_clean(clean, false);
	puts(clean);
	free(clean);
}

static void case_print(const char *label, const json_t *one) {
	const char *line = js_string_or(one, "line", NULL);
	char *config = line ? NULL : results_config(json_object_get(one, "config"), NULL);
	printf("%-*s", RESULTS_INDENT, label);
	if (line)
		command_print(line);
	else
		ui_wrap_on(stdout, RESULTS_INDENT, RESULTS_INDENT, *config ? config : "as it is");
	free(config);
}

static void param_print(const json_t *param) {
	char *text = mem_printf("%s =", js_string_or(param, "name", "?")), *more;
	const json_t *values = json_object_get(param, "values");
	size_t i, count = json_array_size(values);
	for (i = 0; i < count && strlen(text) < VALUES_SHOWN; i++) {
		char *value = program_value_text(json_array_get(values, i));
		const char *quote = value && strchr(value, ',') ? "\"" : "";
		more = mem_printf("%s%s %s%s%s", text, i ? "," : "", quote, value && *value ? value : "''", quote);
		free(value);
		free(text);
		text = more;
	}
	more = i < count ? mem_printf("%s, .. (%zu values)", text, count) : mem_strdup(text);
	ui_wrap(stdout, 2, 6, more);
	free(more);
	free(text);
}

static void build_print(const json_t *problem) {
	const char *build = js_string_or(problem, "build", NULL);
	if (!build)
		return;
	printf("%-*s", RESULTS_INDENT, "build:");
	command_print(build);
}

static void budget_print(const json_t *budget) {
	double seconds = js_real_or(budget, "seconds", 0);
	char *text =
		seconds > 0
			? mem_printf("%.6g s%s", seconds,
	                     js_bool_or(budget, "may_grow", false) ? ", more for a program that takes long" : "")
			: mem_printf("%lld evaluations, and the final comparison", (long long)js_int_or(budget, "evaluations", 0));
	printf("%-*s", RESULTS_INDENT, "budget:");
	ui_wrap_on(stdout, RESULTS_INDENT, RESULTS_INDENT, text);
	free(text);
}

static void item_print(const json_t *json) {
	const json_t *space = json_object_get(json, "space");
	long long valid = js_int_or(space, "valid", 0);
	json_t *one;
	size_t i;
	printf("%s: %lld configuration%s; nothing is run\n", js_string_or(json, "kernel", "?"), valid,
	       valid == 1 ? "" : "s");
	json_array_foreach(json_object_get(json, "params"), i, one) param_print(one);
	json_array_foreach(json_object_get(json, "constraints"), i, one) if (json_is_string(one))
		printf("  only where %s\n", json_string_value(one));
	build_print(json_object_get(json, "problem"));
	case_print("baseline:", json_object_get(json, "baseline"));
	json_array_foreach(json_object_get(json, "examples"), i, one) case_print(i ? "" : "for example:", one);
	budget_print(json_object_get(json, "budget"));
}

void tune_dry_print(const struct tune_session *session) {
	json_t *plans = json_array(), *plan;
	size_t i;
	for (i = 0; i < session->count; i++)
		for (const char *const *note = session->items[i]->notes; note && *note; note++)
			ui_inform(app_ui(session->app), "%s", *note);
	for (i = 0; i < session->count; i++)
		json_array_append_new(plans, item_json(session->items[i], &session->settings));
	if (opt_has(session->args, "json")) {
		json_t *document = json_pack("{s:s,s:O}", "schema", "sweetspot-tune-plan/1", "plans", plans);
		js_write(document, stdout);
		json_decref(document);
	} else {
		json_array_foreach(plans, i, plan) item_print(plan);
	}
	json_decref(plans);
}
