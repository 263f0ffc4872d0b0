/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/tuner/tune/spy.h"

#include <signal.h>

struct spy_book spy_book;

struct spy {
	struct strategy_task task;
	const struct strategy *inner;
	void *state;
	struct rng rng;
};

void spy_book_clear(void) {
	for (size_t i = 0; i < spy_book.source_count; i++) {
		free((void *)spy_book.sources[i].index);
		free((void *)spy_book.sources[i].outcome);
	}
	spy_book = (struct spy_book){.promise = NAN, .inner = spy_book.inner};
}

static void source_copy(size_t at, const struct strategy_source *source) {
	uint64_t *index = mem_alloc(source->count, sizeof *index);
	struct strategy_outcome *outcome = mem_alloc(source->count, sizeof *outcome);
	memcpy(index, source->index, source->count * sizeof *index);
	memcpy(outcome, source->outcome, source->count * sizeof *outcome);
	snprintf(spy_book.names[at], sizeof spy_book.names[at], "%s", source->name);
	spy_book.sources[at] = (struct strategy_source){spy_book.names[at], source->count, index, outcome};
}

static int spy_init(void *state, const struct strategy_task *task, struct err *err) {
	struct spy *spy = state;
	double promise = spy_book.promise;
	spy_book_clear();
	spy->task = *task;
	rng_split(&spy->rng, task->seed, "spy");
	spy_book.promise = promise;
	spy_book.budget = task->budget;
	spy_book.seed = task->seed;
	spy_book.start = task->start;
	spy_book.hint_count = task->hint_count;
	spy_book.counter_count = task->counter_count;
	spy_book.source_count = task->source_count < 8 ? task->source_count : 8;
	for (size_t i = 0; i < spy_book.source_count; i++)
		source_copy(i, &task->sources[i]);
	spy->inner = spy_book.inner;
	if (!spy->inner)
		return 0;
	spy->state = arena_alloc(task->arena, 1, spy->inner->state_size);
	return spy->inner->init(spy->state, task, err);
}

static size_t spy_ask(void *state, uint64_t *out, size_t want) {
	struct spy *spy = state;
	if (spy->inner)
		return spy->inner->ask(spy->state, out, want);
	*out = history_unseen(spy->task.history, spy->task.space, &spy->rng);
	return *out != UINT64_MAX;
}

static void spy_tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	struct spy *spy = state;
	struct spy_told *told = &spy_book.told[spy_book.count++ % SPY_ROOM];
	*told = (struct spy_told){.index = index, .outcome = *outcome};
	for (size_t i = 0; outcome->counters && i < SPY_COUNTERS && i < spy_book.counter_count; i++)
		told->counters[i] = outcome->counters[i];
	told->outcome.counters = NULL;
	if (spy->inner)
		spy->inner->tell(spy->state, index, outcome);
}

static double spy_promise(const void *state, uint64_t left) {
	(void)state;
	(void)left;
	return spy_book.promise;
}

const struct strategy spy_strategy = {
	.name = "spy",
	.summary = "random, and writes down what it is told",
	.state_size = sizeof(struct spy),
	.init = spy_init,
	.ask = spy_ask,
	.tell = spy_tell,
	.promise = spy_promise,
};

static json_t *reply_of(const struct spy_kernel *kernel, int64_t x, double value) {
	json_t *reply = json_pack("{s:[f,f,f]}", "samples", value, value, value);
	if (kernel->counts)
		json_object_set_new(reply, "counters",
		                    json_pack("[{s:s,s:f,s:s},{s:s,s:n,s:s}]", "name", "steps", "value", 1.5 * (double)x,
		                              "status", "counted", "name", "misses", "value", "status", "unavailable"));
	return reply;
}

static int run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct spy_kernel *kernel = ctx;
	int64_t x = js_int_or(request->config, "x", 0), y = js_int_or(request->config, "y", 0);
	double n = js_real_or(request->problem, "n", 1000), scale = kernel->scale > 0 ? kernel->scale : 1;
	double value = 1e-6 * n * scale * (1 + 0.3 * fabs(log2((double)x / 8)) + 0.1 * (double)y);
	(void)err;
	if (++kernel->runs == kernel->dies_at)
		kill(getpid(), SIGKILL);
	*result = (struct trial_result){.value = NAN, .least = NAN, .elapsed_s = 0.01 + 3 * value};
	if (x == 4 && y == 3) {
		result->status = TRIAL_RUNTIME;
		snprintf(result->message, sizeof result->message, "it crashed");
		return 0;
	}
	result->disturbed = (x + y) % 5 == 0;
	if (request->limit_s > 0 && value > request->limit_s) {
		result->status = TRIAL_CENSORED;
		result->value = request->limit_s;
		return 0;
	}
	result->samples = mem_alloc(3, sizeof *result->samples);
	for (int i = 0; i < 3; i++)
		result->samples[i] = value * (1 + 0.01 * (i - 1) * (double)(y + 1));
	result->sample_count = 3;
	result->least = result->samples[0];
	result->value = result->samples[1];
	result->reply = reply_of(kernel, x, value);
	return 0;
}

struct runner spy_runner(struct spy_kernel *kernel) {
	return (struct runner){.ctx = kernel, .run = run};
}

struct space *spy_space(const char *x_values) {
	struct space *space = space_new();
	add_param(space, "x", x_values, NULL);
	add_param(space, "y", "0..4", NULL);
	return built(space);
}

struct tune_task spy_task(struct store *store, const struct space *space, const struct runner *runner, int n,
                          uint64_t evaluations) {
	struct tune_task task = {.kernel = "spied",
	                         .source = "sha256:0",
	                         .fingerprint = MACHINE,
	                         .problem = json_pack("{s:i}", "n", n),
	                         .space = space,
	                         .baseline = json_pack("{s:i,s:i}", "x", 1, "y", 0),
	                         .start = UINT64_MAX,
	                         .strategy = &spy_strategy,
	                         .seed = 11,
	                         .budget = {.evaluations = evaluations},
	                         .runner = (struct runner *)runner,
	                         .store = store,
	                         .session = fixture_session(store, MACHINE),
	                         .prior.transfer = true,
	                         .command = "sweetspot tune spied"};
	if (space_config_read(space, task.baseline, NULL, &task.start, NULL))
		task.start = UINT64_MAX;
	return task;
}

void spy_task_clear(struct tune_task *task) {
	json_decref((json_t *)task->problem);
	json_decref((json_t *)task->baseline);
}
