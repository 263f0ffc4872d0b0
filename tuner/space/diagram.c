/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counting: all parts walk through the parameters in parallel, and what they remember is the key under which a count is
 * kept. Variable orders are tried in turn with a growing limit of effort; the first one that finishes wins. */
#include "tuner/space/space_impl.h"

int space_rule_holds(const struct space *space, const struct space_rule *rule, const int *config) {
	size_t count = expr_name_count(rule->expr);
	mem_auto struct value *values = mem_alloc(count, sizeof *values);
	int holds = 1;
	for (size_t i = 0; i < count; i++) {
		int bind = rule->bind[i];
		if (bind >= 0 && config[bind] == SPACE_ABSENT)
			holds = -1;
		else
			values[i] = bind >= 0 ? space->params[bind].values[config[bind]] : space->constants[-1 - bind].value;
	}
	if (holds == 1)
		holds = expr_holds(rule->expr, values);
	return holds;
}

/* Turns constraints, conditions and tables into lists of parts. A conjunction and a chained comparison are split, so
 * that each conjunct is decided as soon as its own parameters are. */

struct sources {
	const struct space *space;
	struct part_source *at;
	size_t count, room;
};

#define BIT(param) (UINT64_C(1) << (param))

static void push(struct sources *sources, struct part_source source) {
	sources->at = mem_room(sources->at, sources->count, &sources->room, sizeof *sources->at);
	sources->at[sources->count++] = source;
}

static uint64_t tree_mask(const struct space_rule *rule, uint32_t node) {
	const struct expr_tree *tree = &rule->expr->tree;
	const struct expr_node *n = &tree->nodes[node];
	uint64_t mask = 0;
	if (n->op == EXPR_NAME)
		return rule->bind[n->name] >= 0 ? BIT(rule->bind[n->name]) : 0;
	for (uint32_t i = 0; i < n->count; i++)
		mask |= tree_mask(rule, expr_tree_kid(tree, node, i));
	return mask;
}

/* A constraint with an absent parameter holds as a whole, so that every conjunct must know whether one is absent. */
static uint64_t guard_mask(const struct space *space, const struct space_rule *rule) {
	uint64_t mask = 0;
	for (uint64_t rest = rule->mask; rest; rest &= rest - 1)
		if (space->params[__builtin_ctzll(rest)].when)
			mask |= rest & -rest;
	return mask;
}

static void split(struct sources *sources, struct part_source source, uint64_t guard) {
	const struct expr_tree *tree = &source.rule->expr->tree;
	const struct expr_node *n = &tree->nodes[source.root];
	if (n->op == EXPR_AND) {
		for (uint32_t i = 0; i < 2; i++) {
			struct part_source half = source;
			half.root = expr_tree_kid(tree, source.root, i);
			split(sources, half, guard);
		}
		return;
	}
	for (uint32_t i = 0; n->op == EXPR_CHAIN && i + 1 < n->count; i++) {
		struct part_source link = source;
		link.link = (int)i;
		link.mask = guard | tree_mask(source.rule, expr_tree_kid(tree, source.root, i)) |
		            tree_mask(source.rule, expr_tree_kid(tree, source.root, i + 1));
		push(sources, link);
	}
	if (n->op == EXPR_CHAIN)
		return;
	source.mask = guard | tree_mask(source.rule, source.root);
	push(sources, source);
}

static void push_condition(struct sources *sources, int param) {
	const struct space_rule *rule = &sources->space->whens[param];
	push(sources, (struct part_source){.rule = rule,
	                                   .root = rule->expr->root,
	                                   .link = -1,
	                                   .owner = param,
	                                   .mask = rule->mask | BIT(param),
	                                   .number = SIZE_MAX});
}

/* the caller frees them */
static struct part_source *sources_new(const struct space *space, const bool *off, size_t *count) {
	struct sources sources = {.space = space};
	for (size_t i = 0; i < space->param_count; i++)
		if (space->params[i].when)
			push_condition(&sources, (int)i);
	for (size_t i = 0; i < space->constraint_count; i++) {
		const struct space_rule *rule = &space->constraints[i];
		struct part_source source = {.rule = rule, .root = rule->expr->root, .link = -1, .owner = -1, .number = i};
		if (!off || !off[i])
			split(&sources, source, guard_mask(space, rule));
	}
	for (size_t i = 0; i < space->table_count; i++) {
		const struct space_table *table = &space->tables[i];
		size_t number = space->constraint_count + i;
		if (!off || !off[number])
			push(&sources,
			     (struct part_source){.table = table, .link = -1, .owner = -1, .mask = table->mask, .number = number});
	}
	*count = sources.count;
	return sources.at;
}

enum { NODES_MAX = 1 << 23, EDGES_MAX = 1 << 25 };
static const size_t bytes_max = (size_t)1 << 29;
static const uint64_t steps_first = 1 << 17, steps_factor = 16, steps_last = 1 << 25;

/* How a part passes a depth: it takes its node from slot `from` of the key (-1: its root), moves at `level` (-1: it
 * does not mention the parameter), and writes the node to slot `to` of the next key (-1: it is decided). */
struct move {
	struct part *part;
	int from, to, level;
};

struct stage {
	int param;
	uint32_t branches;
	struct move *moves;
	size_t move_count;
	uint32_t *key;
	size_t width;
	struct intern keys;
	uint32_t *node_of; /* indexed by the key's number */
	size_t room;
	struct diagram_edge *edges; /* of the node being made */
	uint32_t edge_count;
};

struct builder {
	const struct space *space;
	struct diagram *diagram;
	struct part **parts;
	size_t part_count;
	struct stage *stages; /* depth + 1 of them */
	struct effort effort;
	bool overflow;
};

static bool gave_up(const struct builder *b) {
	return b->overflow || effort_spent(&b->effort) || b->diagram->node_count >= NODES_MAX ||
	       b->diagram->edge_count >= EDGES_MAX;
}

static int part_level(const struct part *part, int param) {
	for (int level = 0; level < part->levels; level++)
		if (part->params[level] == param)
			return level;
	return -1;
}

/* Moves that decide a part come first, because they may fail; moves that only carry a node come last. */
static int move_rank(const struct move *move) {
	return move->level < 0 ? 2 : move->to >= 0;
}

static void stage_add(struct stage *stage, struct move move) {
	size_t at = stage->move_count++;
	for (; at > 0 && move_rank(&stage->moves[at - 1]) > move_rank(&move); at--)
		stage->moves[at] = stage->moves[at - 1];
	stage->moves[at] = move;
}

static void stages_plan(struct builder *b, struct part *part, const int *position) {
	int slot = -1;
	if (part->levels == 0 || part->root < PART_FIRST)
		return;
	int first = position[part->params[0]], last = position[part->params[part->levels - 1]];
	for (int depth = first; depth <= last; depth++) {
		struct stage *stage = &b->stages[depth], *next = stage + 1;
		int to = depth < last ? (int)next->width++ : -1;
		stage_add(stage, (struct move){part, slot, to, part_level(part, stage->param)});
		slot = to;
	}
}

static void stages_new(struct builder *b, const int *position) {
	struct diagram *diagram = b->diagram;
	b->stages = mem_alloc(diagram->depth + 1, sizeof *b->stages);
	for (size_t depth = 0; depth < diagram->depth; depth++) {
		struct stage *stage = &b->stages[depth];
		stage->param = diagram->order[depth];
		stage->branches = space_branches(b->space, stage->param);
		stage->moves = mem_alloc(b->part_count, sizeof *stage->moves);
		stage->edges = mem_alloc(stage->branches, sizeof *stage->edges);
	}
	for (size_t i = 0; i < b->part_count; i++)
		stages_plan(b, b->parts[i], position);
	for (size_t depth = 0; depth <= diagram->depth; depth++)
		b->stages[depth].key = mem_alloc(b->stages[depth].width, sizeof(uint32_t));
}

static void stages_free(struct builder *b) {
	for (size_t depth = 0; b->stages && depth <= b->diagram->depth; depth++) {
		struct stage *stage = &b->stages[depth];
		intern_clear(&stage->keys);
		free(stage->node_of);
		free(stage->moves);
		free(stage->edges);
		free(stage->key);
	}
	free(b->stages);
}

/* Writes the next key; false: a part is violated. */
static bool stage_step(struct stage *stage, uint32_t branch) {
	uint32_t *to = stage[1].key;
	for (size_t i = 0; i < stage->move_count; i++) {
		const struct move *move = &stage->moves[i];
		uint32_t node = move->from < 0 ? move->part->root : stage->key[move->from];
		if (move->level >= 0)
			node = part_step(move->part, node, move->level, branch);
		if (node == PART_FALSE)
			return false;
		if (move->to >= 0)
			to[move->to] = node;
	}
	return true;
}

uint32_t diagram_push(struct diagram *d, uint64_t count, const struct diagram_edge *edges, uint32_t edge_count) {
	if (d->node_count == d->node_room) {
		d->node_room = d->node_room * 2 + 64;
		d->nodes = mem_grow(d->nodes, d->node_room, sizeof *d->nodes);
	}
	if (d->edge_count + edge_count > d->edge_room) {
		d->edge_room = (d->edge_count + edge_count) * 3 / 2 + 64;
		d->edges = mem_grow(d->edges, d->edge_room, sizeof *d->edges);
	}
	if (edge_count)
		memcpy(d->edges + d->edge_count, edges, edge_count * sizeof *edges);
	d->nodes[d->node_count] = (struct diagram_node){count, (uint32_t)d->edge_count, edge_count};
	d->edge_count += edge_count;
	return (uint32_t)d->node_count++;
}

static uint32_t visit(struct builder *b, size_t depth);

static uint32_t make_node(struct builder *b, size_t depth) {
	struct stage *stage = &b->stages[depth];
	uint64_t total = 0;
	uint32_t run_end = 0;
	stage->edge_count = 0;
	for (uint32_t branch = 0; branch < stage->branches && !gave_up(b); branch++) {
		b->effort.steps++;
		uint32_t child = stage_step(stage, branch) ? visit(b, depth + 1) : DIAGRAM_DEAD;
		if (child == DIAGRAM_DEAD)
			continue;
		bool same = stage->edge_count > 0 && run_end == branch && stage->edges[stage->edge_count - 1].child == child;
		if (!same)
			stage->edges[stage->edge_count++] = (struct diagram_edge){total, child, branch};
		run_end = branch + 1;
		b->overflow |= __builtin_add_overflow(total, b->diagram->nodes[child].count, &total);
	}
	return stage->edge_count ? diagram_push(b->diagram, total, stage->edges, stage->edge_count) : DIAGRAM_DEAD;
}

static uint32_t visit(struct builder *b, size_t depth) {
	struct stage *stage = &b->stages[depth];
	bool added;
	if (depth == b->diagram->depth)
		return DIAGRAM_END;
	uint32_t number = intern_find(&stage->keys, stage->key, stage->width, &added);
	if (!added)
		return stage->node_of[number];
	if (stage->keys.count > stage->room) {
		stage->room = stage->room * 2 + 64;
		stage->node_of = mem_grow(stage->node_of, stage->room, sizeof *stage->node_of);
	}
	b->effort.bytes += (stage->width + 8) * sizeof(uint32_t);
	uint32_t node = make_node(b, depth);
	stage->node_of[number] = node;
	return node;
}

static void used_mark(struct diagram *d, uint32_t node, size_t depth, bool *seen) {
	if (depth == d->depth || seen[node])
		return;
	int param = d->order[depth];
	seen[node] = true;
	d->depth_of[node] = (uint8_t)depth;
	for (uint32_t i = 0; i < d->nodes[node].edges; i++) {
		const struct diagram_edge *edge = &d->edges[d->nodes[node].first + i];
		memset(d->used[param] + edge->branch, 1, diagram_run(d, &d->nodes[node], i));
		used_mark(d, edge->child, depth + 1, seen);
	}
}

static void used_new(const struct space *space, struct diagram *d) {
	mem_auto bool *seen = mem_alloc(d->node_count, sizeof *seen);
	d->depth_of = mem_alloc(d->node_count, sizeof *d->depth_of);
	d->used = mem_alloc(space->param_count, sizeof(uint8_t *));
	for (size_t i = 0; i < space->param_count; i++)
		d->used[i] = mem_alloc(space_branches(space, (int)i), 1);
	if (d->root != DIAGRAM_DEAD)
		used_mark(d, d->root, 0, seen);
}

struct diagram *diagram_empty(const struct space *space, const int *order) {
	struct diagram *d = mem_alloc(1, sizeof *d);
	d->depth = space->param_count;
	memcpy(d->order, order, d->depth * sizeof *order);
	diagram_push(d, 1, NULL, 0); /* DIAGRAM_END */
	diagram_push(d, 0, NULL, 0); /* DIAGRAM_DEAD */
	return d;
}

/* Tries one order with one limit. NULL: it gave up. */
static struct diagram *attempt(const struct space *space, const struct part_source *sources, size_t count,
                               const int *order, uint64_t steps_max, bool *overflow) {
	struct builder b = {.space = space, .effort = {.steps_max = steps_max, .bytes_max = bytes_max}};
	int position[SPACE_PARAMS_MAX] = {0};
	bool dead = false;
	for (size_t i = 0; i < space->param_count; i++)
		position[order[i]] = (int)i;
	b.diagram = diagram_empty(space, order);
	b.parts = mem_alloc(count, sizeof *b.parts);
	for (; b.part_count < count && !dead && !gave_up(&b); b.part_count++) {
		b.parts[b.part_count] = part_new(space, &sources[b.part_count], position, &b.effort);
		dead = b.parts[b.part_count]->root == PART_FALSE;
	}
	stages_new(&b, position);
	b.diagram->root = dead ? DIAGRAM_DEAD : visit(&b, 0);
	stages_free(&b);
	for (size_t i = 0; i < b.part_count; i++)
		part_free(b.parts[i]);
	free(b.parts);
	*overflow = b.overflow;
	if (!gave_up(&b))
		return b.diagram;
	diagram_free(b.diagram);
	return NULL;
}

/* Makes the distinct orders. */
static int make_orders(const struct space *space, const struct part_source *sources, size_t count,
                       int orders[ORDER_COUNT][SPACE_PARAMS_MAX]) {
	int made = 0;
	for (int kind = 0; kind < ORDER_COUNT; kind++) {
		bool known = false;
		space_order_make(space, sources, count, (enum space_order)kind, orders[made]);
		for (int i = 0; i < made; i++)
			known |= memcmp(orders[i], orders[made], space->param_count * sizeof(int)) == 0;
		made += !known;
	}
	return made;
}

static struct diagram *counted(const struct space *space, const bool *off, enum diagram_status *status) {
	size_t count;
	mem_auto struct part_source *sources = sources_new(space, off, &count);
	struct diagram *diagram = NULL;
	int orders[ORDER_COUNT][SPACE_PARAMS_MAX], order_count = make_orders(space, sources, count, orders);
	bool overflow = false;
	for (uint64_t steps = steps_first; steps <= steps_last && !diagram && !overflow && !stop_asked();
	     steps *= steps_factor)
		for (int kind = 0; kind < order_count && !diagram && !overflow && !stop_asked(); kind++)
			diagram = attempt(space, sources, count, orders[kind], steps, &overflow);
	*status = diagram ? DIAGRAM_OK : overflow ? DIAGRAM_OVERFLOW : stop_asked() ? DIAGRAM_STOPPED : DIAGRAM_ENTANGLED;
	return diagram;
}

/* The table that names every parameter, if it is the only active one; otherwise NULL. */
static const struct space_table *space_full_table(const struct space *space, const bool *off) {
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

struct diagram *diagram_new(const struct space *space, const bool *off, enum diagram_status *status) {
	const struct space_table *table = space_full_table(space, off);
	struct diagram *diagram = table ? space_table_diagram(space, table, off, status) : counted(space, off, status);
	if (diagram)
		used_new(space, diagram);
	return diagram;
}

void diagram_free(struct diagram *diagram) {
	if (!diagram)
		return;
	for (size_t i = 0; diagram->used && i < diagram->depth; i++)
		free(diagram->used[i]);
	free(diagram->used);
	free(diagram->depth_of);
	keys_free(diagram->keys);
	free(diagram->nodes);
	free(diagram->edges);
	free(diagram);
}

uint32_t diagram_child(const struct diagram *diagram, uint32_t node, uint32_t branch, uint64_t *before) {
	const struct diagram_node *n = &diagram->nodes[node];
	const struct diagram_edge *edges = diagram->edges + n->first;
	uint32_t low = 0, high = n->edges;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (edges[middle].branch <= branch)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return DIAGRAM_DEAD;
	/* Within the run, a guess by a product and a correction are faster than a quotient. */
	const struct diagram_edge *edge = &edges[low - 1];
	uint64_t end = low < n->edges ? edge[1].before : n->count, past = branch - edge->branch;
	if (past && (__builtin_mul_overflow(past, diagram->nodes[edge->child].count, &past) || past >= end - edge->before))
		return DIAGRAM_DEAD;
	*before = edge->before + past;
	return edge->child;
}
