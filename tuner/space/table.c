/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/space/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/stop.h"
#include "tuner/space/intern.h"
#include "tuner/space/keys.h"
#include "tuner/space/order.h"

enum { NODES_MAX = 1 << 26, EDGES_MAX = 1 << 26, EDGE_WORDS = 3 };

struct builder {
	const struct space *space;
	const struct space_table *table;
	const bool *off;
	struct diagram *diagram;
	struct space_keys *keys; /* prefixes of distinct rows, up to the current depth */
	uint32_t *child;         /* of each prefix */
	struct intern nodes;     /* of the current depth */
	uint32_t *node_of;       /* indexed by number in `nodes` */
	size_t node_room;
	struct diagram_edge *edges; /* of the current node */
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

static uint32_t branch_at(const struct builder *b, size_t key, size_t depth) {
	return keys_branch(b->keys, key, b->diagram->order[depth]);
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
	struct space_keys *keys = b->keys;
	keys->keys = mem_alloc(b->table->row_count * keys->words, sizeof *keys->keys);
	for (size_t i = 0; i < b->table->row_count && !stop_asked(); i++) {
		const int *row = b->table->rows + i * b->table->name_count;
		uint64_t *key = keys->keys + keys->count * keys->words;
		if (rules && !row_holds(b, row))
			continue;
		for (size_t at = 0; at < b->table->name_count; at++) {
			int param = b->table->bind[at];
			keys_write(keys, key, param, space_branch(b->space, param, row[at]));
		}
		keys->count++;
	}
}

/* Do two keys agree on everything before this depth? */
static bool same_prefix(const struct builder *b, size_t one, size_t other, size_t depth) {
	const struct space_keys *keys = b->keys;
	const uint64_t *x = keys->keys + one * keys->words, *y = keys->keys + other * keys->words;
	if (depth == 0)
		return true;
	const struct key_column *last = &keys->columns[b->diagram->order[depth - 1]];
	for (size_t word = 0; word < last->word; word++)
		if (x[word] != y[word])
			return false;
	return ((x[last->word] ^ y[last->word]) & last->so_far) == 0;
}

static void keep(struct builder *b, size_t to, size_t from, uint32_t child) {
	size_t words = b->keys->words;
	memmove(b->keys->keys + to * words, b->keys->keys + from * words, words * sizeof(uint64_t));
	b->child[to] = child;
}

static void drop_twins(struct builder *b) {
	size_t kept = 0;
	b->child = mem_alloc(b->keys->count, sizeof *b->child);
	for (size_t i = 0; i < b->keys->count; i++)
		if (kept == 0 || !same_prefix(b, kept - 1, i, b->diagram->depth))
			keep(b, kept++, i, DIAGRAM_END);
	b->keys->count = kept;
}

/* Merging consumes the keys, so that a copy is kept for reading configurations. */
static struct space_keys *keys_copy(const struct space_keys *keys) {
	struct space_keys *copy = mem_alloc(1, sizeof *copy);
	*copy = *keys;
	copy->keys = mem_alloc(keys->count * keys->words, sizeof *keys->keys);
	if (keys->count)
		memcpy(copy->keys, keys->keys, keys->count * keys->words * sizeof *keys->keys);
	keys_index(copy);
	return copy;
}

/* The node with these edges: an existing one, or a new one. */
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

/* The node of keys first..last-1, which agree on everything before this depth. */
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
	for (size_t first = 0, last; first < b->keys->count && b->diagram->edge_count < EDGES_MAX && !stop_asked();
	     first = last) {
		for (last = first + 1; last < b->keys->count && same_prefix(b, first, last, depth);)
			last++;
		uint32_t node = make_node(b, depth, first, last);
		keep(b, kept++, first, node);
	}
	b->keys->count = kept;
	intern_clear(&b->nodes);
	free(b->edge_key);
	free(b->edges);
	return b->diagram->edge_count < EDGES_MAX && b->diagram->node_count < NODES_MAX && !stop_asked();
}

struct diagram *space_table_diagram(const struct space *space, const struct space_table *table, const bool *off,
                                    enum diagram_status *status) {
	struct builder b = {.space = space, .table = table, .off = off};
	int order[SPACE_PARAMS_MAX];
	space_order_make(space, NULL, 0, ORDER_DECLARED, order);
	b.diagram = diagram_empty(space, order);
	b.keys = keys_new(space, order);
	write_keys(&b);
	keys_sort(b.keys->keys, b.keys->count, b.keys->words);
	drop_twins(&b);
	b.diagram->keys = keys_copy(b.keys);
	size_t depth = b.diagram->depth;
	bool fits = true;
	while (fits && depth-- > 0)
		fits = merge_depth(&b, depth);
	b.diagram->root = b.keys->count ? b.child[0] : DIAGRAM_DEAD;
	keys_free(b.keys);
	free(b.child);
	free(b.node_of);
	*status = fits ? DIAGRAM_OK : stop_asked() ? DIAGRAM_STOPPED : DIAGRAM_ENTANGLED;
	if (fits)
		return b.diagram;
	diagram_free(b.diagram);
	return NULL;
}
