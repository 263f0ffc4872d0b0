/* SPDX-License-Identifier: BSD-3-Clause */
/* Invariants after a run: the list is connected, no node was lost, and every key is there as often as it was added and
 * not removed. One thread is checked result by result against a set that is an array of flags. */
#include <stdlib.h>

#include "kernels/fail.h"
#include "kernels/lists/lists_impl.h"

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

enum ss_status lists_oracle(void *opaque, const struct ss_call *call) {
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

size_t lists_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
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
