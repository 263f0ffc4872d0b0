/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Puts sums, products and comparisons into the variable order. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "tuner/space/tree.h"

/* The operands of a sum or product in the order of the text. */
struct operands {
	uint32_t *at;
	uint32_t count, room;
};

static void push(struct operands *operands, uint32_t node) {
	if (operands->count == operands->room) {
		operands->room = operands->room ? operands->room * 2 : 8;
		operands->at = mem_grow(operands->at, operands->room, sizeof *operands->at);
	}
	operands->at[operands->count++] = node;
}

static void collect_factors(struct tree_builder *b, uint32_t node, struct operands *out) {
	if (b->from->nodes[node].op != EXPR_MUL) {
		push(out, tree_copy(b, node));
		return;
	}
	collect_factors(b, expr_tree_kid(b->from, node, 0), out);
	collect_factors(b, expr_tree_kid(b->from, node, 1), out);
}

static void collect_summands(struct tree_builder *b, uint32_t node, bool negative, struct operands *out) {
	enum expr_op op = b->from->nodes[node].op;
	if (op == EXPR_ADD || op == EXPR_SUB) {
		collect_summands(b, expr_tree_kid(b->from, node, 0), negative, out);
		collect_summands(b, expr_tree_kid(b->from, node, 1), negative != (op == EXPR_SUB), out);
		return;
	}
	uint32_t kid = tree_copy(b, node);
	push(out, negative ? tree_one(b, EXPR_NEG, kid) : kid);
}

/* Are all partial results whole and within 2^62, whatever the order? */
static bool any_order(const struct space_tree *t, const struct operands *operands, bool product) {
	double bound = product;
	for (uint32_t i = 0; i < operands->count; i++) {
		double own = t->range[operands->at[i]].most;
		bound = product ? bound * fmax(own, 1) : bound + own;
	}
	return bound <= 0x1p62;
}

/* Operands of earlier parameters come first. */
static void sort_by_rank(const struct space_tree *t, struct operands *operands) {
	for (uint32_t i = 1; i < operands->count; i++) {
		uint32_t node = operands->at[i], at = i;
		for (; at > 0 && t->rank[operands->at[at - 1]] > t->rank[node]; at--)
			operands->at[at] = operands->at[at - 1];
		operands->at[at] = node;
	}
}

uint32_t tree_reordered(struct tree_builder *b, uint32_t node) {
	struct operands operands = {0};
	bool product = b->from->nodes[node].op == EXPR_MUL;
	if (product)
		collect_factors(b, node, &operands);
	else
		collect_summands(b, node, false, &operands);
	uint32_t out = TREE_NONE;
	if (any_order(b->out, &operands, product)) {
		sort_by_rank(b->out, &operands);
		out = operands.at[0];
		for (uint32_t i = 1; i < operands.count; i++)
			out = tree_two(b, product ? EXPR_MUL : EXPR_ADD, out, operands.at[i]);
	}
	free(operands.at);
	return out;
}

/* For whole factors of at least 1, f * g * h <= k is the same as k // f // g >= h, and there are fewer distinct
 * quotients than products. */
static uint32_t quotient_comparison(struct tree_builder *b, enum expr_op op, uint32_t product, struct value limit) {
	struct operands factors = {0};
	uint32_t out = TREE_NONE;
	collect_factors(b, product, &factors);
	bool fits = any_order(b->out, &factors, true);
	for (uint32_t i = 0; i < factors.count; i++)
		fits &= b->out->range[factors.at[i]].least >= 1;
	if (op == EXPR_LT || op == EXPR_GE)
		fits &= !__builtin_sub_overflow(limit.as.i, 1, &limit.as.i);
	if (fits) {
		sort_by_rank(b->out, &factors);
		out = tree_literal(b->out, limit);
		for (uint32_t i = 0; i + 1 < factors.count; i++)
			out = tree_two(b, EXPR_FLOOR, out, factors.at[i]);
		out = tree_two(b, op == EXPR_LE || op == EXPR_LT ? EXPR_GE : EXPR_LT, out, factors.at[factors.count - 1]);
	}
	free(factors.at);
	return out;
}

static enum expr_op mirrored(enum expr_op op) {
	return op == EXPR_LT ? EXPR_GT : op == EXPR_LE ? EXPR_GE : op == EXPR_GT ? EXPR_LT : op == EXPR_GE ? EXPR_LE : op;
}

uint32_t tree_comparison(struct tree_builder *b, enum expr_op op, uint32_t left, uint32_t right) {
	if (b->from->nodes[right].op == EXPR_MUL && b->from->nodes[left].op != EXPR_MUL)
		return tree_comparison(b, mirrored(op), right, left);
	uint32_t limit = tree_copy(b, right), out = TREE_NONE;
	const struct expr_node *n = &b->out->tree.nodes[limit];
	if (b->from->nodes[left].op == EXPR_MUL && op != EXPR_EQ && op != EXPR_NE && n->op == EXPR_LITERAL &&
	    n->value.type == VALUE_INT)
		out = quotient_comparison(b, op, left, n->value);
	return out != TREE_NONE ? out : tree_two(b, op, tree_copy(b, left), limit);
}
