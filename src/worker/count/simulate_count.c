/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/cachegrind.h"
#include "src/base/json/js.h"
#include "src/worker/count/simulate.h"

static void event_miss(struct counted *counted, const char *reason) {
	counted->status = COUNTER_UNAVAILABLE;
	counted->total = NAN;
	snprintf(counted->reason, sizeof counted->reason, "%s", reason);
}

static void event_fill(const struct simulate_job *job, int event, const double *values, struct counted *counted) {
	counted->status = COUNTER_SIMULATED;
	counted->unit = "count";
	counted->total = 0;
	for (int t = 0; t < job->threads; t++) {
		double value = values[(size_t)t * CACHEGRIND_EVENTS + (size_t)event];
		counted->total += value;
		if (counted->per_thread) {
			counted->per_thread[t] = value;
		}
	}
	snprintf(counted->reason, sizeof counted->reason, "simulated by valgrind's cache model, not counted%s",
	         job->threads > 1 ? "; the threads ran one at a time and shared all caches" : "");
}

void simulate_count(struct arena *arena, const struct simulate_job *job, const struct counter_plan *plan,
                    const size_t *events, size_t count, struct counting *counting) {
	char reason[2 * COUNTER_REASON] = "";
	struct simulation *simulation = arena_alloc(arena, 1, sizeof *simulation);
	double *values = arena_alloc(arena, (size_t)job->threads * CACHEGRIND_EVENTS, sizeof *values);
	bool on_device = strcmp(js_string_or(job->request, "device", "cpu"), "cpu") != 0, good = false;
	if (on_device) {
		snprintf(reason, sizeof reason, "valgrind does not simulate GPUs");
	} else {
		good = simulate_run(job, values, simulation, reason);
	}
	for (size_t i = 0; i < count; i++) {
		struct counted *counted = &counting->events[events[i]];
		int event = cachegrind_event_find(plan->events[events[i]].event);
		if (good && event >= 0) {
			event_fill(job, event, values, counted);
		} else {
			event_miss(counted, good ? "this event is not simulated" : reason);
		}
	}
	counting->simulation = good ? simulation : NULL;
}

json_t *simulation_json(const struct simulation *simulation) {
	return json_pack("{s:f, s:f, s:o, s:s, s:s}", "seconds", simulation->seconds, "elapsed_s", simulation->elapsed_s,
	                 "slowdown", js_number(simulation->slowdown), "model", simulation->model, "tool",
	                 "valgrind's callgrind");
}
