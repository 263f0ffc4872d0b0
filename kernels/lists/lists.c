/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table: a team asks a sorted list whether it has a key, and adds and removes keys. */
#include <stdlib.h>

#include "kernels/fail.h"
#include "kernels/lists/list_impl.h"
#include "kernels/pages.h"

/* Invariants after a run: the list is connected, no node was lost, and every key is there as often as it was added and
 * not removed. One thread is checked result by result against a set that is an array of flags. */

static bool is_at_rest(const struct list_node *node) {
	return !atomic_load(&node->lock) && !atomic_load(&node->removed) && ((uintptr_t)list_next(node) & 1) == 0;
}

/* Nodes that were ever taken, and those of them that are not in the list. */
static size_t nodes_taken(const struct list *list, size_t initial) {
	for (int t = 0; t < list->threads; t++)
		initial += list->pool[t].used;
	return initial;
}

static size_t nodes_out(const struct list *list) {
	size_t count = 0;
	for (int t = 0; t < list->threads; t++)
		count += list->pool[t].given_count + list->pool[t].retired - list->pool[t].freed;
	return count;
}

/* Strictly rising from the head to the tail, nothing locked or marked, and as many as there should be. */
static enum ss_status check_structure(const struct lists_state *s, const struct ss_call *call) {
	struct list *list = s->list;
	size_t taken = nodes_taken(list, s->input->n), out = nodes_out(list), count = 0;
	const struct list_node *node = &list->head;
	if (atomic_load(&list->lock) || node->key != INT32_MIN || list->tail.key != INT32_MAX)
		return kernel_wrong(call, "the list is locked or its ends are damaged");
	for (; is_at_rest(node) && node != &list->tail; count++) {
		const struct list_node *next = list_next(node);
		if (!next || next->key <= node->key || count > taken)
			return kernel_wrong(call, "key %d is followed by %d", (int)node->key, next ? (int)next->key : INT32_MIN);
		node = next;
	}
	if (!is_at_rest(node) || list_next(&list->tail))
		return kernel_wrong(call, "the node of key %d is locked, marked or behind the end", (int)node->key);
	if (count - 1 + out != taken)
		return kernel_wrong(call, "%zu nodes were taken, but %zu are in the list and %zu out of it", taken, count - 1,
		                    out);
	return SS_OK;
}

/* present[key]: 1 at the start, with all changes that were reported as done. */
static void sum_changes(const struct lists_state *s, int32_t *present) {
	for (size_t i = 0; i < s->input->n; i++)
		present[s->input->keys[i]] = 1;
	for (size_t i = 0; i < s->input->ops; i++) {
		struct lists_step step = lists_step_of(s->input, i);
		if (step.op != LIST_CONTAINS && s->result[i])
			present[step.key] += step.op == LIST_ADD ? 1 : -1;
	}
}

static enum ss_status check_keys(const struct lists_state *s, const struct ss_call *call, const int32_t *present) {
	const struct list_node *node = list_next(&s->list->head);
	for (int32_t key = 0; key < s->input->range; key++) {
		bool there = node->key == key;
		if (present[key] != there)
			return kernel_wrong(call, "key %d: at the start, plus added, less removed: %d times; in the list: %s",
			                    (int)key, (int)present[key], there ? "yes" : "no");
		if (there)
			node = list_next(node);
	}
	return node == &s->list->tail ? SS_OK : kernel_wrong(call, "key %d is out of range", (int)node->key);
}

static enum ss_status check_results(const struct lists_state *s, const struct ss_call *call, int32_t *present) {
	static const char *const names[] = {"contains", "add", "remove"};
	for (int32_t key = 0; key < s->input->range; key++)
		present[key] = 0;
	for (size_t i = 0; i < s->input->n; i++)
		present[s->input->keys[i]] = 1;
	for (size_t i = 0; i < s->input->ops; i++) {
		struct lists_step step = lists_step_of(s->input, i);
		bool expected = (step.op == LIST_ADD) != present[step.key];
		if (s->result[i] != expected)
			return kernel_wrong(call, "operation %zu, %s(%d), should be %s", i, names[step.op], (int)step.key,
			                    expected ? "true" : "false");
		if (step.op != LIST_CONTAINS)
			present[step.key] = step.op == LIST_ADD;
	}
	return SS_OK;
}

/* SS_OK, SS_NOMEM or SS_INCORRECT, with the call's message. */
static enum ss_status lists_oracle(void *opaque, const struct ss_call *call) {
	const struct lists_state *s = opaque;
	int32_t *present = calloc((size_t)s->input->range, sizeof *present);
	enum ss_status status = present ? check_structure(s, call) : SS_NOMEM;
	if (status == SS_OK) {
		sum_changes(s, present);
		status = check_keys(s, call, present);
	}
	if (status == SS_OK && s->list->threads == 1)
		status = check_results(s, call, present);
	free(present);
	return status;
}

/* Reports, beside the throughput, the bound that walking sets: a search passes this many nodes, one dependent load
 * each, and as many searches run at a time as the team has processors. The time of a node comes from bare walks by
 * one thread over the list as the run left it; they end where searches end, so that the caches are equally warm for
 * them. */

enum { WALKS_MIN = 2, WALKS_MAX = 64, NODES_A_ROUND = 400000, ROUNDS_MIN = 3, ROUNDS_MAX = 1000 };
#define WALK_SECONDS 4e-3 /* for all rounds together */

/* Nodes passed on the way to a key or its place. */
__attribute__((noinline)) static size_t walk(const struct list *list, int32_t key) {
	const struct list_node *node = list_next(&list->head);
	size_t passed = 0;
	for (; node->key < key; passed++)
		node = list_next(node);
	return passed;
}

static size_t walk_round(const struct lists_state *s, double walks) {
	size_t passed = 0;
	for (size_t i = 0; i < WALKS_MIN || (i < WALKS_MAX && (double)i < walks); i++)
		passed += walk(s->list, lists_step_of(s->input, i).key);
	return passed;
}

/* Seconds for one node, in the quickest round of the same walks; 0 if they pass none. */
static double node_seconds(const struct lists_state *s, double passed_each) {
	double best = 0, begun = omp_get_wtime(), last = begun;
	size_t passed = 0;
	for (int i = 0; i < ROUNDS_MAX && (i < ROUNDS_MIN || last - begun < WALK_SECONDS); i++) {
		passed = walk_round(s, NODES_A_ROUND / passed_each);
		double now = omp_get_wtime();
		if (i == 0 || now - last < best)
			best = now - last;
		last = now;
	}
	return passed > 0 ? best / (double)passed : 0;
}

/* Nodes that the run's operations would pass in the list as it is now, each; negative without memory. */
static double nodes_passed(const struct lists_state *s) {
	size_t range = (size_t)s->input->range, below = 0, sum = 0;
	uint32_t *rank = malloc(range * sizeof *rank);
	const struct list_node *node = list_next(&s->list->head);
	if (!rank)
		return -1;
	for (size_t key = 0; key < range; key++) {
		rank[key] = (uint32_t)below;
		if (node->key == (int32_t)key) {
			node = list_next(node);
			below++;
		}
	}
	for (size_t i = 0; i < s->input->ops; i++)
		sum += rank[lists_step_of(s->input, i).key];
	free(rank);
	return (double)sum / (double)s->input->ops;
}

static double size(const struct list *list) {
	size_t count = 0;
	for (const struct list_node *node = list_next(&list->head); node != &list->tail; node = list_next(node))
		count++;
	return (double)count;
}

static double waiting(const struct list *list) {
	size_t count = 0;
	for (int t = 0; t < list->threads; t++)
		count += list->pool[t].retired - list->pool[t].freed;
	return (double)count;
}

static double changes(const struct lists_state *s) {
	size_t count = 0;
	for (size_t i = 0; i < s->input->ops; i++)
		count += s->result[i] && lists_step_of(s->input, i).op != LIST_CONTAINS;
	return (double)count;
}

static size_t lists_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
                            size_t most) {
	const struct lists_state *s = state;
	int processors = omp_get_num_procs(), team = call->threads < processors ? call->threads : processors;
	double ops = (double)s->input->ops, passed = nodes_passed(s), node = passed > 0 ? node_seconds(s, passed) : 0;
	double limit = passed * node > 0 ? team / (passed * node) : 0;
	if (!(seconds > 0))
		return 0;
	struct ss_figure all[] = {
		{"throughput", ops / seconds / 1e3, "Kops/s"},
		{"ns_per_op", seconds / ops * 1e9, "ns"},
		{"final_size", size(s->list), "keys"},
		{"changes", changes(s), "operations"},
		{"waiting", waiting(s->list), "nodes"},
		{"nodes_passed", passed, "nodes"},
		{"node_time", node * 1e9, "ns"},
		{"traversal_limit", limit / 1e3, "Kops/s"},
		{"of_limit", limit > 0 ? ops / seconds / limit : 0, ""},
	};
	size_t count = sizeof all / sizeof *all - (limit > 0 ? 0 : 4);
	for (size_t i = 0; i < count && i < most; i++)
		out[i] = all[i];
	return count < most ? count : most;
}

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
