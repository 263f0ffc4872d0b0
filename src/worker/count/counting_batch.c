/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/count/counting_batch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/sys.h"
#include "src/worker/kernel/device.h"

enum step { STEP_OPEN = 1, STEP_START, STEP_STOP, STEP_READ };

/* A thread's state; padded to a cache line. */
struct batch_slot {
	_Alignas(64) enum step failed; /* the first step that failed; 0: none */
	double seconds;                /* seconds of start and stop */
};

static void *batch_state(const struct batch *batch, int thread) {
	return batch->states + (size_t)thread * batch->stride;
}

static bool batch_alloc(struct batch *batch) {
	size_t threads = (size_t)batch->threads;
	batch->states = counter_states_new(batch->backend, threads, &batch->stride);
	batch->slots = aligned_alloc(64, sizeof *batch->slots * threads);
	batch->values = calloc(threads * batch->count, sizeof *batch->values);
	if (!batch->states || !batch->slots || !batch->values) {
		return false;
	}
	memset(batch->slots, 0, sizeof *batch->slots * threads);
	return true;
}

void batch_free(struct batch *batch) {
	free(batch->states);
	free(batch->slots);
	free(batch->values);
	json_decref(batch->details);
	batch->details = NULL;
}

static void step_done(struct batch *batch, int thread, enum step step, int rc) {
	if (rc != 0 && batch->slots[thread].failed == 0) {
		batch->slots[thread].failed = step;
	}
}

static void thread_open(void *ctx, int thread) {
	struct batch *batch = ctx;
	const struct counter_site site = {
		.thread = thread, .threads = batch->threads, .software = batch->software, .gpu = batch->gpu};
	step_done(batch, thread, STEP_OPEN,
	          batch->backend->open(batch_state(batch, thread), &site, batch->names, batch->count));
}

/* The first start and stop of a thread take twice as long as later ones, and would delay the threads that wait for
 * it. */
static void thread_rehearse(struct batch *batch, int thread) {
	void *state = batch_state(batch, thread);
	if (batch->backend->more) { /* a pass without a run in it would be lost */
		return;
	}
	if (batch->slots[thread].failed == 0) {
		step_done(batch, thread, STEP_START, batch->backend->start(state));
	}
	if (batch->slots[thread].failed == 0) {
		step_done(batch, thread, STEP_STOP, batch->backend->stop(state));
	}
}

static void thread_prepare(void *ctx, int thread) {
	thread_open(ctx, thread);
	thread_rehearse(ctx, thread);
}

static void thread_step(struct batch *batch, int thread, enum step step, int (*call)(void *state)) {
	struct batch_slot *slot = &batch->slots[thread];
	if (slot->failed) {
		return;
	}
	double begun = sys_now();
	step_done(batch, thread, step, call(batch_state(batch, thread)));
	slot->seconds += sys_now() - begun;
}

static void thread_start(void *ctx, int thread) {
	struct batch *batch = ctx;
	thread_step(batch, thread, STEP_START, batch->backend->start);
}

static void thread_stop(void *ctx, int thread) {
	struct batch *batch = ctx;
	thread_step(batch, thread, STEP_STOP, batch->backend->stop);
}

static void thread_close(void *ctx, int thread) {
	struct batch *batch = ctx;
	void *state = batch_state(batch, thread);
	if (batch->slots[thread].failed == 0) {
		step_done(batch, thread, STEP_READ, batch->backend->read(state, batch->values + (size_t)thread * batch->count));
	}
	if (batch->slots[thread].failed == 0 && batch->backend->details && thread == 0) {
		batch->details = batch->backend->details(state);
	}
	batch->backend->close(state);
}

/* Only the main thread counts if the backend counts the whole machine. */
static void batch_each(struct batch *batch, const struct team *team, void (*work)(void *ctx, int thread)) {
	if (batch->backend->scope == COUNTER_MACHINE) {
		work(batch, 0);
	} else {
		team_each(team, work, batch);
	}
}

/* Without a reset, as many runs as a sample has; a reset must not be counted, so then a single run. */
static int64_t batch_length(const struct batch *batch, const struct state *state) {
	bool single = (batch->backend->software && batch->software) || batch->backend->more || state->kernel->reset;
	return single || state->batch < 1 ? 1 : state->batch;
}

static void software_clear(struct batch *batch, struct state *state) {
	if (batch->backend->software && batch->software) {
		memset(batch->software->values, 0,
		       sizeof(int64_t) * batch->software->stride * (size_t)batch->software->threads);
		state->call.events = batch->software->values;
	}
}

/* From start to stop. */
static enum ss_status batch_once(struct batch *batch, struct state *state, const struct team *team, int64_t runs,
                                 double *seconds) {
	enum ss_status status = SS_OK;
	if (state->kernel->reset) {
		state->kernel->reset(state->memory, &state->call);
	}
	software_clear(batch, state);
	batch_each(batch, team, thread_start);
	double begun = sys_now();
	for (int64_t i = 0; i < runs && status == SS_OK; i++) {
		status = state->kernel->run(state->memory, &state->call);
	}
	if (state->call.gpu &&
	    !batch->backend->more) { /* a range covers a run of the device, so it ends only when the device is idle */
		gpu_sync(state->call.gpu);
	}
	*seconds += sys_now() - begun;
	batch_each(batch, team, thread_stop);
	state->call.events = NULL;
	return status == SS_OK && state->call.gpu ? cuda_status(&state->call) : status;
}

static bool batch_more(const struct batch *batch) {
	return batch->backend->more && batch->slots[0].failed == 0 && batch->backend->more(batch->states);
}

/* The counts are those of one run if the backend needs several runs for them. */
static enum ss_status batch_runs(struct batch *batch, struct state *state, const struct team *team, int64_t *runs,
                                 double *seconds) {
	enum ss_status status = SS_OK;
	*runs = batch_length(batch, state);
	*seconds = 0;
	batch->passes = 0;
	do {
		status = batch_once(batch, state, team, *runs, seconds);
		batch->passes++;
	} while (status == SS_OK && batch_more(batch));
	*seconds /= (double)batch->passes;
	return status;
}

bool batch_fits(const struct batch *batch) {
	struct batch one = *batch;
	one.threads = 1;
	one.details = NULL;
	bool fits = batch_alloc(&one);
	if (fits) {
		thread_open(&one, 0);
		fits = one.slots[0].failed == 0;
		one.backend->close(one.states);
	}
	batch_free(&one);
	return fits;
}

enum ss_status batch_run(struct batch *batch, struct state *state, const struct team *team, int64_t *runs,
                         double *seconds) {
	if (!batch_alloc(batch)) {
		return SS_NOMEM;
	}
	batch_each(batch, team, thread_prepare);
	enum ss_status status = batch_runs(batch, state, team, runs, seconds);
	batch_each(batch, team, thread_close);
	return status;
}

void batch_missing(const struct batch *batch, int t, size_t e, char reason[COUNTER_REASON]) {
	static const char *const steps[] = {"", "opened", "started", "stopped", "read"};
	const struct counter_value *value = &batch->values[(size_t)t * batch->count + e];
	reason[0] = '\0';
	if (batch->slots[t].failed) {
		snprintf(reason, COUNTER_REASON, "thread %d could not be %s", t, steps[batch->slots[t].failed]);
	} else if (value->status == COUNTER_UNAVAILABLE) {
		snprintf(reason, COUNTER_REASON, "%s", value->reason[0] ? value->reason : "not counted");
	}
}

double batch_start_stop(const struct batch *batch) {
	double most = 0;
	for (int t = 0; t < batch->threads; t++) {
		most = fmax(most, batch->slots[t].seconds);
	}
	return most;
}
