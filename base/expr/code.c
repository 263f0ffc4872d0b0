/* SPDX-License-Identifier: BSD-3-Clause */
/* A stack machine on typed values. The loop handles loads and whole-number operators itself; everything else goes
 * through expr_binary(). It never allocates while it runs. */
#include "base/expr/node.h"

enum {
	CODE_LOAD = EXPR_CHAIN + 1, /* push slots[arg] */
	CODE_CONST,                 /* push consts[arg] */
	CODE_JUMP_FALSE,            /* jump to arg if the top is false or failed, else pop it */
	CODE_JUMP_TRUE,             /* jump to arg if the top is true or failed, else pop it */
	CODE_FOUND,                 /* x seen y: seen becomes seen or x == y; drop y */
	CODE_LINK,                  /* x seen y: seen becomes seen and (x arg y); x becomes y; drop the last */
	CODE_SEEN                   /* x seen: seen, by arg */
};

enum { SEEN_LINKS, SEEN_IN, SEEN_NOT_IN };

struct ins {
	uint32_t op, arg;
};

struct expr_code {
	struct ins *ins;
	struct value *consts;
	uint32_t ins_count, ins_room, const_count, const_room;
};

struct maker {
	const struct expr_tree *tree;
	const int32_t *slots;
	struct expr_code *code;
	int depth, deepest;
};

static uint32_t emit(struct maker *m, uint32_t op, uint32_t arg, int pushes) {
	struct expr_code *code = m->code;
	if (code->ins_count == code->ins_room) {
		code->ins_room = code->ins_room ? code->ins_room * 2 : 16;
		code->ins = mem_grow(code->ins, code->ins_room, sizeof *code->ins);
	}
	code->ins[code->ins_count] = (struct ins){op, arg};
	m->depth += pushes;
	m->deepest = m->depth > m->deepest ? m->depth : m->deepest;
	return code->ins_count++;
}

static void emit_const(struct maker *m, struct value value) {
	struct expr_code *code = m->code;
	if (code->const_count == code->const_room) {
		code->const_room = code->const_room ? code->const_room * 2 : 8;
		code->consts = mem_grow(code->consts, code->const_room, sizeof *code->consts);
	}
	code->consts[code->const_count] = value;
	emit(m, CODE_CONST, code->const_count++, 1);
}

static void make(struct maker *m, uint32_t node);

static void make_in(struct maker *m, uint32_t node) {
	const struct expr_node *n = &m->tree->nodes[node];
	make(m, expr_tree_kid(m->tree, node, 0));
	emit_const(m, value_int(0));
	for (uint32_t i = 1; i < n->count; i++) {
		make(m, expr_tree_kid(m->tree, node, i));
		emit(m, CODE_FOUND, 0, -1);
	}
	emit(m, CODE_SEEN, n->op == EXPR_IN ? SEEN_IN : SEEN_NOT_IN, -1);
}

static void make_chain(struct maker *m, uint32_t node) {
	const struct expr_node *n = &m->tree->nodes[node];
	make(m, expr_tree_kid(m->tree, node, 0));
	emit_const(m, value_int(1));
	for (uint32_t i = 1; i < n->count; i++) {
		make(m, expr_tree_kid(m->tree, node, i));
		emit(m, CODE_LINK, expr_tree_kid(m->tree, node, n->count + i - 1), -1);
	}
	emit(m, CODE_SEEN, SEEN_LINKS, -1);
}

static void make_both(struct maker *m, uint32_t node) {
	const struct expr_node *n = &m->tree->nodes[node];
	make(m, expr_tree_kid(m->tree, node, 0));
	uint32_t jump = emit(m, n->op == EXPR_AND ? CODE_JUMP_FALSE : CODE_JUMP_TRUE, 0, -1);
	make(m, expr_tree_kid(m->tree, node, 1));
	m->code->ins[jump].arg = m->code->ins_count;
}

static void make(struct maker *m, uint32_t node) {
	const struct expr_node *n = &m->tree->nodes[node];
	if (m->slots[node] >= 0) {
		emit(m, CODE_LOAD, (uint32_t)m->slots[node], 1);
		return;
	}
	switch (n->op) {
	case EXPR_LITERAL:
		emit_const(m, n->value);
		break;
	case EXPR_AND:
	case EXPR_OR:
		make_both(m, node);
		break;
	case EXPR_IN:
	case EXPR_NOT_IN:
		make_in(m, node);
		break;
	case EXPR_CHAIN:
		make_chain(m, node);
		break;
	default:
		for (uint32_t i = 0; i < n->count; i++)
			make(m, expr_tree_kid(m->tree, node, i));
		emit(m, n->op, 0, 1 - (int)n->count);
	}
}

struct expr_code *expr_code_new(const struct expr_tree *tree, uint32_t root, const int32_t *slots) {
	struct maker m = {.tree = tree, .slots = slots, .code = mem_alloc(1, sizeof *m.code)};
	make(&m, root);
	if (m.deepest <= EXPR_STACK)
		return m.code;
	expr_code_free(m.code);
	return NULL;
}

void expr_code_free(struct expr_code *code) {
	if (!code)
		return;
	free(code->ins);
	free(code->consts);
	free(code);
}

/* A list is evaluated before it is searched, because a failed member must fail the whole test. */
static struct value found(struct value seen, struct value equal) {
	if (seen.type == EXPR_FAILED || equal.type == EXPR_FAILED)
		return (struct value){.type = EXPR_FAILED};
	return expr_true(seen) ? seen : equal;
}

/* A chain ends at its first false link. */
static struct value linked(struct value seen, struct value holds) {
	return seen.type == EXPR_FAILED || !expr_true(seen) ? seen : holds;
}

static struct value chosen(struct value condition, struct value yes, struct value no) {
	return condition.type == EXPR_FAILED ? condition : expr_true(condition) ? yes : no;
}

static struct value seen_value(struct value what, struct value seen, uint32_t how) {
	if (how == SEEN_LINKS)
		return seen;
	if (what.type == EXPR_FAILED)
		return what;
	return how == SEEN_IN ? seen : expr_unary(EXPR_NOT, seen);
}

/* Whole-number operators that cannot overflow; false if expr_binary() has to do it. */
static inline bool run_whole(uint32_t op, int64_t a, int64_t b, int64_t *out) {
	switch (op) {
	case EXPR_ADD:
		return !__builtin_add_overflow(a, b, out);
	case EXPR_SUB:
		return !__builtin_sub_overflow(a, b, out);
	case EXPR_MUL:
		return !__builtin_mul_overflow(a, b, out);
	case EXPR_MOD:
		if (a < 0 || b <= 0)
			return false;
		*out = a % b;
		return true;
	case EXPR_LT:
		*out = a < b;
		return true;
	case EXPR_LE:
		*out = a <= b;
		return true;
	case EXPR_GT:
		*out = a > b;
		return true;
	case EXPR_GE:
		*out = a >= b;
		return true;
	case EXPR_EQ:
		*out = a == b;
		return true;
	case EXPR_NE:
		*out = a != b;
		return true;
	}
	return false;
}

static struct value run_two(uint32_t op, struct value a, struct value b) {
	int64_t whole;
	if (a.type == VALUE_INT && b.type == VALUE_INT && run_whole(op, a.as.i, b.as.i, &whole))
		return (struct value){.type = VALUE_INT, .as.i = whole};
	return expr_binary((enum expr_op)op, a, b);
}

struct value expr_code_run(const struct expr_code *code, const struct value *slots) {
	struct value stack[EXPR_STACK];
	uint32_t n = 0;
	for (uint32_t at = 0; at < code->ins_count; at++) {
		struct ins ins = code->ins[at];
		switch (ins.op) {
		case CODE_LOAD:
			stack[n++] = slots[ins.arg];
			break;
		case CODE_CONST:
			stack[n++] = code->consts[ins.arg];
			break;
		case CODE_JUMP_FALSE:
		case CODE_JUMP_TRUE:
			if (stack[n - 1].type == EXPR_FAILED || expr_true(stack[n - 1]) == (ins.op == CODE_JUMP_TRUE))
				at = ins.arg - 1;
			else
				n--;
			break;
		case CODE_FOUND:
			stack[n - 2] = found(stack[n - 2], expr_binary(EXPR_EQ, stack[n - 3], stack[n - 1]));
			n--;
			break;
		case CODE_LINK:
			stack[n - 2] = linked(stack[n - 2], expr_binary((enum expr_op)ins.arg, stack[n - 3], stack[n - 1]));
			stack[n - 3] = stack[n - 1];
			n--;
			break;
		case CODE_SEEN:
			stack[n - 2] = seen_value(stack[n - 2], stack[n - 1], ins.arg);
			n--;
			break;
		case EXPR_NEG:
		case EXPR_POS:
		case EXPR_NOT:
		case EXPR_ABS:
		case EXPR_INVERT:
		case EXPR_INT:
		case EXPR_FLOAT:
		case EXPR_ROUND:
			stack[n - 1] = expr_unary((enum expr_op)ins.op, stack[n - 1]);
			break;
		case EXPR_IF:
			stack[n - 3] = chosen(stack[n - 3], stack[n - 2], stack[n - 1]);
			n -= 2;
			break;
		default:
			stack[n - 2] = run_two(ins.op, stack[n - 2], stack[n - 1]);
			n--;
		}
	}
	return stack[0];
}
