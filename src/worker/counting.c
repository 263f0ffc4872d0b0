/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/counting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/js.h"
#include "src/worker/word.h"

/* One backend over the whole team. */
struct counting {
	const struct counter_backend *backend;
	size_t events, stride;
	int threads;
	char *states;                 /* threads * stride */
	int *failed;                  /* by thread: the first step that failed, from 1 */
	struct counter_value *values; /* threads * events */
};

enum step { STEP_OPEN = 1, STEP_START, STEP_STOP, STEP_READ };

static void *counting_state(struct counting *c, int thread) {
	return c->states + (size_t)thread * c->stride;
}

static void thread_start(void *ctx, int thread) {
	struct counting *c = ctx;
	void *state = counting_state(c, thread);
	if (c->backend->open(state) != 0) {
		c->failed[thread] = STEP_OPEN;
	} else if (c->backend->start(state) != 0) {
		c->failed[thread] = STEP_START;
	}
}

static void thread_stop(void *ctx, int thread) {
	struct counting *c = ctx;
	void *state = counting_state(c, thread);
	if (c->failed[thread] == 0 && c->backend->stop(state) != 0) {
		c->failed[thread] = STEP_STOP;
	}
}

static void thread_close(void *ctx, int thread) {
	struct counting *c = ctx;
	void *state = counting_state(c, thread);
	if (c->failed[thread] == 0 && c->backend->read(state, c->values + (size_t)thread * c->events) != 0) {
		c->failed[thread] = STEP_READ;
	}
	c->backend->close(state);
}

/* Without a reset, as many runs as a sample has; with one, which must not be counted, a single run. */
static enum ss_status counted_runs(struct counting *c, struct state *state, const struct team *team, int64_t *runs) {
	enum ss_status status = SS_OK;
	*runs = state->kernel->reset || state->batch < 1 ? 1 : state->batch;
	if (state->kernel->reset) {
		state->kernel->reset(state->memory, &state->call);
	}
	team_each(team, thread_start, c);
	for (int64_t i = 0; i < *runs && status == SS_OK; i++) {
		status = state->kernel->run(state->memory, &state->call);
	}
	team_each(team, thread_stop, c);
	team_each(team, thread_close, c);
	return status;
}

static json_t *text_or_null(const char *text) {
	return text && text[0] ? json_string(text) : json_null();
}

static json_t *event_json(const char *name, const char *unit, enum counter_status status, json_t *value, char *reason,
                          size_t reason_size, json_t *per_thread) {
	word_clean(reason, reason_size);
	return json_pack("{s:s, s:o, s:o, s:s, s:o, s:o}", "name", name, "value", value, "unit", text_or_null(unit),
	                 "status", counter_status_name(status), "reason", text_or_null(reason), "per_thread", per_thread);
}

/* Why thread t has no value of event e; empty where it has one. */
static void missing_reason(const struct counting *c, int t, size_t e, char *reason, size_t size) {
	static const char *const steps[] = {"", "opened", "started", "stopped", "read"};
	const struct counter_value *value = &c->values[(size_t)t * c->events + e];
	reason[0] = '\0';
	if (c->failed[t]) {
		snprintf(reason, size, "thread %d could not be %s", t, steps[c->failed[t]]);
	} else if (value->status == COUNTER_UNAVAILABLE) {
		snprintf(reason, size, "%s", value->reason[0] ? value->reason : "not counted");
	}
}

/* A total is only given where every thread has a value. */
static json_t *event_total(struct counting *c, size_t e, int64_t runs) {
	json_t *per_thread = json_array();
	enum counter_status status = COUNTER_COUNTED;
	char reason[160] = "", why[160];
	const char *unit = NULL;
	double total = 0;
	for (int t = 0; t < c->threads; t++) {
		struct counter_value *value = &c->values[(size_t)t * c->events + e];
		missing_reason(c, t, e, why, sizeof why);
		if (why[0]) {
			status = COUNTER_UNAVAILABLE;
			memcpy(reason, why, sizeof reason);
			json_array_append_new(per_thread, json_null());
			continue;
		}
		if (status != COUNTER_UNAVAILABLE && value->status != COUNTER_COUNTED) {
			status = value->status;
			snprintf(reason, sizeof reason, "%s", value->reason);
		}
		unit = value->unit;
		total += value->value;
		json_array_append_new(per_thread, js_number(value->value / (double)runs));
	}
	json_t *value = status == COUNTER_UNAVAILABLE ? json_null() : js_number(total / (double)runs);
	return event_json(c->backend->events[e], unit, status, value, reason, sizeof reason, per_thread);
}

static void append_unusable(json_t *out, const struct counter_backend *backend, struct counter_probe *probe) {
	for (size_t e = 0; backend->events[e]; e++) {
		json_array_append_new(out, event_json(backend->events[e], NULL, COUNTER_UNAVAILABLE, json_null(), probe->reason,
		                                      sizeof probe->reason, json_array()));
	}
}

static bool counting_init(struct counting *c, const struct counter_backend *backend, int threads) {
	*c = (struct counting){.backend = backend, .threads = threads};
	while (backend->events[c->events]) {
		c->events++;
	}
	c->stride = (backend->state_size + 63) / 64 * 64 + 64;
	c->states = aligned_alloc(64, c->stride * (size_t)threads);
	c->failed = calloc((size_t)threads, sizeof *c->failed);
	c->values = calloc((size_t)threads * (c->events + 1), sizeof *c->values);
	if (c->states) {
		memset(c->states, 0, c->stride * (size_t)threads);
	}
	return c->states && c->failed && c->values;
}

static void counting_clear(struct counting *c) {
	free(c->states);
	free(c->failed);
	free(c->values);
}

static enum ss_status backend_run(struct state *state, const struct counter_backend *backend, const struct team *team,
                                  json_t *out) {
	struct counting c;
	struct counter_probe probe = {.usable = false};
	int64_t runs;
	backend->probe(&probe);
	if (!probe.usable) {
		append_unusable(out, backend, &probe);
		return SS_OK;
	}
	enum ss_status status = SS_NOMEM;
	if (counting_init(&c, backend, team_threads(team))) {
		status = counted_runs(&c, state, team, &runs);
	}
	for (size_t e = 0; status == SS_OK && e < c.events; e++) {
		json_array_append_new(out, event_total(&c, e, runs));
	}
	counting_clear(&c);
	return status;
}

json_t *counting_run(struct state *state, const struct counter_backend *const *backends, const struct team *team,
                     enum ss_status *status) {
	json_t *out = json_array();
	*status = SS_OK;
	for (; *backends && *status == SS_OK; backends++) {
		*status = backend_run(state, *backends, team, out);
	}
	if (*status != SS_OK) {
		json_decref(out);
		return NULL;
	}
	return out;
}
