/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/space_table.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/space_intern.h"
#include "tuner/space_order.h"

enum { NODES_MAX = 1 << 26, EDGES_MAX = 1 << 26, EDGE_WORDS = 3 };

/* Where a parameter's branch is in the key of a row. */
struct column {
	size_t at, word; /* in the row, in the key */
	int shift;
	uint64_t mask, so_far; /* of the branch, unshifted; of all up to here in the word */
};

struct builder {
	const struct space *space;
	const struct space_table *table;
	const bool *off;
	struct diagram *diagram;
	struct column columns[SPACE_PARAMS_MAX]; /* by depth */
	uint64_t *keys;
	size_t words, count; /* of keys: prefixes of different rows, up to the depth that is being made */
	uint32_t *child;     /* of each */
	struct intern nodes; /* of the depth that is being made */
	uint32_t *node_of;   /* by number in nodes */
	size_t node_room;
	struct diagram_edge *edges; /* of the node that is being made */
	uint32_t *edge_key;
};

const struct space_table *space_full_table(const struct space *space, const bool *off) {
	const struct space_table *only = NULL;
	for (size_t i = 0; i < space->table_count; i++) {
		if (off && off[space->constraint_count + i])
			continue;
		if (only)
			return NULL;
		only = &space->tables[i];
	}
	return only && only->name_count == space->param_count ? only : NULL;
}

static int bits_for(uint32_t branches) {
	return branches > 1 ? 32 - __builtin_clz(branches - 1) : 0;
}

/* Columns fill words from the top; none is cut in two. */
static void plan_columns(struct builder *b) {
	int left = 64;
	b->words = 1;
	for (size_t depth = 0; depth < b->diagram->depth; depth++) {
		struct column *c = &b->columns[depth];
		int param = b->diagram->order[depth], bits = bits_for(space_branches(b->space, param));
		while (b->table->bind[c->at] != param)
			c->at++;
		if (bits > left) {
			b->words++;
			left = 64;
		}
		left -= bits;
		*c = (struct column){c->at, b->words - 1, bits ? left : 0, (UINT64_C(1) << bits) - 1,
		                     left < 64 ? UINT64_MAX << left : 0};
	}
}

static uint32_t branch_at(const struct builder *b, size_t key, size_t depth) {
	const struct column *c = &b->columns[depth];
	return (uint32_t)(b->keys[key * b->words + c->word] >> c->shift & c->mask);
}

static bool row_holds(const struct builder *b, const int *row) {
	const struct space *space = b->space;
	int config[SPACE_PARAMS_MAX];
	for (size_t i = 0; i < b->table->name_count; i++)
		config[b->table->bind[i]] = row[i];
	for (size_t i = 0; i < space->param_count; i++)
		if (space->params[i].when && (space_rule_holds(space, &space->whens[i], config) == 1) != (config[i] >= 0))
			return false;
	for (size_t i = 0; i < space->constraint_count; i++)
		if (!(b->off && b->off[i]) && space_rule_holds(space, &space->constraints[i], config) == 0)
			return false;
	return true;
}

static bool has_rules(const struct builder *b) {
	bool any = b->space->constraint_count > 0;
	for (size_t i = 0; i < b->space->param_count; i++)
		any |= b->space->params[i].when != NULL;
	return any;
}

static void write_keys(struct builder *b) {
	bool rules = has_rules(b);
	b->keys = mem_alloc(b->table->row_count * b->words, sizeof *b->keys);
	for (size_t i = 0; i < b->table->row_count; i++) {
		const int *row = b->table->rows + i * b->table->name_count;
		uint64_t *key = b->keys + b->count * b->words;
		if (rules && !row_holds(b, row))
			continue;
		for (size_t depth = 0; depth < b->diagram->depth; depth++) {
			const struct column *c = &b->columns[depth];
			key[c->word] |= (uint64_t)space_branch(b->space, b->diagram->order[depth], row[c->at]) << c->shift;
		}
		b->count++;
	}
}

/* Do two keys agree on all before this depth? */
static bool same_prefix(const struct builder *b, size_t one, size_t other, size_t depth) {
	const uint64_t *x = b->keys + one * b->words, *y = b->keys + other * b->words;
	if (depth == 0)
		return true;
	const struct column *last = &b->columns[depth - 1];
	for (size_t word = 0; word < last->word; word++)
		if (x[word] != y[word])
			return false;
	return ((x[last->word] ^ y[last->word]) & last->so_far) == 0;
}

static void keep(struct builder *b, size_t to, size_t from, uint32_t child) {
	memmove(b->keys + to * b->words, b->keys + from * b->words, b->words * sizeof *b->keys);
	b->child[to] = child;
}

static void drop_twins(struct builder *b) {
	size_t kept = 0;
	b->child = mem_alloc(b->count, sizeof *b->child);
	for (size_t i = 0; i < b->count; i++)
		if (kept == 0 || !same_prefix(b, kept - 1, i, b->diagram->depth))
			keep(b, kept++, i, DIAGRAM_END);
	b->count = kept;
}

/* The node with these edges: one that is there already, or a new one. */
static uint32_t node_with(struct builder *b, uint64_t total, uint32_t edges) {
	bool added;
	uint32_t number = intern_find(&b->nodes, b->edge_key, (size_t)edges * EDGE_WORDS, &added);
	if (!added)
		return b->node_of[number];
	if (b->nodes.count > b->node_room) {
		b->node_room = b->nodes.count * 2 + 64;
		b->node_of = mem_grow(b->node_of, b->node_room, sizeof *b->node_of);
	}
	return b->node_of[number] = diagram_push(b->diagram, total, b->edges, edges);
}

/* The node of keys first..last-1, which agree on all before this depth. */
static uint32_t make_node(struct builder *b, size_t depth, size_t first, size_t last) {
	uint64_t total = 0;
	uint32_t edges = 0, run_end = 0;
	for (size_t i = first; i < last; i++) {
		uint32_t branch = branch_at(b, i, depth), child = b->child[i], *key = b->edge_key + edges * EDGE_WORDS;
		if (edges > 0 && run_end == branch && b->edges[edges - 1].child == child) {
			key[-1]++;
		} else {
			key[0] = branch;
			key[1] = child;
			key[2] = 1;
			b->edges[edges++] = (struct diagram_edge){total, child, branch};
		}
		run_end = branch + 1;
		total += b->diagram->nodes[child].count;
	}
	return node_with(b, total, edges);
}

/* Every group of keys with the same prefix becomes one key, whose child is the group's node. False: too large. */
static bool merge_depth(struct builder *b, size_t depth) {
	uint32_t branches = space_branches(b->space, b->diagram->order[depth]);
	size_t kept = 0;
	b->edges = mem_alloc(branches, sizeof *b->edges);
	b->edge_key = mem_alloc(branches, EDGE_WORDS * sizeof *b->edge_key);
	for (size_t first = 0, last; first < b->count && b->diagram->edge_count < EDGES_MAX; first = last) {
		for (last = first + 1; last < b->count && same_prefix(b, first, last, depth);)
			last++;
		uint32_t node = make_node(b, depth, first, last);
		keep(b, kept++, first, node);
	}
	b->count = kept;
	intern_clear(&b->nodes);
	free(b->edge_key);
	free(b->edges);
	return b->diagram->edge_count < EDGES_MAX && b->diagram->node_count < NODES_MAX;
}

struct diagram *space_table_diagram(const struct space *space, const struct space_table *table, const bool *off,
                                    enum diagram_status *status) {
	struct builder b = {.space = space, .table = table, .off = off};
	int order[SPACE_PARAMS_MAX];
	space_order_make(space, NULL, 0, ORDER_DECLARED, order);
	b.diagram = diagram_empty(space, order);
	plan_columns(&b);
	write_keys(&b);
	space_keys_sort(b.keys, b.count, b.words);
	drop_twins(&b);
	size_t depth = b.diagram->depth;
	bool fits = true;
	while (fits && depth-- > 0)
		fits = merge_depth(&b, depth);
	b.diagram->root = b.count ? b.child[0] : DIAGRAM_DEAD;
	free(b.keys);
	free(b.child);
	free(b.node_of);
	*status = fits ? DIAGRAM_OK : DIAGRAM_ENTANGLED;
	if (fits)
		return b.diagram;
	diagram_free(b.diagram);
	return NULL;
}
