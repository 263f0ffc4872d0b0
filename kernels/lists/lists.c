/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table: a team asks a sorted list whether it has a key, and adds and removes keys. */
#include <stdlib.h>

#include "kernels/fail.h"
#include "kernels/lists/lists_impl.h"
#include "kernels/pages.h"

/* n of the range, each subset as likely (Knuth, "The Art of Computer Programming" 3.4.2, algorithm S). */
static void choose(const struct lists_input *input) {
	size_t chosen = 0, left = (size_t)input->range;
	for (int32_t key = 0; chosen < input->n; key++, left--) {
		uint64_t hash = kernel_random_at(~input->seed, (uint64_t)key) >> 32;
		if (hash * left >> 32 < input->n - chosen)
			input->keys[chosen++] = key;
	}
}

/* Knuth 3.4.2, algorithm P. */
static void shuffle(const struct lists_input *input) {
	for (size_t i = input->n; i > 1; i--) {
		size_t j = (size_t)((kernel_random_at(input->seed ^ UINT32_MAX, i) >> 32) * i >> 32);
		uint32_t other = input->slot[j];
		input->slot[j] = input->slot[i - 1];
		input->slot[i - 1] = other;
	}
}

/* N, ops, range, the mix and the seed are set. SS_OK or SS_NOMEM; lists_input_free takes a half-built one. */
static enum ss_status lists_input_new(struct lists_input *input, bool shuffled) {
	input->keys = calloc(input->n + 1, sizeof *input->keys);
	input->slot = calloc(input->n + 1, sizeof *input->slot);
	if (!input->keys || !input->slot)
		return SS_NOMEM;
	choose(input);
	for (size_t i = 0; i < input->n; i++)
		input->slot[i] = (uint32_t)i;
	if (shuffled)
		shuffle(input);
	return SS_OK;
}

static void lists_input_free(void *opaque) {
	struct lists_input *input = opaque;
	free(input->keys);
	free(input->slot);
}

/* The order is that of the words of `variant`. */
static const struct list_kind *const kinds[] = {&list_serial,     &list_coarse, &list_fine,
                                                &list_optimistic, &list_lazy,   &list_nonblocking};
static const struct list_kind *const counted[] = {&list_serial_counted, &list_coarse_counted,
                                                  &list_fine_counted,   &list_optimistic_counted,
                                                  &list_lazy_counted,   &list_nonblocking_counted};

enum { N, RANGE, CONTAINS, ADD, REMOVE, OPS, LAYOUT };
static const struct ss_param problem[] = {
	[N] = {"n", "keys in the set at the start", SS_INT, NULL, "1024", NULL, 0, LISTS_N_MAX},
	[RANGE] = {"range", "number of different keys, 0 for twice n", SS_INT, NULL, "0", NULL, 0, LISTS_RANGE_MAX},
	[CONTAINS] = {"contains", "share of lookups, in percent", SS_INT, NULL, "80", NULL, 0, 100},
	[ADD] = {"add", "share of insertions, in percent", SS_INT, NULL, "10", NULL, 0, 100},
	[REMOVE] = {"remove", "share of removals, in percent", SS_INT, NULL, "10", NULL, 0, 100},
	[OPS] = {"ops", "operations per run, divided among the threads", SS_INT, NULL, "20000", NULL, 1, LISTS_OPS_MAX},
	[LAYOUT] = {"layout", "order of the initial nodes in memory", SS_WORD, "shuffled,sorted", "shuffled", NULL, 0, 0},
	{.name = NULL},
};

enum { VARIANT, RECLAIM };
static const struct ss_param params[] = {
	[VARIANT] = {"variant", "synchronization", SS_WORD, "serial,coarse,fine,optimistic,lazy,nonblocking", "coarse",
                 NULL, 0, 0},
	[RECLAIM] = {"reclaim", "how the memory of removed nodes is reclaimed, if at all", SS_WORD, "epoch,none", "epoch",
                 "variant == 'optimistic' or variant == 'lazy' or variant == 'nonblocking'", 0, 0},
	{.name = NULL},
};

static const char *const constraints[] = {"variant != 'serial' or threads == 1", NULL};

static enum ss_status check(const struct ss_call *call, int64_t range) {
	const struct ss_value *p = call->problem;
	int64_t sum = p[CONTAINS].i + p[ADD].i + p[REMOVE].i;
	if (sum != 100)
		return kernel_fail(call, SS_INVALID, "contains, add and remove must sum to 100, not %d", (int)sum);
	if (p[N].i > range)
		return kernel_fail(call, SS_INVALID, "a range of %d keys cannot hold %d different ones", (int)range,
		                   (int)p[N].i);
	return SS_OK;
}

static enum ss_status lists_open(void *opaque, const struct ss_call *call) {
	struct lists_input *input = opaque;
	const struct ss_value *p = call->problem;
	int64_t twice = p[N].i > 0 ? 2 * p[N].i : 1, range = p[RANGE].i ? p[RANGE].i : twice;
	enum ss_status status = check(call, range);
	if (status != SS_OK)
		return status;
	*input = (struct lists_input){.n = (size_t)p[N].i,
	                              .ops = (size_t)p[OPS].i,
	                              .range = (int32_t)range,
	                              .contains = (int)p[CONTAINS].i,
	                              .changes = (int)(p[CONTAINS].i + p[ADD].i),
	                              .seed = call->seed};
	status = lists_input_new(input, p[LAYOUT].i == 0);
	return status == SS_OK ? SS_OK : kernel_fail(call, status, "no memory for %zu keys", input->n);
}

/* Room for the thread that has most to do of each. */
static void room(const struct lists_input *input, struct list_shape *shape) {
	for (int t = 0; t < shape->threads; t++) {
		struct lists_share share = lists_share_of(input, t, shape->threads);
		size_t count[3] = {0};
		for (size_t i = share.begin; i < share.end; i++)
			count[lists_step_of(input, i).op]++;
		shape->adds = count[LIST_ADD] > shape->adds ? count[LIST_ADD] : shape->adds;
		shape->removes = count[LIST_REMOVE] > shape->removes ? count[LIST_REMOVE] : shape->removes;
	}
}

static enum ss_status lists_setup(void *opaque, void *input, const struct ss_call *call) {
	struct lists_state *s = opaque;
	int64_t variant = call->config[VARIANT].i;
	s->input = input;
	if (call->threads > LISTS_THREADS_MAX)
		return kernel_fail(call, SS_INVALID, "threads must be 1 to %d", LISTS_THREADS_MAX);
	if (kinds[variant]->flags & LIST_SERIAL && call->threads > 1)
		return kernel_fail(call, SS_INVALID, "%s is for one thread", kinds[variant]->name);
	struct list_shape shape = {.kind = kinds[variant],
	                           .reclaim = call->config[RECLAIM].i ? LIST_LEAK : LIST_EPOCH,
	                           .threads = call->threads,
	                           .initial = s->input->n};
	room(s->input, &shape);
	s->result = kernel_pages_new(s->input->ops);
	s->list = list_new(&shape);
	if (!s->result || !s->list)
		return kernel_fail(call, SS_NOMEM, "no memory for %zu nodes and %zu operations", shape.initial, s->input->ops);
	list_fill(s->list, s->input->keys, s->input->slot, s->input->n);
	return SS_OK;
}

static void lists_reset(void *state, const struct ss_call *call) {
	const struct lists_state *s = state;
	(void)call;
	list_fill(s->list, s->input->keys, s->input->slot, s->input->n);
}

static void run_share(const struct lists_state *s, int thread) {
	struct lists_share share = lists_share_of(s->input, thread, s->list->threads);
	for (size_t i = share.begin; i < share.end; i++) {
		struct lists_step step = lists_step_of(s->input, i);
		s->result[i] = list_do(s->list, thread, step.op, step.key);
	}
}

/* A smaller team than promised does the shares one after the other. */
static void run_all(const struct lists_state *s) {
#pragma omp parallel
	for (int t = omp_get_thread_num(); t < s->list->threads; t += omp_get_num_threads())
		run_share(s, t);
}

static const struct ss_event events[] = {
	[LIST_PASSED] = {"nodes_traversed", "nodes visited on the way to a key, in all walks"},
	[LIST_LOCKED] = {"lock_acquisitions", "locks of nodes or of the list that were acquired"},
	[LIST_CONTENDED] = {"lock_contentions", "acquisitions of a lock that another thread held"},
	[LIST_RESTARTED] = {"restarts", "walks restarted because another thread had changed the position"},
	[LIST_CAS_FAILED] = {"cas_failures", "failed compare-and-swaps of a link"},
	[LIST_OPERATIONS] = {"operations", "operations that were done"},
	[LIST_RECLAIMED] = {"nodes_reclaimed", "removed nodes that were reclaimed"},
	{.name = NULL},
};

static int64_t reclaimed(const struct lists_state *s, int thread) {
	const struct lists_share share = lists_share_of(s->input, thread, s->list->threads);
	int64_t removed = 0;
	if (s->list->reclaim != LIST_AT_ONCE)
		return (int64_t)s->list->pool[thread].freed;
	for (size_t i = share.begin; i < share.end; i++)
		removed += s->result[i] && lists_step_of(s->input, i).op == LIST_REMOVE;
	return removed;
}

/* Each share counts for the thread that it belongs to. */
static void run_counted(const struct lists_state *s, const struct ss_call *call) {
	const struct list_kind *kind = s->list->kind;
	for (int t = 0; t < s->list->threads; t++)
		s->list->pool[t].events = call->events + (size_t)t * SS_EVENTS_MAX;
	s->list->kind = counted[call->config[VARIANT].i];
	run_all(s);
	s->list->kind = kind;
	for (int t = 0; t < s->list->threads; t++) {
		const struct lists_share share = lists_share_of(s->input, t, s->list->threads);
		s->list->pool[t].events[LIST_OPERATIONS] += (int64_t)(share.end - share.begin);
		s->list->pool[t].events[LIST_RECLAIMED] += reclaimed(s, t);
	}
}

static enum ss_status lists_run(void *state, const struct ss_call *call) {
	const struct lists_state *s = state;
	if (call->events)
		run_counted(s, call);
	else
		run_all(s);
	return SS_OK;
}

/* No traffic is compulsory: a list that is worth it stays in the caches. */
static struct ss_work lists_work(const struct ss_call *call) {
	return (struct ss_work){.ops = call->problem[OPS].r, .op = "operation"};
}

static void lists_teardown(void *state) {
	struct lists_state *s = state;
	list_free(s->list);
	if (s->result)
		kernel_pages_free(s->result, s->input->ops);
}

const struct ss_kernel kernel_lists = {
	.abi = SS_KERNEL_ABI,
	.name = "lists",
	.summary = "sorted lists as sets: from one lock to none",
	.flags = SS_OPENMP,
	.problem = problem,
	.params = params,
	.constraints = constraints,
	.unsafe = "reclaim == 'none'", /* memory that is never given back */
	.serial = "variant=serial",
	.input_size = sizeof(struct lists_input),
	.state_size = sizeof(struct lists_state),
	.open = lists_open,
	.setup = lists_setup,
	.reset = lists_reset,
	.run = lists_run,
	.verify = lists_oracle,
	.work = lists_work,
	.teardown = lists_teardown,
	.close = lists_input_free,
	.figures = lists_figures,
	.events = events,
};
