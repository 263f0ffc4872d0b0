/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/count/counting.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/worker/count/counting_batch.h"
#include "src/worker/count/simulate.h"

void counted_miss(struct counted *counted, const char *reason) {
	counted->status = COUNTER_UNAVAILABLE;
	counted->total = NAN;
	snprintf(counted->reason, sizeof counted->reason, "%s", reason);
}

void counted_check(struct counted *counted, const struct counter_event *event) {
	if (counted->status != COUNTER_UNAVAILABLE && event->never_zero && !(counted->total > 0)) {
		counted_miss(counted, "counted 0, which is impossible for code that ran");
	}
}

/* A total needs a value from every thread. */
static void event_fill(const struct batch *batch, size_t e, double runs, struct counted *counted) {
	char reason[COUNTER_REASON];
	bool shared = batch->values[e].shared;
	counted->total = 0;
	if (shared) {
		counted->per_thread = NULL;
	}
	for (int t = 0; t < (shared ? 1 : batch->threads); t++) {
		const struct counter_value *value = &batch->values[(size_t)t * batch->count + e];
		batch_missing(batch, t, e, reason);
		if (reason[0]) {
			counted_miss(counted, reason);
			continue;
		}
		if (counted->status != COUNTER_UNAVAILABLE && value->status != COUNTER_COUNTED) {
			counted->status = value->status;
		}
		if (counted->status != COUNTER_UNAVAILABLE && value->reason[0]) {
			snprintf(counted->reason, sizeof counted->reason, "%s", value->reason);
		}
		counted->unit = value->unit;
		counted->total += value->value / runs;
		if (counted->per_thread) {
			counted->per_thread[t] = value->value / runs;
		}
	}
}

static void batch_fill(const struct batch *batch, const struct counter_plan *plan, int64_t runs, double seconds,
                       struct counting *counting) {
	for (size_t e = 0; e < batch->count; e++) {
		const struct counter_event *event = &plan->events[batch->events[e]];
		struct counted *counted = &counting->events[batch->events[e]];
		event_fill(batch, e, (double)runs, counted);
		counted->seconds = seconds;
		counted_check(counted, event);
	}
	counting->start_stop_s = fmax(counting->start_stop_s, batch_start_stop(batch));
}

/* A later batch of the same backend would report the same. */
static void details_add(struct batch *batch, struct counting *counting) {
	if (batch->details && !counting->details) {
		counting->details = json_incref(batch->details);
	} else if (batch->details) {
		json_object_update_missing(counting->details, batch->details);
	}
}

static enum ss_status batch_count(struct batch *batch, const struct counter_plan *plan, struct state *state,
                                  const struct team *team, struct counting *counting) {
	int64_t runs = 0;
	double seconds = 0;
	enum ss_status status = batch_run(batch, state, team, &runs, &seconds);
	if (status == SS_OK) {
		batch_fill(batch, plan, runs, seconds / (double)runs, counting);
		details_add(batch, counting);
		counting->seconds += seconds * (double)batch->passes;
		counting->runs += runs * batch->passes;
	}
	batch_free(batch);
	return status;
}

/* The next uncounted events of a backend: as many as can be counted together, but at least one. */
static bool batch_next(struct batch *batch, const struct counter_plan *plan, bool *done) {
	batch->count = 0;
	for (size_t i = 0; i < plan->event_count && batch->count < COUNTER_OPEN_MAX; i++) {
		if (!done[i] && plan->events[i].backend && (batch->count == 0 || plan->events[i].backend == batch->backend)) {
			batch->backend = plan->events[i].backend;
			batch->names[batch->count] = plan->events[i].event;
			batch->events[batch->count++] = i;
		}
	}
	while (batch->count > 1 && batch->backend->scope != COUNTER_RERUN && !batch_fits(batch)) {
		batch->count = (batch->count + 1) / 2;
	}
	for (size_t e = 0; e < batch->count; e++) {
		done[batch->events[e]] = true;
	}
	return batch->count > 0;
}

void counting_init(struct arena *arena, const struct counter_plan *plan, int threads, struct counting *counting) {
	*counting = (struct counting){.events = arena_alloc(arena, plan->event_count + 1, sizeof(struct counted))};
	for (size_t i = 0; i < plan->event_count; i++) {
		struct counted *counted = &counting->events[i];
		const struct counter_backend *backend = plan->events[i].backend;
		*counted = (struct counted){.unit = plan->events[i].unit, .total = NAN, .threads = threads, .seconds = NAN};
		if (!backend) {
			counted_miss(counted, plan->events[i].reason);
		} else if (backend->scope != COUNTER_MACHINE) {
			counted->per_thread = arena_alloc(arena, (size_t)threads, sizeof(double));
			for (int t = 0; t < threads; t++) {
				counted->per_thread[t] = NAN;
			}
		}
	}
}

enum ss_status counting_run(struct arena *arena, struct state *state, const struct counter_plan *plan,
                            const struct counter_software *software, const struct team *team,
                            const struct simulate_job *job, struct counting *counting) {
	bool *done = arena_alloc(arena, plan->event_count + 1, sizeof *done);
	struct batch batch = {.software = software, .gpu = state->call.gpu};
	enum ss_status status = SS_OK;
	counting_init(arena, plan, team_threads(team), counting);
	while (status == SS_OK && batch_next(&batch, plan, done)) {
		if (batch.backend->scope == COUNTER_RERUN) {
			simulate_count(arena, job, plan, batch.events, batch.count, counting);
			continue;
		}
		batch.threads = batch.backend->scope == COUNTER_MACHINE ? 1 : team_threads(team);
		status = batch_count(&batch, plan, state, team, counting);
	}
	counting->seconds = counting->runs > 0 ? counting->seconds / (double)counting->runs : NAN;
	return status;
}
