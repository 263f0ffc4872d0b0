/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef TUNER_SPACE_SPACE_IMPL_H
#define TUNER_SPACE_SPACE_IMPL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The counted space: a decision diagram over all parameters, in an order of its own. A path from the root to the
 * terminal is a valid configuration, and every node knows the number of paths that leave it, which is what makes
 * numbering possible without listing. */
enum { DIAGRAM_END, DIAGRAM_DEAD };

struct diagram_node {
	uint64_t count; /* number of completions */
	uint32_t first, edges;
};

/* Branches `branch`, `branch` + 1, .. to the end of the run lead to the same child. */
struct diagram_edge {
	uint64_t before; /* completions of the node's earlier branches */
	uint32_t child, branch;
};

struct diagram {
	int order[64]; /* parameter of each depth */
	size_t depth;
	struct diagram_node *nodes;
	struct diagram_edge *edges;
	size_t node_count, node_room, edge_count, edge_room;
	uint32_t root;
	uint8_t **used;          /* [param][branch]: it occurs in a valid configuration */
	struct space_keys *keys; /* of a listed space, otherwise NULL */
	uint8_t *depth_of;       /* of each node but END and DEAD; children have lower numbers than their parents */
};

enum diagram_status {
	DIAGRAM_OK,
	DIAGRAM_ENTANGLED /* counting would take too much effort */,
	DIAGRAM_OVERFLOW /* more than 2^64 - 1 configurations */,
	DIAGRAM_STOPPED /* by the user */
};

struct space;
/* off[rule]: ignore that constraint or table; NULL: use all of them. */
struct diagram *diagram_new(const struct space *space, const bool *off, enum diagram_status *status);
void diagram_free(struct diagram *diagram);

/* Begins a diagram that has END and DEAD only; the caller adds nodes, copies edges and sets the root. */
struct diagram *diagram_empty(const struct space *space, const int *order);
uint32_t diagram_push(struct diagram *d, uint64_t count, const struct diagram_edge *edges, uint32_t edge_count);

/* The number of branches of an edge. */
static inline uint32_t diagram_run(const struct diagram *diagram, const struct diagram_node *node, uint32_t edge) {
	const struct diagram_edge *e = &diagram->edges[node->first + edge];
	uint64_t end = edge + 1 < node->edges ? e[1].before : node->count;
	uint64_t all = end - e->before, own = diagram->nodes[e->child].count;
	return all == own ? 1 : (uint32_t)(all / own);
}

/* The child of a branch, DIAGRAM_DEAD if there is none; before: the completions of earlier branches. */
uint32_t diagram_child(const struct diagram *diagram, uint32_t node, uint32_t branch, uint64_t *before);

/* Numbers distinct keys 0, 1, 2, .. in order of appearance. A key is a sequence of 32-bit words. */
struct intern {
	uint32_t *slots; /* number + 1, or 0; mask + 1 of them */
	uint32_t *hashes;
	size_t *ends; /* end of each key, in words */
	uint32_t *words;
	size_t mask, count, room, word_count, word_room;
};

void intern_clear(struct intern *set);
uint32_t intern_find(struct intern *set, const uint32_t *key, size_t words, bool *added);
#endif
