/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "worker/counters_answer_impl.h"

#include "counters/cupti/cupti.h"
#include "base/json/js.h"
#include "worker/count/counting.h"
#include "worker/kernel/word.h"
#include "worker/request_impl.h"

static json_t *event_json(const struct counter_event *event) {
	return json_pack("{s:s, s:o, s:o, s:o, s:b, s:o}", "name", event->name, "unit", word_or_null(event->unit), "source",
	                 counting_source_json(event), "group", word_or_null(event->group), "rerun",
	                 event->backend && event->backend->scope == COUNTER_RERUN, "reason",
	                 word_clean_json(event->reason));
}

/* How many runs this backend needs for its events of the plan. */
static size_t passes_of(const struct counter_plan *plan, const struct counter_backend *backend,
                        const struct counter_site *site) {
	const char *names[COUNTER_OPEN_MAX];
	size_t count = 0;
	for (size_t i = 0; i < plan->event_count && count < COUNTER_OPEN_MAX; i++) {
		if (plan->events[i].backend == backend) {
			names[count++] = plan->events[i].event;
		}
	}
	return count > 0 ? backend->passes(site, names, count) : 0;
}

/* Only backends that need several runs and know how many. */
static json_t *passes_json(const struct counter_plan *plan, const struct counter_site *site) {
	json_t *out = json_object();
	for (size_t b = 0; counter_registry[b]; b++) {
		size_t passes = counter_registry[b]->passes ? passes_of(plan, counter_registry[b], site) : 0;
		if (passes > 0) {
			json_object_set_new(out, counter_registry[b]->name, json_integer((json_int_t)passes));
		}
	}
	return out;
}

static json_t *plan_json(const struct counter_plan *plan, const struct counter_site *site) {
	json_t *events = json_array(), *metrics = json_array();
	for (size_t i = 0; i < plan->event_count; i++) {
		json_array_append_new(events, event_json(&plan->events[i]));
	}
	for (size_t i = 0; i < plan->metric_count; i++) {
		const struct counter_metric *metric = &plan->metrics[i];
		json_array_append_new(metrics, json_pack("{s:s, s:s, s:s, s:s}", "group", metric->group, "name", metric->name,
		                                         "unit", metric->unit, "formula", metric->formula));
	}
	return json_pack("{s:o, s:o, s:o}", "events", events, "metrics", metrics, "passes", passes_json(plan, site));
}

static int device_open(const struct counters_home *home, int index, struct counter_site *site, struct err *err) {
	site->gpu = devices_get(home->devices, index, err);
	return site->gpu || index == DEVICE_CPU ? 0 : -1;
}

/* For a program or a function that is compiled later, which do not bring events of their own as a kernel does. */
static int names_read(struct arena *arena, const struct counters_home *home, const json_t *json,
                      struct request *request, struct counter_site *site, struct err *err) {
	static const struct member members[] = {
		{.key = "op"},
		{.key = "id"},
		{.key = "program"},
		{.key = "device"},
		MEMBER(struct request, "counters", WORDS, counters, .max = REQUEST_COUNTERS_MAX)};
	const char *device = "cpu";
	int index;
	json_t *names;
	return js_array(json, "counters", REQUEST_COUNTERS_MAX, &names, err) ||
	               members_read(arena, members, sizeof members / sizeof *members, json, request, err) ||
	               (json_object_get(json, "program") && js_bool(json, "program", &site->tree, err)) ||
	               (json_object_get(json, "device") && js_string(json, "device", &device, err)) ||
	               device_read(device, &index, err)
	           ? -1
	           : device_open(home, index, site, err);
}

/* For a kernel, on the device that will run it. */
static int kernel_read(struct arena *arena, const struct counters_home *home, const json_t *json,
                       struct request *request, struct counter_site *site, struct err *err) {
	if (request_read(arena, home->libraries, json, request, err) != 0) {
		return -1;
	}
	site->software = counters_software(arena, request->call.entry->kernel);
	return device_open(home, request->call.device, site, err);
}

json_t *counters_answer(const struct counters_home *home, const json_t *json, struct err *err) {
	struct arena *arena = arena_new();
	struct counter_plan *plan = NULL;
	struct request request;
	struct counter_site site = {.tree = false};
	bool kernel = json_object_get(json, "kernel") != NULL;
	json_t *answer = NULL;
	if ((kernel ? kernel_read(arena, home, json, &request, &site, err)
	            : names_read(arena, home, json, &request, &site, err)) == 0) {
		plan = counters_plan(home->counters, arena, request.counters, &site, err);
	}
	if (plan) {
		answer = plan_json(plan, &site);
		counter_plan_clear(plan);
	}
	arena_free(arena);
	return answer;
}

json_t *counters_metrics_answer(const json_t *json, struct err *err) {
	static const char *const keys[] = {"op", "id", "chip", "prefix"};
	const char *chip = NULL, *prefix = "";
	if (word_check_keys(json, keys, sizeof keys / sizeof *keys, err) != 0 ||
	    (json_object_get(json, "chip") && js_string(json, "chip", &chip, err) != 0) ||
	    (json_object_get(json, "prefix") && js_string(json, "prefix", &prefix, err) != 0)) {
		return NULL;
	}
	return cupti_list(chip, prefix, err);
}
