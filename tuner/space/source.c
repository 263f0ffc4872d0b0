/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/space/source.h"

#include <stdlib.h>

#include "base/expr/node.h"

struct sources {
	const struct space *space;
	struct part_source *at;
	size_t count, room;
};

#define BIT(param) (UINT64_C(1) << (param))

static void push(struct sources *sources, struct part_source source) {
	if (sources->count == sources->room) {
		sources->room = sources->room ? sources->room * 2 : 16;
		sources->at = mem_grow(sources->at, sources->room, sizeof *sources->at);
	}
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

struct part_source *sources_new(const struct space *space, const bool *off, size_t *count) {
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
