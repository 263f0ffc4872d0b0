/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/count/counting_impl.h"

#include <math.h>

#include "base/sys.h"
#include "worker/count/simulate.h"

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
	if (!batch->states || !batch->slots || !batch->values)
		return false;
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
	if (rc != 0 && batch->slots[thread].failed == 0)
		batch->slots[thread].failed = step;
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
	if (batch->backend->more) /* a pass without a run in it would be lost */
		return;
	if (batch->slots[thread].failed == 0)
		step_done(batch, thread, STEP_START, batch->backend->start(state));
	if (batch->slots[thread].failed == 0)
		step_done(batch, thread, STEP_STOP, batch->backend->stop(state));
}

static void thread_prepare(void *ctx, int thread) {
	thread_open(ctx, thread);
	thread_rehearse(ctx, thread);
}

static void thread_step(struct batch *batch, int thread, enum step step, int (*call)(void *state)) {
	struct batch_slot *slot = &batch->slots[thread];
	if (slot->failed)
		return;
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
	if (batch->slots[thread].failed == 0)
		step_done(batch, thread, STEP_READ, batch->backend->read(state, batch->values + (size_t)thread * batch->count));
	if (batch->slots[thread].failed == 0 && batch->backend->details && thread == 0)
		batch->details = batch->backend->details(state);
	batch->backend->close(state);
}

/* Only the main thread counts if the backend counts the whole machine. */
static void batch_each(struct batch *batch, const struct team *team, void (*work)(void *ctx, int thread)) {
	if (batch->backend->scope == COUNTER_MACHINE)
		work(batch, 0);
	else
		team_each(team, work, batch);
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
	if (state->kernel->reset)
		state->kernel->reset(state->memory, &state->call);
	software_clear(batch, state);
	batch_each(batch, team, thread_start);
	double begun = sys_now();
	for (int64_t i = 0; i < runs && status == SS_OK; i++)
		status = state->kernel->run(state->memory, &state->call);
	if (state->call.gpu &&
	    !batch->backend->more) /* a range covers a run of the device, so it ends only when the device is idle */
		gpu_sync(state->call.gpu);
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

/* True if this thread can count them together. */
static bool batch_fits(const struct batch *batch) {
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
	if (!batch_alloc(batch))
		return SS_NOMEM;
	batch_each(batch, team, thread_prepare);
	enum ss_status status = batch_runs(batch, state, team, runs, seconds);
	batch_each(batch, team, thread_close);
	return status;
}

void batch_missing(const struct batch *batch, int t, size_t e, char reason[COUNTER_REASON]) {
	static const char *const steps[] = {"", "opened", "started", "stopped", "read"};
	const struct counter_value *value = &batch->values[(size_t)t * batch->count + e];
	reason[0] = '\0';
	if (batch->slots[t].failed)
		snprintf(reason, COUNTER_REASON, "thread %d could not be %s", t, steps[batch->slots[t].failed]);
	else if (value->status == COUNTER_UNAVAILABLE)
		snprintf(reason, COUNTER_REASON, "%s", value->reason[0] ? value->reason : "not counted");
}

/* Longest start and stop in a thread, seconds. */
static double batch_start_stop(const struct batch *batch) {
	double most = 0;
	for (int t = 0; t < batch->threads; t++)
		most = fmax(most, batch->slots[t].seconds);
	return most;
}

void counted_miss(struct counted *counted, const char *reason) {
	counted->status = COUNTER_UNAVAILABLE;
	counted->total = NAN;
	snprintf(counted->reason, sizeof counted->reason, "%s", reason);
}

void counted_check(struct counted *counted, const struct counter_event *event) {
	if (counted->status != COUNTER_UNAVAILABLE && event->never_zero && !(counted->total > 0))
		counted_miss(counted, "counted 0, which is impossible for code that ran");
}

void counted_share(struct counted *counted, const struct counter_plan *plan) {
	char reason[2 * COUNTER_REASON];
	if (counted->status != COUNTER_SCALED || plan->multiplex)
		return;
	snprintf(reason, sizeof reason, "%.240s: not taken; --counters NAME,multiplex shows the estimate and its error",
	         counted->reason[0] ? counted->reason : "scaled");
	counted_miss(counted, reason);
}

bool spread_add(struct spread *spread, const struct counting *counting, const size_t *events, size_t count) {
	bool found = false;
	for (size_t e = 0; e < count; e++) {
		const struct counted *counted = &counting->events[events[e]];
		double x = counted->status == COUNTER_SCALED ? counted->total : NAN;
		spread->least[e] = spread->runs ? fmin(spread->least[e], x) : x;
		spread->most[e] = spread->runs ? fmax(spread->most[e], x) : x;
		spread->sum[e] = (spread->runs ? spread->sum[e] : 0) + x;
		found = found || isfinite(x);
	}
	spread->runs++;
	return found && spread->runs < SPREAD_RUNS;
}

void spread_end(const struct spread *spread, struct counting *counting, const size_t *events, size_t count) {
	for (size_t e = 0; e < count; e++) {
		struct counted *counted = &counting->events[events[e]];
		double mean = spread->sum[e] / spread->runs;
		if (counted->status != COUNTER_SCALED || !(mean > 0) || spread->runs < 2)
			continue;
		counted->total = mean;
		counted->error = (spread->most[e] - spread->least[e]) / 2 / mean;
		size_t used = strlen(counted->reason);
		snprintf(counted->reason + used, sizeof counted->reason - used, "%s+-%.2g %% over %d runs", used ? "; " : "",
		         100 * counted->error, spread->runs);
	}
}

/* A total needs a value from every thread. */
static void event_fill(const struct batch *batch, size_t e, double runs, struct counted *counted) {
	char reason[COUNTER_REASON];
	bool shared = batch->values[e].shared;
	counted->total = 0;
	counted->status = COUNTER_COUNTED;
	if (shared)
		counted->per_thread = NULL;
	for (int t = 0; t < (shared ? 1 : batch->threads); t++) {
		const struct counter_value *value = &batch->values[(size_t)t * batch->count + e];
		batch_missing(batch, t, e, reason);
		if (reason[0]) {
			counted_miss(counted, reason);
			continue;
		}
		if (counted->status != COUNTER_UNAVAILABLE && value->status != COUNTER_COUNTED)
			counted->status = value->status;
		if (counted->status != COUNTER_UNAVAILABLE && value->reason[0])
			snprintf(counted->reason, sizeof counted->reason, "%s", value->reason);
		counted->unit = value->unit;
		counted->total += value->value / runs;
		if (counted->per_thread)
			counted->per_thread[t] = value->value / runs;
	}
}

static void batch_fill(const struct batch *batch, const struct counter_plan *plan, int64_t runs, double seconds,
                       struct counting *counting) {
	for (size_t e = 0; e < batch->count; e++) {
		const struct counter_event *event = &plan->events[batch->events[e]];
		struct counted *counted = &counting->events[batch->events[e]];
		event_fill(batch, e, (double)runs, counted);
		counted->seconds = seconds;
		counted_share(counted, plan);
		counted_check(counted, event);
	}
	counting->start_stop_s = fmax(counting->start_stop_s, batch_start_stop(batch));
}

/* A later batch of the same backend would report the same. */
static void details_add(struct batch *batch, struct counting *counting) {
	if (batch->details && !counting->details)
		counting->details = json_incref(batch->details);
	else if (batch->details)
		json_object_update_missing(counting->details, batch->details);
}

static enum ss_status batch_count_once(struct batch *batch, const struct counter_plan *plan, struct state *state,
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

static enum ss_status batch_count(struct batch *batch, const struct counter_plan *plan, struct state *state,
                                  const struct team *team, struct counting *counting) {
	struct spread spread = {.runs = 0};
	enum ss_status status;
	do {
		status = batch_count_once(batch, plan, state, team, counting);
	} while (status == SS_OK && spread_add(&spread, counting, batch->events, batch->count));
	spread_end(&spread, counting, batch->events, batch->count);
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
	while (batch->count > 1 && batch->backend->scope != COUNTER_RERUN && !batch_fits(batch))
		batch->count = (batch->count + 1) / 2;
	for (size_t e = 0; e < batch->count; e++)
		done[batch->events[e]] = true;
	return batch->count > 0;
}

void counting_init(struct arena *arena, const struct counter_plan *plan, int threads, struct counting *counting) {
	*counting = (struct counting){.events = arena_alloc(arena, plan->event_count + 1, sizeof(struct counted))};
	for (size_t i = 0; i < plan->event_count; i++) {
		struct counted *counted = &counting->events[i];
		const struct counter_backend *backend = plan->events[i].backend;
		*counted = (struct counted){
			.unit = plan->events[i].unit, .total = NAN, .threads = threads, .seconds = NAN, .error = NAN};
		if (!backend) {
			counted_miss(counted, plan->events[i].reason);
		} else if (backend->scope != COUNTER_MACHINE) {
			counted->per_thread = arena_alloc(arena, (size_t)threads, sizeof(double));
			for (int t = 0; t < threads; t++)
				counted->per_thread[t] = NAN;
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
