/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/program/runner_count_impl.h"

#include <math.h>

#include "base/sys.h"
#include "worker/program/simulate_impl.h"

enum { COUNT_RUNS = 16 /* seconds that the tuner waits at most: tuner/program/run.c */ };

/* Events of one backend that one run counts. */
struct batch {
	const struct counter_backend *backend;
	const char *names[COUNTER_OPEN_MAX];
	size_t events[COUNTER_OPEN_MAX]; /* of the plan */
	size_t count;
	void *state;
	double seconds;     /* seconds of start and stop */
	const char *failed; /* the step that failed; NULL: none */
};

static void batch_start(void *ctx) {
	struct batch *batch = ctx;
	double begun = sys_now();
	batch->failed = batch->backend->start(batch->state) == 0 ? NULL : "it cannot be started";
	batch->seconds = sys_now() - begun;
}

static void batch_stop(void *ctx) {
	struct batch *batch = ctx;
	double begun = sys_now();
	if (!batch->failed && batch->backend->stop(batch->state) != 0)
		batch->failed = "it cannot be stopped";
	batch->seconds += sys_now() - begun;
}

static void batch_close(struct batch *batch) {
	if (batch->state)
		batch->backend->close(batch->state);
	free(batch->state);
	batch->state = NULL;
}

static bool batch_open(struct batch *batch) {
	const struct counter_site site = {.threads = 1, .tree = true};
	size_t stride;
	batch->state = counter_states_new(batch->backend, 1, &stride);
	if (!batch->state)
		return false;
	if (batch->backend->open(batch->state, &site, batch->names, batch->count) == 0)
		return true;
	batch_close(batch);
	return false;
}

/* The next events of a backend, as many as can be counted together; opened, unless not even one can be. */
static bool batch_next(struct batch *batch, const struct counter_plan *plan, bool *done) {
	*batch = (struct batch){.count = 0};
	for (size_t i = 0; i < plan->event_count && batch->count < COUNTER_OPEN_MAX; i++) {
		const struct counter_backend *backend = plan->events[i].backend;
		if (done[i] || !backend || backend->scope == COUNTER_RERUN || (batch->backend && batch->backend != backend))
			continue;
		batch->backend = backend;
		batch->names[batch->count] = plan->events[i].event;
		batch->events[batch->count++] = i;
	}
	while (batch->count > 0 && !batch_open(batch) && batch->count > 1)
		batch->count = (batch->count + 1) / 2;
	for (size_t e = 0; e < batch->count; e++)
		done[batch->events[e]] = true;
	return batch->count > 0;
}

static void batch_miss(const struct batch *batch, const char *why, struct counting *counting) {
	for (size_t e = 0; e < batch->count; e++)
		counted_miss(&counting->events[batch->events[e]], why);
}

static void value_record(const struct counter_event *event, const struct counter_value *value,
                         struct counted *counted) {
	counted->unit = value->unit;
	counted->status = value->status;
	counted->total = value->value;
	snprintf(counted->reason, sizeof counted->reason, "%s", value->reason);
	if (value->status == COUNTER_UNAVAILABLE)
		counted_miss(counted, value->reason[0] ? value->reason : "not counted");
	counted_check(counted, event);
}

static void batch_read(const struct batch *batch, const struct counter_plan *plan, double seconds,
                       struct counting *counting) {
	struct counter_value values[COUNTER_OPEN_MAX];
	if (batch->backend->read(batch->state, values) != 0) {
		batch_miss(batch, "it cannot be read", counting);
		return;
	}
	for (size_t e = 0; e < batch->count; e++) {
		size_t i = batch->events[e];
		value_record(&plan->events[i], &values[e], &counting->events[i]);
		counting->events[i].seconds = seconds;
	}
}

/* One run that counts the batch. */
static void program_count_run(struct program_trial *trial, const struct counter_plan *plan, char **environment,
                              struct batch *batch, struct counting *counting) {
	const struct program_again again = {
		.environment = environment, .slowdown = 1, .start = batch_start, .stop = batch_stop, .ctx = batch};
	char why[PROGRAM_MESSAGE], reason[PROGRAM_MESSAGE + 40];
	if (!batch->state) {
		batch_miss(batch, "it cannot be opened", counting);
		return;
	}
	bool good = program_trial_again(trial, &again, why, sizeof why);
	if (!good) {
		snprintf(reason, sizeof reason, "the run to count it failed: %s", why);
		batch_miss(batch, reason, counting);
	} else if (batch->failed) {
		batch_miss(batch, batch->failed, counting);
	} else {
		batch_read(batch, plan, trial->run.seconds, counting);
		counting->runs++;
		counting->seconds += trial->run.seconds;
		counting->start_stop_s = fmax(counting->start_stop_s, batch->seconds);
	}
}

/* A simulator counts everything in a single run. */
static void simulated(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan, bool *done,
                      struct counting *counting) {
	size_t *events = arena_alloc(arena, plan->event_count + 1, sizeof *events), count = 0;
	for (size_t i = 0; i < plan->event_count; i++) {
		if (plan->events[i].backend && plan->events[i].backend->scope == COUNTER_RERUN) {
			events[count++] = i;
			done[i] = true;
		}
	}
	if (count > 0)
		program_simulate(arena, trial, plan, events, count, counting);
}

void program_count(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan, char **first,
                   struct counting *counting) {
	bool *done = arena_alloc(arena, plan->event_count + 1, sizeof *done);
	struct batch batch;
	counting_init(arena, plan, 0, counting);
	for (int i = 0; i < COUNT_RUNS && !trial->abandoned && batch_next(&batch, plan, done); i++) {
		program_count_run(trial, plan, counting->runs == 0 ? first : NULL, &batch, counting);
		batch_close(&batch);
	}
	if (!trial->abandoned)
		simulated(arena, trial, plan, done, counting);
	for (size_t i = 0; i < plan->event_count; i++)
		if (plan->events[i].backend && !done[i])
			counted_miss(&counting->events[i], "there was no run left to count it in");
	counting->seconds /= counting->runs > 0 ? (double)counting->runs : 1;
}
