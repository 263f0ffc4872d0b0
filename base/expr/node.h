/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of expressions: the tree that the parser makes, and the stack code made from a tree. Shared by expr*.c and
 * by the space, which splits trees into the parts that each parameter decides. */
#ifndef BASE_EXPR_NODE_H
#define BASE_EXPR_NODE_H
#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"

enum { EXPR_TEXT_MAX = 8192, EXPR_NEST_MAX = 64, EXPR_STACK = 512 };

/* Type of a value that could not be computed. It absorbs every operator, because both sides of a short circuit are
 * computed, which Python would not do, and that must not change a result. */
#define EXPR_FAILED ((enum value_type)(VALUE_WORD + 1))

enum expr_op {
	EXPR_LITERAL,
	EXPR_NAME,
	EXPR_NEG,
	EXPR_POS,
	EXPR_NOT,
	EXPR_ABS,
	EXPR_INVERT,
	EXPR_INT,
	EXPR_FLOAT,
	EXPR_ROUND,
	EXPR_ADD,
	EXPR_SUB,
	EXPR_MUL,
	EXPR_DIV,
	EXPR_FLOOR,
	EXPR_MOD,
	EXPR_POW,
	EXPR_MIN,
	EXPR_MAX,
	EXPR_BIT_AND,
	EXPR_BIT_OR,
	EXPR_BIT_XOR,
	EXPR_LEFT,
	EXPR_RIGHT,
	EXPR_LT,
	EXPR_LE,
	EXPR_GT,
	EXPR_GE,
	EXPR_EQ,
	EXPR_NE,
	EXPR_AND,
	EXPR_OR,
	EXPR_IF, /* kids: condition, value if it holds, value otherwise */
	EXPR_IN,
	EXPR_NOT_IN, /* kids: the needle, then the list */
	EXPR_CHAIN   /* kids: n operands, then n-1 comparison operators (not nodes) */
};

struct expr_node {
	enum expr_op op;
	uint32_t kids, count; /* in tree->kids; a chain counts its operands only */
	uint32_t name;        /* EXPR_NAME */
	struct value value;   /* EXPR_LITERAL */
};

struct expr_tree {
	struct expr_node *nodes; /* kids come before their parents */
	uint32_t *kids;
	uint32_t count, room, kid_count, kid_room;
};

void expr_tree_clear(struct expr_tree *tree);
uint32_t expr_tree_literal(struct expr_tree *tree, struct value value);
uint32_t expr_tree_name(struct expr_tree *tree, uint32_t name);
/* kid_total equals count except for a chain, whose operators follow its operands. */
uint32_t expr_tree_add(struct expr_tree *tree, enum expr_op op, const uint32_t *kids, uint32_t count,
                       uint32_t kid_total);
static inline uint32_t expr_tree_kid(const struct expr_tree *tree, uint32_t node, uint32_t i) {
	return tree->kids[tree->nodes[node].kids + i];
}

struct expr {
	struct arena *arena;
	const char *source;
	struct expr_tree tree;
	uint32_t root;
	const char **names;
	size_t name_count, name_room;
	struct expr_code *code;
};

struct expr_code;
/* slots[node] >= 0 reads the node from that slot; every name must have one. NULL if the stack would have to be too
 * deep. */
struct expr_code *expr_code_new(const struct expr_tree *tree, uint32_t root, const int32_t *slots);
void expr_code_free(struct expr_code *code);
struct value expr_code_run(const struct expr_code *code, const struct value *slots);

struct value expr_unary(enum expr_op op, struct value a);
struct value expr_binary(enum expr_op op, struct value a, struct value b);
bool expr_true(struct value value); /* false for a failed value */

/* Shared by the files of the parser. */

#define PARSE_FAILED UINT32_MAX

struct parser {
	struct expr *expr;
	const char *at;
	int nest;
	struct err *err;
};

/* A list of kids that grows while it is parsed. */
struct kids {
	uint32_t *at;
	uint32_t count, room;
};

/* All return a node, or PARSE_FAILED with the error set. */
uint32_t parser_fail(struct parser *p, const char *what);
uint32_t parser_choice(struct parser *p); /* a whole expression */

void parser_skip_space(struct parser *p);
#endif
