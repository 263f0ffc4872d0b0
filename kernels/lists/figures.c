/* SPDX-License-Identifier: BSD-3-Clause */
/* Beside the throughput, the bound that walking sets: a search passes so many nodes, one dependent load each, so many
 * searches at a time as there are processors for the team. The time of a node is that of a walk over the list as the run
 * left it, by one thread, out of warm caches. */
#include <config.h>

#include <omp.h>

#include "kernels/lists/lists.h"

enum { WALKS_MAX = 2000, WALKS_MIN = 5 };
#define WALK_SECONDS 2e-3 /* for all walks together */

/* As a search does it, to the very end. */
__attribute__((noinline)) static size_t walk(const struct list *list) {
	const struct list_node *node = list_next(&list->head);
	size_t passed = 0;
	for (; node->key < INT32_MAX; passed++)
		node = list_next(node);
	return passed;
}

/* Seconds for one node, of the quickest walk; 0 for an empty list. */
static double node_seconds(const struct list *list) {
	double best = 0, begun = omp_get_wtime(), last = begun;
	size_t passed = 0;
	for (int i = 0; i < WALKS_MAX && (i < WALKS_MIN || last - begun < WALK_SECONDS); i++) {
		passed = walk(list);
		double now = omp_get_wtime();
		if (i == 0 || now - last < best)
			best = now - last;
		last = now;
	}
	return passed > 0 ? best / (double)passed : 0;
}

/* Nodes that the search for a key, each as likely, passes to find it or its place. */
static double nodes_passed(const struct lists_input *input, const struct list *list, double *size) {
	double sum = 0, count = 0;
	for (const struct list_node *node = list_next(&list->head); node != &list->tail; node = list_next(node), count++)
		sum += (double)(input->range - 1 - node->key); /* the keys above it */
	*size = count;
	return sum / (double)input->range;
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

size_t lists_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out, size_t most) {
	const struct lists_state *s = state;
	int processors = omp_get_num_procs(), team = call->threads < processors ? call->threads : processors;
	double size, passed = nodes_passed(s->input, s->list, &size), node = node_seconds(s->list);
	double ops = (double)s->input->ops, limit = passed * node > 0 ? team / (passed * node) : 0;
	struct ss_figure all[] = {
		{"throughput", seconds > 0 ? ops / seconds / 1e3 : 0, "Kops/s"},
		{"ns_per_op", seconds / ops * 1e9, "ns"},
		{"nodes_passed", passed, "nodes"},
		{"final_size", size, "keys"},
		{"changes", changes(s), "operations"},
		{"waiting", waiting(s->list), "nodes"},
		{"node_time", node * 1e9, "ns"},
		{"traversal_limit", limit / 1e3, "Kops/s"},
		{"of_limit", limit > 0 && seconds > 0 ? ops / seconds / limit : 0, ""},
	};
	size_t count = sizeof all / sizeof *all - (limit > 0 ? 0 : 3);
	for (size_t i = 0; i < count && i < most; i++)
		out[i] = all[i];
	return count < most ? count : most;
}
