/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/counters_answer.h"

#include "src/base/js.h"
#include "src/worker/counting.h"
#include "src/worker/request.h"
#include "src/worker/word.h"

static json_t *event_json(const struct counter_event *event) {
	return json_pack("{s:s, s:o, s:o, s:o, s:b, s:o}", "name", event->name, "unit", word_or_null(event->unit), "source",
	                 counting_source_json(event), "group", word_or_null(event->group), "rerun",
	                 event->backend && event->backend->scope == COUNTER_RERUN, "reason", word_clean_json(event->reason));
}

static json_t *plan_json(const struct counter_plan *plan) {
	json_t *events = json_array(), *metrics = json_array();
	for (size_t i = 0; i < plan->event_count; i++) {
		json_array_append_new(events, event_json(&plan->events[i]));
	}
	for (size_t i = 0; i < plan->metric_count; i++) {
		const struct counter_metric *metric = &plan->metrics[i];
		json_array_append_new(metrics, json_pack("{s:s, s:s, s:s, s:s}", "group", metric->group, "name", metric->name,
		                                         "unit", metric->unit, "formula", metric->formula));
	}
	return json_pack("{s:o, s:o}", "events", events, "metrics", metrics);
}

/* Without a kernel, which brings events of its own. */
static int names_read(struct arena *arena, const json_t *json, bool *tree, struct request *request, struct err *err) {
	static const char *const keys[] = {"op", "id", "counters", "program"};
	json_t *names;
	if (word_check_keys(json, keys, sizeof keys / sizeof *keys, err) != 0 ||
	    js_array(json, "counters", REQUEST_COUNTERS_MAX, &names, err) != 0 ||
	    (json_object_get(json, "program") && js_bool(json, "program", tree, err) != 0)) {
		return -1;
	}
	return request_counters(arena, json, &request->counters, err);
}

json_t *counters_answer(struct counters *counters, struct libraries *libraries, const json_t *json, struct err *err) {
	struct arena *arena = arena_new();
	struct counter_plan *plan = NULL;
	struct request request;
	bool tree = false, kernel = json_object_get(json, "kernel") != NULL;
	json_t *answer = NULL;
	if ((kernel ? request_read(arena, libraries, json, &request, err)
	            : names_read(arena, json, &tree, &request, err)) == 0) {
		const struct counter_software *software =
			kernel ? counters_software(arena, request.call.entry->kernel) : NULL;
		plan = counters_plan(counters, arena, request.counters, software, tree, err);
	}
	if (plan) {
		answer = plan_json(plan);
		counter_plan_clear(plan);
	}
	arena_free(arena);
	return answer;
}
