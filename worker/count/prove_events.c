/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts each portable event over the loop of known work, for `sweetspot doctor --counters`. */
#include <math.h>

#include "base/json/js.h"
#include "counters/selftest.h"
#include "worker/count/counting.h"
#include "worker/kernel/word.h"

/* The sources of one event that were tried. */
struct prover {
	const char *event;
	bool counted; /* by one of them */
	json_t *rows;
};

static json_t *bounds_json(const struct counter_loop *loop) {
	return loop->word ? json_pack("{s:f, s:f}", "least", loop->least, "most", loop->most) : json_null();
}

static void row_add(struct prover *prover, const char *source, const char *verdict, const struct counter_loop *loop,
                    const struct counter_proof *proof, const char *reason) {
	json_array_append_new(prover->rows,
	                      json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "event", prover->event, "source",
	                                word_or_null(source), "expected", bounds_json(loop), "counted",
	                                js_number(proof->counted), "empty", js_number(proof->empty), "start_stop_s",
	                                js_number(proof->seconds), "verdict", verdict, "reason", word_or_null(reason)));
}

/* A source that cannot count at all has its reason in the plan. */
static bool good(void *ctx, const struct counter_backend *backend, const char *event, const struct counter_loop *loop,
                 char reason[COUNTER_REASON]) {
	struct prover *prover = ctx;
	const struct counter_site site = {.threads = 1};
	struct counter_proof proof;
	mem_auto char *source = mem_printf("%s:%s", backend->name, event);
	if (backend->scope == COUNTER_RERUN || !counter_can(backend, event, &site, reason))
		return false;
	if (!counter_selftest_count(backend, event, &site, loop, &proof)) {
		snprintf(reason, COUNTER_REASON, "%s", proof.reason[0] ? proof.reason : "it opens, but cannot be counted");
		return false;
	}
	bool believed = counter_selftest_believes(proof.counted, loop, backend, event, reason);
	row_add(prover, source, !believed ? "wrong" : loop->word ? "right" : "unchecked", loop, &proof, reason);
	prover->counted = prover->counted || believed;
	return believed;
}

static void formula_add(struct prover *prover, const struct counter_plan *plan) {
	static const struct counter_proof nothing = {NAN, NAN, NAN, ""};
	static const struct counter_loop unknown = {.word = NULL};
	mem_auto char *reason = mem_printf("computed from others: %s", plan->metrics[0].formula);
	row_add(prover, NULL, "computed", &unknown, &nothing, reason);
}

/* The rows of the parts of a formula belong to other events. */
static json_t *event_prove(const struct counter_tables *tables, const char *cpu, const json_t *event) {
	static const struct counter_proof nothing = {NAN, NAN, NAN, ""};
	const char *name = js_string_or(event, "name", "");
	const char *const asked[] = {name, NULL};
	struct counter_loop loop = {.word = NULL};
	struct arena *arena = arena_new();
	struct prover prover = {.event = name, .rows = json_array()};
	const struct counter_judge judge = {&prover, cpu, good, "cpu"};
	struct counter_plan *plan = counter_plan_new(arena, tables, asked, NULL, &judge, NULL);
	if (plan && plan->metric_count > 0) {
		json_array_clear(prover.rows);
		formula_add(&prover, plan);
	} else if (plan && !prover.counted) {
		counter_loop_find(js_string_or(event, "loop", ""), js_string_or(event, "unit", ""), &loop);
		row_add(&prover, NULL, "unavailable", &loop, &nothing, plan->events[0].reason);
	}
	counter_plan_clear(plan);
	arena_free(arena);
	return prover.rows;
}

/* A simulator is no counter, and a GPU counts nothing of this loop. */
static bool is_counted_here(const json_t *event) {
	const char *source = json_string_value(json_array_get(json_object_get(event, "known_as"), 0));
	if (strstr(js_string_or(event, "formula", ""), "gpu_"))
		return false;
	return !source || (strncmp(source, "cupti", 5) != 0 && strncmp(source, "cachegrind", 10) != 0);
}

json_t *counters_prove(struct counters *counters, struct err *err) {
	const struct counter_tables *tables = counters_tables(counters, err);
	char cpu[64];
	if (!tables)
		return NULL;
	json_t *rows = json_array();
	js_auto json_t *events = counter_tables_events(tables);
	counter_cpu(cpu, sizeof cpu);
	js_each (event, events) {
		js_auto json_t *more = is_counted_here(event) ? event_prove(tables, cpu, event) : json_array();
		json_array_extend(rows, more);
	}
	return json_pack("{s:o}", "rows", rows);
}
