/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports, beside the throughput, the bound that walking sets: a search passes this many nodes, one dependent load
 * each, and as many searches run at a time as the team has processors. The time of a node comes from bare walks by
 * one thread over the list as the run left it; they end where searches end, so that the caches are equally warm for
 * them. */
#include <config.h>

#include <omp.h>
#include <stdlib.h>

#include "kernels/lists/lists.h"

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
