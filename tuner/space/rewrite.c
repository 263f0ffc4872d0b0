/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Puts sums, products and comparisons into the variable order. */
#include <math.h>

#include "tuner/space/space_impl.h"

/* Beyond 2^62, sums could overflow into reals. */
static struct tree_range range(double most, double least) {
	return most <= 0x1p62 ? (struct tree_range){most, least} : (struct tree_range){INFINITY, -INFINITY};
}

static struct tree_range range_of_value(struct value value) {
	double whole = value.type == VALUE_INT ? (double)value.as.i : INFINITY;
	return range(fabs(whole), whole);
}

static struct tree_range range_of_param(const struct space_param *param) {
	double most = 0, least = INFINITY;
	for (size_t i = 0; i < param->count; i++) {
		struct tree_range own = range_of_value(param->values[i]);
		most = fmax(most, own.most);
		least = fmin(least, own.least);
	}
	return range(most, least);
}

static struct tree_range range_of_sum(struct tree_range a, struct tree_range b) {
	return range(a.most + b.most, a.least + b.least);
}

static struct tree_range range_of_operator(enum expr_op op, struct tree_range a, struct tree_range b) {
	double most = fmax(a.most, b.most);
	switch (op) {
	case EXPR_NEG:
		return range(a.most, -a.most);
	case EXPR_POS:
		return a;
	case EXPR_ABS:
		return range(a.most, fmax(a.least, 0));
	case EXPR_ADD:
		return range_of_sum(a, b);
	case EXPR_SUB:
		return range_of_sum(a, range(b.most, -b.most));
	case EXPR_MUL:
		most = isinf(most) ? most : a.most * b.most;
		return range(most, a.least >= 0 && b.least >= 0 ? a.least * b.least : -most);
	case EXPR_MOD:
		return range(isinf(most) ? most : b.most, b.least >= 0 ? 0 : -b.most);
	case EXPR_FLOOR:
		return range(isinf(most) ? most : a.most + 1, a.least >= 0 && b.least >= 0 ? 0 : -a.most - 1);
	case EXPR_MAX:
		return range(most, fmax(a.least, b.least));
	case EXPR_MIN:
	case EXPR_AND:
	case EXPR_OR:
		return range(most, fmin(a.least, b.least));
	case EXPR_INT:
	case EXPR_ROUND:
		return a;
	case EXPR_DIV:
	case EXPR_POW:
	case EXPR_INVERT:
	case EXPR_FLOAT:
	case EXPR_BIT_AND:
	case EXPR_BIT_OR:
	case EXPR_BIT_XOR:
	case EXPR_LEFT:
	case EXPR_RIGHT:
	case EXPR_IF:
		return range(INFINITY, 0);
	default:
		return range(1, 0);
	}
}

static uint32_t note(struct space_tree *t, uint32_t node, int rank, struct tree_range known) {
	if (node >= t->room) {
		t->room = node * 2 + 32;
		t->rank = mem_grow(t->rank, t->room, sizeof *t->rank);
		t->range = mem_grow(t->range, t->room, sizeof *t->range);
	}
	t->rank[node] = rank;
	t->range[node] = known;
	return node;
}

static uint32_t tree_literal(struct space_tree *t, struct value value) {
	for (uint32_t i = 0; i < t->tree.count; i++) {
		const struct expr_node *n = &t->tree.nodes[i];
		if (n->op == EXPR_LITERAL && n->value.type == value.type && n->value.as.i == value.as.i)
			return i;
	}
	return note(t, expr_tree_literal(&t->tree, value), 0, range_of_value(value));
}

static uint32_t name(struct tree_builder *b, int param) {
	struct space_tree *t = b->out;
	for (uint32_t i = 0; i < t->tree.count; i++)
		if (t->tree.nodes[i].op == EXPR_NAME && t->tree.nodes[i].name == (uint32_t)param)
			return i;
	return note(t, expr_tree_name(&t->tree, (uint32_t)param), b->level_of[param] + 1,
	            range_of_param(&b->space->params[param]));
}

static struct value fold(const struct space_tree *t, uint32_t node) {
	mem_auto int32_t *slots = mem_alloc(t->tree.count, sizeof *slots);
	memset(slots, -1, t->tree.count * sizeof *slots);
	struct expr_code *code = expr_code_new(&t->tree, node, slots);
	struct value value = code ? expr_code_run(code, NULL) : (struct value){.type = EXPR_FAILED};
	expr_code_free(code);
	return value;
}

/* A subtree that needs no parameter is replaced by its value. */
static uint32_t folded(struct space_tree *t, uint32_t node) {
	return t->rank[node] == 0 ? tree_literal(t, fold(t, node)) : node;
}

static uint32_t operator_node(struct tree_builder *b, enum expr_op op, const uint32_t *kids, uint32_t count,
                              uint32_t total) {
	struct space_tree *t = b->out;
	int rank = 0;
	for (uint32_t i = 0; i < t->tree.count; i++) {
		const struct expr_node *n = &t->tree.nodes[i];
		if (n->op == op && n->count == count && memcmp(t->tree.kids + n->kids, kids, total * sizeof *kids) == 0)
			return folded(t, i);
	}
	for (uint32_t i = 0; i < count; i++)
		rank = t->rank[kids[i]] > rank ? t->rank[kids[i]] : rank;
	uint32_t node = expr_tree_add(&t->tree, op, kids, count, total);
	note(t, node, rank, range_of_operator(op, t->range[kids[0]], t->range[kids[count > 1]]));
	return folded(t, node);
}
static uint32_t tree_two(struct tree_builder *b, enum expr_op op, uint32_t x, uint32_t y) {
	uint32_t kids[2] = {x, y};
	return operator_node(b, op, kids, 2, 2);
}

static uint32_t tree_copy(struct tree_builder *b, uint32_t node);

static uint32_t tree_reordered(struct tree_builder *b, uint32_t node);

static uint32_t tree_comparison(struct tree_builder *b, enum expr_op op, uint32_t left, uint32_t right);

static uint32_t copy_operator(struct tree_builder *b, uint32_t node) {
	const struct expr_node *n = &b->from->nodes[node];
	uint32_t total = n->op == EXPR_CHAIN ? n->count * 2 - 1 : n->count;
	uint32_t out = TREE_NONE;
	if (n->op == EXPR_ADD || n->op == EXPR_SUB || n->op == EXPR_MUL)
		out = tree_reordered(b, node);
	else if (n->op >= EXPR_LT && n->op <= EXPR_NE)
		return tree_comparison(b, n->op, expr_tree_kid(b->from, node, 0), expr_tree_kid(b->from, node, 1));
	if (out != TREE_NONE)
		return out;
	mem_auto uint32_t *kids = mem_alloc(total, sizeof *kids);
	for (uint32_t i = 0; i < total; i++) {
		uint32_t kid = expr_tree_kid(b->from, node, i);
		kids[i] = i < n->count ? tree_copy(b, kid) : kid;
	}
	out = operator_node(b, n->op, kids, n->count, total);
	return out;
}

static uint32_t tree_copy(struct tree_builder *b, uint32_t node) {
	const struct expr_node *n = &b->from->nodes[node];
	if (b->copied[node] != TREE_NONE)
		return b->copied[node];
	uint32_t out;
	if (n->op == EXPR_LITERAL)
		out = tree_literal(b->out, n->value);
	else if (n->op != EXPR_NAME)
		out = copy_operator(b, node);
	else if (b->rule->bind[n->name] >= 0)
		out = name(b, b->rule->bind[n->name]);
	else
		out = tree_literal(b->out, b->space->constants[-1 - b->rule->bind[n->name]].value);
	return b->copied[node] = out;
}

static uint32_t copy_link(struct tree_builder *b, uint32_t chain_node, uint32_t link) {
	const struct expr_node *n = &b->from->nodes[chain_node];
	enum expr_op op = (enum expr_op)expr_tree_kid(b->from, chain_node, n->count + link);
	return tree_comparison(b, op, expr_tree_kid(b->from, chain_node, link),
	                       expr_tree_kid(b->from, chain_node, link + 1));
}

void space_tree_build(struct space_tree *out, const struct space *space, const struct part_source *source,
                      const int *params, int levels) {
	const struct expr_tree *from = &source->rule->expr->tree;
	struct tree_builder b = {.out = out, .space = space, .rule = source->rule, .from = from};
	b.copied = mem_alloc(from->count, sizeof *b.copied);
	memset(b.copied, 0xff, from->count * sizeof *b.copied);
	for (int i = 0; i < levels; i++)
		b.level_of[params[i]] = i;
	out->root = source->link >= 0 ? copy_link(&b, source->root, (uint32_t)source->link) : tree_copy(&b, source->root);
	free(b.copied);
}

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
	push(out, negative ? operator_node(b, EXPR_NEG, &kid, 1, 1) : kid);
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

/* Reorders a sum, difference or product; TREE_NONE if its order has to stay because it could overflow or round
 * differently. */
static uint32_t tree_reordered(struct tree_builder *b, uint32_t node) {
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

/* left and right are nodes of `from`. */
static uint32_t tree_comparison(struct tree_builder *b, enum expr_op op, uint32_t left, uint32_t right) {
	if (b->from->nodes[right].op == EXPR_MUL && b->from->nodes[left].op != EXPR_MUL)
		return tree_comparison(b, mirrored(op), right, left);
	uint32_t limit = tree_copy(b, right), out = TREE_NONE;
	const struct expr_node *n = &b->out->tree.nodes[limit];
	if (b->from->nodes[left].op == EXPR_MUL && op != EXPR_EQ && op != EXPR_NE && n->op == EXPR_LITERAL &&
	    n->value.type == VALUE_INT)
		out = quotient_comparison(b, op, left, n->value);
	return out != TREE_NONE ? out : tree_two(b, op, tree_copy(b, left), limit);
}
