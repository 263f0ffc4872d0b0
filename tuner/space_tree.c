/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/space_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct builder {
	struct space_tree *out;
	const struct space *space;
	const struct space_rule *rule;
	const struct expr_tree *from;
	uint32_t *copied; /* of each node of `from` */
	int level_of[SPACE_PARAMS_MAX];
};

/* Operands of a sum or product that is being put in order. */
struct operands {
	uint32_t *at;
	uint32_t count, room;
};

static uint32_t copy(struct builder *b, uint32_t node);

static void push(struct operands *operands, uint32_t node) {
	if (operands->count == operands->room) {
		operands->room = operands->room ? operands->room * 2 : 8;
		operands->at = mem_grow(operands->at, operands->room, sizeof *operands->at);
	}
	operands->at[operands->count++] = node;
}

/* Sums over 2^62 could overflow into reals, where order matters. */
static double bounded(double bound) {
	return bound <= 0x1p62 ? bound : INFINITY;
}

static double bound_of_value(struct value value) {
	return value.type == VALUE_INT ? bounded(fabs((double)value.as.i)) : INFINITY;
}

static double bound_of_param(const struct space_param *param) {
	double most = 0;
	for (size_t i = 0; i < param->count; i++)
		most = fmax(most, bound_of_value(param->values[i]));
	return most;
}

static double bound_of_operator(const struct space_tree *t, enum expr_op op, const uint32_t *kids, uint32_t count) {
	double a = t->bound[kids[0]], b = count > 1 ? t->bound[kids[1]] : 0;
	switch (op) {
	case EXPR_NEG:
	case EXPR_POS:
	case EXPR_ABS:
		return a;
	case EXPR_ADD:
	case EXPR_SUB:
		return bounded(a + b);
	case EXPR_MUL:
		return isinf(a) || isinf(b) ? INFINITY : bounded(a * b);
	case EXPR_MOD:
		return isinf(a) ? a : b;
	case EXPR_FLOOR:
		return isinf(b) ? b : bounded(a + 1);
	case EXPR_MIN:
	case EXPR_MAX:
	case EXPR_AND:
	case EXPR_OR:
		return fmax(a, b);
	case EXPR_DIV:
	case EXPR_POW:
		return INFINITY;
	default:
		return 1;
	}
}

static uint32_t note(struct space_tree *t, uint32_t node, int rank, double bound) {
	if (node >= t->room) {
		t->room = node * 2 + 32;
		t->rank = mem_grow(t->rank, t->room, sizeof *t->rank);
		t->bound = mem_grow(t->bound, t->room, sizeof *t->bound);
	}
	t->rank[node] = rank;
	t->bound[node] = bound;
	return node;
}

static uint32_t literal(struct space_tree *t, struct value value) {
	for (uint32_t i = 0; i < t->tree.count; i++) {
		const struct expr_node *n = &t->tree.nodes[i];
		if (n->op == EXPR_LITERAL && n->value.type == value.type && n->value.as.i == value.as.i)
			return i;
	}
	return note(t, expr_tree_literal(&t->tree, value), 0, bound_of_value(value));
}

static uint32_t name(struct builder *b, int param) {
	struct space_tree *t = b->out;
	for (uint32_t i = 0; i < t->tree.count; i++)
		if (t->tree.nodes[i].op == EXPR_NAME && t->tree.nodes[i].name == (uint32_t)param)
			return i;
	return note(t, expr_tree_name(&t->tree, (uint32_t)param), b->level_of[param] + 1,
	            bound_of_param(&b->space->params[param]));
}

static struct value fold(const struct space_tree *t, uint32_t node) {
	int32_t *slots = mem_alloc(t->tree.count, sizeof *slots);
	memset(slots, -1, t->tree.count * sizeof *slots);
	struct expr_code *code = expr_code_new(&t->tree, node, slots);
	struct value value = code ? expr_code_run(code, NULL) : (struct value){.type = EXPR_FAILED};
	expr_code_free(code);
	free(slots);
	return value;
}

static uint32_t operator_node(struct builder *b, enum expr_op op, const uint32_t *kids, uint32_t count, uint32_t total) {
	struct space_tree *t = b->out;
	int rank = 0;
	for (uint32_t i = 0; i < t->tree.count; i++) {
		const struct expr_node *n = &t->tree.nodes[i];
		if (n->op == op && n->count == count && memcmp(t->tree.kids + n->kids, kids, total * sizeof *kids) == 0)
			return i;
	}
	for (uint32_t i = 0; i < count; i++)
		rank = t->rank[kids[i]] > rank ? t->rank[kids[i]] : rank;
	uint32_t node = expr_tree_add(&t->tree, op, kids, count, total);
	note(t, node, rank, bound_of_operator(t, op, kids, count));
	return rank == 0 ? literal(t, fold(t, node)) : node;
}

static uint32_t two(struct builder *b, enum expr_op op, uint32_t x, uint32_t y) {
	uint32_t kids[2] = {x, y};
	return operator_node(b, op, kids, 2, 2);
}

static void collect_factors(struct builder *b, uint32_t node, struct operands *out) {
	if (b->from->nodes[node].op != EXPR_MUL) {
		push(out, copy(b, node));
		return;
	}
	collect_factors(b, expr_tree_kid(b->from, node, 0), out);
	collect_factors(b, expr_tree_kid(b->from, node, 1), out);
}

static void collect_summands(struct builder *b, uint32_t node, bool negative, struct operands *out) {
	enum expr_op op = b->from->nodes[node].op;
	if (op == EXPR_ADD || op == EXPR_SUB) {
		collect_summands(b, expr_tree_kid(b->from, node, 0), negative, out);
		collect_summands(b, expr_tree_kid(b->from, node, 1), negative != (op == EXPR_SUB), out);
		return;
	}
	uint32_t kid = copy(b, node);
	push(out, negative ? operator_node(b, EXPR_NEG, &kid, 1, 1) : kid);
}

/* Whole, and within 2^62 in any order? */
static bool any_order(const struct space_tree *t, const struct operands *operands, bool product) {
	double bound = product;
	for (uint32_t i = 0; i < operands->count; i++) {
		double own = t->bound[operands->at[i]];
		bound = product ? bound * fmax(own, 1) : bound + own;
	}
	return bound <= 0x1p62;
}

static uint32_t chain(struct builder *b, const struct operands *operands, enum expr_op op) {
	uint32_t node = NONE;
	int last = 0;
	for (uint32_t i = 0; i < operands->count; i++)
		last = b->out->rank[operands->at[i]] > last ? b->out->rank[operands->at[i]] : last;
	for (int rank = 0; rank <= last; rank++)
		for (uint32_t i = 0; i < operands->count; i++)
			if (b->out->rank[operands->at[i]] == rank)
				node = node == NONE ? operands->at[i] : two(b, op, node, operands->at[i]);
	return node;
}

/* NONE where the order has to stay. */
static uint32_t copy_reordered(struct builder *b, uint32_t node) {
	struct operands operands = {0};
	bool product = b->from->nodes[node].op == EXPR_MUL;
	if (product)
		collect_factors(b, node, &operands);
	else
		collect_summands(b, node, false, &operands);
	uint32_t out = NONE;
	if (any_order(b->out, &operands, product))
		out = chain(b, &operands, product ? EXPR_MUL : EXPR_ADD);
	free(operands.at);
	return out;
}

static uint32_t copy_operator(struct builder *b, uint32_t node) {
	const struct expr_node *n = &b->from->nodes[node];
	uint32_t total = n->op == EXPR_CHAIN ? n->count * 2 - 1 : n->count;
	uint32_t out = NONE;
	if (n->op == EXPR_ADD || n->op == EXPR_SUB || n->op == EXPR_MUL)
		out = copy_reordered(b, node);
	if (out != NONE)
		return out;
	uint32_t *kids = mem_alloc(total, sizeof *kids);
	for (uint32_t i = 0; i < total; i++) {
		uint32_t kid = expr_tree_kid(b->from, node, i);
		kids[i] = i < n->count ? copy(b, kid) : kid;
	}
	out = operator_node(b, n->op, kids, n->count, total);
	free(kids);
	return out;
}

static uint32_t copy(struct builder *b, uint32_t node) {
	const struct expr_node *n = &b->from->nodes[node];
	if (b->copied[node] != NONE)
		return b->copied[node];
	uint32_t out;
	if (n->op == EXPR_LITERAL)
		out = literal(b->out, n->value);
	else if (n->op != EXPR_NAME)
		out = copy_operator(b, node);
	else if (b->rule->bind[n->name] >= 0)
		out = name(b, b->rule->bind[n->name]);
	else
		out = literal(b->out, b->space->constants[-1 - b->rule->bind[n->name]].value);
	return b->copied[node] = out;
}

static uint32_t copy_link(struct builder *b, uint32_t chain_node, uint32_t link) {
	const struct expr_node *n = &b->from->nodes[chain_node];
	enum expr_op op = (enum expr_op)expr_tree_kid(b->from, chain_node, n->count + link);
	uint32_t left = copy(b, expr_tree_kid(b->from, chain_node, link));
	return two(b, op, left, copy(b, expr_tree_kid(b->from, chain_node, link + 1)));
}

void space_tree_build(struct space_tree *out, const struct space *space, const struct part_source *source,
                      const int *params, int levels) {
	const struct expr_tree *from = &source->rule->expr->tree;
	struct builder b = {.out = out, .space = space, .rule = source->rule, .from = from};
	b.copied = mem_alloc(from->count, sizeof *b.copied);
	memset(b.copied, 0xff, from->count * sizeof *b.copied);
	for (int i = 0; i < levels; i++)
		b.level_of[params[i]] = i;
	out->root = source->link >= 0 ? copy_link(&b, source->root, (uint32_t)source->link) : copy(&b, source->root);
	free(b.copied);
}

void space_tree_clear(struct space_tree *tree) {
	expr_tree_clear(&tree->tree);
	free(tree->rank);
	free(tree->bound);
	*tree = (struct space_tree){0};
}
