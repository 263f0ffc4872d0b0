/* SPDX-License-Identifier: BSD-3-Clause */
/* Recursive descent over the text, one function a level of precedence, as in the Python language reference. */
#include <config.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/expr/parser.h"

void parser_skip_space(struct parser *p) {
	while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')
		p->at++;
}

uint32_t parser_fail(struct parser *p, const char *what) {
	int column = (int)(p->at - p->expr->source) + 1;
	const char *source = p->expr->source;
	err_set(p->err, ERR_USAGE, "write expressions as in Python: and or not, == != < <= > >= in, + - * / // % **",
	        "%s at column %d of '%.*s'", what, column, 300, source);
	return PARSE_FAILED;
}

bool parser_is_word(char c) {
	return isalnum((unsigned char)c) || c == '_';
}

bool parser_take(struct parser *p, const char *sign) {
	parser_skip_space(p);
	size_t size = strlen(sign);
	if (strncmp(p->at, sign, size) != 0)
		return false;
	p->at += size;
	return true;
}

bool parser_take_word(struct parser *p, const char *word) {
	parser_skip_space(p);
	size_t size = strlen(word);
	if (strncmp(p->at, word, size) != 0 || parser_is_word(p->at[size]))
		return false;
	p->at += size;
	return true;
}

uint32_t parser_two(struct parser *p, enum expr_op op, uint32_t a, uint32_t b) {
	uint32_t kids[2] = {a, b};
	return b == PARSE_FAILED ? PARSE_FAILED : expr_tree_add(&p->expr->tree, op, kids, 2, 2);
}

uint32_t parser_one(struct parser *p, enum expr_op op, uint32_t a) {
	return a == PARSE_FAILED ? PARSE_FAILED : expr_tree_add(&p->expr->tree, op, &a, 1, 1);
}

void parser_push(struct kids *kids, uint32_t kid) {
	if (kids->count == kids->room) {
		kids->room = kids->room ? kids->room * 2 : 8;
		kids->at = mem_grow(kids->at, kids->room, sizeof *kids->at);
	}
	kids->at[kids->count++] = kid;
}

bool parser_list(struct parser *p, struct kids *kids, const char *close) {
	while (!parser_take(p, close)) {
		uint32_t kid = parser_choice(p);
		if (kid == PARSE_FAILED)
			return false;
		parser_push(kids, kid);
		if (parser_take(p, ","))
			continue;
		if (parser_take(p, close))
			return true;
		parser_fail(p, close[0] == ']' ? "expected , or ]" : close[0] == '}' ? "expected , or }" : "expected , or )");
		return false;
	}
	return true;
}

/* -a ** b is -(a ** b), and a ** -b is allowed, as in Python. */
static uint32_t parse_factor(struct parser *p) {
	if (p->nest >= EXPR_NEST_MAX)
		return parser_fail(p, "nested too deeply");
	p->nest++;
	uint32_t node;
	if (parser_take(p, "-")) {
		node = parser_one(p, EXPR_NEG, parse_factor(p));
	} else if (parser_take(p, "+")) {
		node = parser_one(p, EXPR_POS, parse_factor(p));
	} else if (parser_take(p, "~")) {
		node = parser_one(p, EXPR_INVERT, parse_factor(p));
	} else {
		node = parser_atom(p);
		if (node != PARSE_FAILED && parser_take(p, "**"))
			node = parser_two(p, EXPR_POW, node, parse_factor(p));
	}
	p->nest--;
	return node;
}

static uint32_t parse_term(struct parser *p) {
	uint32_t node = parse_factor(p);
	while (node != PARSE_FAILED) {
		if (parser_take(p, "//"))
			node = parser_two(p, EXPR_FLOOR, node, parse_factor(p));
		else if (parser_take(p, "/"))
			node = parser_two(p, EXPR_DIV, node, parse_factor(p));
		else if (parser_take(p, "%"))
			node = parser_two(p, EXPR_MOD, node, parse_factor(p));
		else if (parser_take(p, "*"))
			node = parser_two(p, EXPR_MUL, node, parse_factor(p));
		else
			break;
	}
	return node;
}

static uint32_t parse_sum(struct parser *p) {
	uint32_t node = parse_term(p);
	while (node != PARSE_FAILED) {
		if (parser_take(p, "+"))
			node = parser_two(p, EXPR_ADD, node, parse_term(p));
		else if (parser_take(p, "-"))
			node = parser_two(p, EXPR_SUB, node, parse_term(p));
		else
			break;
	}
	return node;
}

static uint32_t parse_shift(struct parser *p) {
	uint32_t node = parse_sum(p);
	while (node != PARSE_FAILED) {
		if (parser_take(p, "<<"))
			node = parser_two(p, EXPR_LEFT, node, parse_sum(p));
		else if (parser_take(p, ">>"))
			node = parser_two(p, EXPR_RIGHT, node, parse_sum(p));
		else
			break;
	}
	return node;
}

static uint32_t parse_bit_and(struct parser *p) {
	uint32_t node = parse_shift(p);
	while (node != PARSE_FAILED && parser_take(p, "&"))
		node = parser_two(p, EXPR_BIT_AND, node, parse_shift(p));
	return node;
}

static uint32_t parse_bit_xor(struct parser *p) {
	uint32_t node = parse_bit_and(p);
	while (node != PARSE_FAILED && parser_take(p, "^"))
		node = parser_two(p, EXPR_BIT_XOR, node, parse_bit_and(p));
	return node;
}

static uint32_t parse_bit_or(struct parser *p) {
	uint32_t node = parse_bit_xor(p);
	while (node != PARSE_FAILED && parser_take(p, "|"))
		node = parser_two(p, EXPR_BIT_OR, node, parse_bit_xor(p));
	return node;
}

static bool take_comparison(struct parser *p, enum expr_op *op) {
	static const struct {
		const char *sign;
		enum expr_op op;
	} signs[] = {{"<=", EXPR_LE}, {">=", EXPR_GE}, {"==", EXPR_EQ}, {"!=", EXPR_NE}, {"<", EXPR_LT}, {">", EXPR_GT}};
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (parser_take(p, signs[i].sign)) {
			*op = signs[i].op;
			return true;
		}
	return false;
}

static bool take_in(struct parser *p, enum expr_op *op) {
	const char *start = p->at;
	*op = EXPR_IN;
	if (parser_take_word(p, "in"))
		return true;
	*op = EXPR_NOT_IN;
	if (parser_take_word(p, "not") && parser_take_word(p, "in"))
		return true;
	p->at = start;
	return false;
}

static uint32_t parse_in(struct parser *p, enum expr_op op, uint32_t what) {
	struct kids kids = {0};
	uint32_t node = PARSE_FAILED;
	parser_push(&kids, what);
	if (parser_members(p, &kids))
		node = expr_tree_add(&p->expr->tree, op, kids.at, kids.count, kids.count);
	free(kids.at);
	return node;
}

static uint32_t parse_chain(struct parser *p, uint32_t first) {
	struct kids operands = {0}, signs = {0};
	enum expr_op op;
	uint32_t node = first;
	parser_push(&operands, first);
	while (node != PARSE_FAILED && take_comparison(p, &op)) {
		parser_push(&signs, op);
		parser_push(&operands, node = parse_bit_or(p));
	}
	uint32_t count = operands.count;
	if (node != PARSE_FAILED && count == 2) {
		node = parser_two(p, (enum expr_op)signs.at[0], operands.at[0], operands.at[1]);
	} else if (node != PARSE_FAILED && count > 2) {
		for (uint32_t i = 0; i < signs.count; i++)
			parser_push(&operands, signs.at[i]);
		node = expr_tree_add(&p->expr->tree, EXPR_CHAIN, operands.at, count, operands.count);
	}
	free(operands.at);
	free(signs.at);
	return node;
}

static uint32_t parse_comparison(struct parser *p) {
	enum expr_op op;
	uint32_t node = parse_bit_or(p);
	if (node == PARSE_FAILED)
		return PARSE_FAILED;
	bool in = take_in(p, &op);
	node = in ? parse_in(p, op, node) : parse_chain(p, node);
	if (node != PARSE_FAILED && (take_comparison(p, &op) || take_in(p, &op)))
		return parser_fail(p, "'in' cannot be chained, use parentheses");
	return node;
}

static uint32_t parse_not(struct parser *p) {
	if (!parser_take_word(p, "not"))
		return parse_comparison(p);
	if (p->nest >= EXPR_NEST_MAX)
		return parser_fail(p, "nested too deeply");
	p->nest++;
	uint32_t node = parser_one(p, EXPR_NOT, parse_not(p));
	p->nest--;
	return node;
}

static uint32_t parse_and(struct parser *p) {
	uint32_t node = parse_not(p);
	while (node != PARSE_FAILED && parser_take_word(p, "and"))
		node = parser_two(p, EXPR_AND, node, parse_not(p));
	return node;
}

static uint32_t parse_or(struct parser *p) {
	uint32_t node = parse_and(p);
	while (node != PARSE_FAILED && parser_take_word(p, "or"))
		node = parser_two(p, EXPR_OR, node, parse_and(p));
	return node;
}

/* value if condition else other value */
uint32_t parser_choice(struct parser *p) {
	uint32_t kids[3];
	kids[1] = parse_or(p);
	if (kids[1] == PARSE_FAILED || !parser_take_word(p, "if"))
		return kids[1];
	if (p->nest >= EXPR_NEST_MAX)
		return parser_fail(p, "nested too deeply");
	p->nest++;
	kids[0] = parse_or(p);
	if (kids[0] != PARSE_FAILED && !parser_take_word(p, "else"))
		kids[0] = parser_fail(p, "'else' is missing");
	kids[2] = kids[0] == PARSE_FAILED ? PARSE_FAILED : parser_choice(p);
	p->nest--;
	return kids[2] == PARSE_FAILED ? PARSE_FAILED : expr_tree_add(&p->expr->tree, EXPR_IF, kids, 3, 3);
}

int expr_parse_text(struct expr *expr, struct err *err) {
	struct parser p = {.expr = expr, .at = expr->source, .err = err};
	expr->root = parser_choice(&p);
	if (expr->root == PARSE_FAILED)
		return -1;
	parser_skip_space(&p);
	if (*p.at == 0)
		return 0;
	parser_fail(&p, *p.at == '=' ? "use == to compare" : "expected an operator");
	return -1;
}
