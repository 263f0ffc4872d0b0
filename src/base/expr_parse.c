/* SPDX-License-Identifier: BSD-3-Clause */
/* Recursive descent over the text, one function a level of precedence, as in the Python language reference. */
#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/expr_node.h"

#define NONE UINT32_MAX

struct parser {
	struct expr *expr;
	const char *at;
	int nest;
	struct err *err;
};

static uint32_t parse_or(struct parser *p);

static void skip_space(struct parser *p) {
	while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')
		p->at++;
}

static uint32_t fail(struct parser *p, const char *what) {
	int column = (int)(p->at - p->expr->source) + 1;
	const char *source = p->expr->source;
	err_set(p->err, ERR_USAGE, "expressions are written as in Python: and or not, == != < <= > >= in, + - * / // % **",
	        "%s at column %d of '%.*s'", what, column, 300, source);
	return NONE;
}

static bool is_word(char c) {
	return isalnum((unsigned char)c) || c == '_';
}

static bool take(struct parser *p, const char *sign) {
	skip_space(p);
	size_t size = strlen(sign);
	if (strncmp(p->at, sign, size) != 0)
		return false;
	p->at += size;
	return true;
}

static bool take_word(struct parser *p, const char *word) {
	skip_space(p);
	size_t size = strlen(word);
	if (strncmp(p->at, word, size) != 0 || is_word(p->at[size]))
		return false;
	p->at += size;
	return true;
}

static uint32_t node_two(struct parser *p, enum expr_op op, uint32_t a, uint32_t b) {
	uint32_t kids[2] = {a, b};
	return b == NONE ? NONE : expr_tree_add(&p->expr->tree, op, kids, 2, 2);
}

static uint32_t node_one(struct parser *p, enum expr_op op, uint32_t a) {
	return a == NONE ? NONE : expr_tree_add(&p->expr->tree, op, &a, 1, 1);
}

/* A list of kids that grows while it is parsed. */
struct kids {
	uint32_t *at;
	uint32_t count, room;
};

static void kids_push(struct kids *kids, uint32_t kid) {
	if (kids->count == kids->room) {
		kids->room = kids->room ? kids->room * 2 : 8;
		kids->at = mem_grow(kids->at, kids->room, sizeof *kids->at);
	}
	kids->at[kids->count++] = kid;
}

/* Operands up to `close`, which is taken. A comma may end the list. */
static bool parse_list(struct parser *p, struct kids *kids, const char *close) {
	while (!take(p, close)) {
		uint32_t kid = parse_or(p);
		if (kid == NONE)
			return false;
		kids_push(kids, kid);
		if (take(p, ","))
			continue;
		if (take(p, close))
			return true;
		fail(p, close[0] == ']' ? "expected , or ]" : "expected , or )");
		return false;
	}
	return true;
}

static uint32_t parse_number(struct parser *p) {
	char *end, *real_end;
	errno = 0;
	long long whole = strtoll(p->at, &end, 10);
	bool overflow = errno == ERANGE;
	/* strtod also reads what Python does not: hexadecimal floats, inf, nan. Those begin otherwise. */
	if (p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X'))
		return fail(p, "numbers are decimal");
	double real = strtod(p->at, &real_end);
	if (is_word(*real_end) || *real_end == '.')
		return fail(p, "bad number");
	if (!isfinite(real))
		return fail(p, "number out of range");
	bool is_whole = end == real_end && !overflow;
	p->at = real_end;
	return expr_tree_literal(&p->expr->tree, is_whole ? value_int(whole) : value_real(real));
}

static uint32_t parse_quoted(struct parser *p) {
	char quote = *p->at;
	const char *end = strchr(p->at + 1, quote);
	if (!end)
		return fail(p, "a quote is not closed");
	if (memchr(p->at, '\\', (size_t)(end - p->at)))
		return fail(p, "words may not hold backslashes");
	const char *word = arena_printf(p->expr->arena, "%.*s", (int)(end - p->at - 1), p->at + 1);
	p->at = end + 1;
	return expr_tree_literal(&p->expr->tree, value_word(word));
}

static uint32_t parse_call(struct parser *p, enum expr_op op) {
	struct kids kids = {0};
	uint32_t node = NONE;
	if (!parse_list(p, &kids, ")"))
		goto done;
	if (kids.count == 0 || (op == EXPR_ABS && kids.count != 1)) {
		fail(p, "wrong number of arguments");
		goto done;
	}
	node = kids.at[0];
	if (op == EXPR_ABS)
		node = node_one(p, op, node);
	for (uint32_t i = 1; i < kids.count; i++)
		node = node_two(p, op, node, kids.at[i]);
done:
	free(kids.at);
	return node;
}

static uint32_t name_number(struct expr *expr, const char *name, size_t size) {
	for (size_t i = 0; i < expr->name_count; i++)
		if (strncmp(expr->names[i], name, size) == 0 && expr->names[i][size] == 0)
			return (uint32_t)i;
	if (expr->name_count == expr->name_room) {
		expr->name_room = expr->name_room ? expr->name_room * 2 : 8;
		expr->names = mem_grow(expr->names, expr->name_room, sizeof *expr->names);
	}
	expr->names[expr->name_count] = arena_printf(expr->arena, "%.*s", (int)size, name);
	return (uint32_t)expr->name_count++;
}

static bool is_keyword(const char *name, size_t size) {
	static const char *const words[] = {"and", "or", "not", "in", "is", "if", "else", "lambda", "for", "None"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strlen(words[i]) == size && strncmp(words[i], name, size) == 0)
			return true;
	return false;
}

static uint32_t parse_name(struct parser *p) {
	struct expr_tree *tree = &p->expr->tree;
	static const struct {
		const char *name;
		enum expr_op op;
	} calls[] = {{"min", EXPR_MIN}, {"max", EXPR_MAX}, {"abs", EXPR_ABS}};
	const char *start = p->at;
	size_t size = 0;
	while (is_word(start[size]))
		size++;
	if (is_keyword(start, size))
		return fail(p, "expected a value");
	if (take_word(p, "True"))
		return expr_tree_literal(tree, value_int(1));
	if (take_word(p, "False"))
		return expr_tree_literal(tree, value_int(0));
	p->at += size;
	if (!take(p, "("))
		return expr_tree_name(tree, name_number(p->expr, start, size));
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (strlen(calls[i].name) == size && strncmp(calls[i].name, start, size) == 0)
			return parse_call(p, calls[i].op);
	p->at = start;
	return fail(p, "unknown function (there are min, max and abs)");
}

static uint32_t parse_atom(struct parser *p) {
	skip_space(p);
	char c = *p->at;
	if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)p->at[1])))
		return parse_number(p);
	if (c == '\'' || c == '"')
		return parse_quoted(p);
	if (isalpha((unsigned char)c) || c == '_')
		return parse_name(p);
	if (!take(p, "("))
		return fail(p, c == 0 ? "it ends where a value is expected" : "expected a value");
	uint32_t node = parse_or(p);
	if (node != NONE && !take(p, ")"))
		return fail(p, "expected )");
	return node;
}

/* -a ** b is -(a ** b), and a ** -b is fine: as in Python. */
static uint32_t parse_factor(struct parser *p) {
	if (p->nest >= EXPR_NEST_MAX)
		return fail(p, "nested too deeply");
	p->nest++;
	uint32_t node;
	if (take(p, "-")) {
		node = node_one(p, EXPR_NEG, parse_factor(p));
	} else if (take(p, "+")) {
		node = node_one(p, EXPR_POS, parse_factor(p));
	} else {
		node = parse_atom(p);
		if (node != NONE && take(p, "**"))
			node = node_two(p, EXPR_POW, node, parse_factor(p));
	}
	p->nest--;
	return node;
}

static uint32_t parse_term(struct parser *p) {
	uint32_t node = parse_factor(p);
	while (node != NONE) {
		if (take(p, "//"))
			node = node_two(p, EXPR_FLOOR, node, parse_factor(p));
		else if (take(p, "/"))
			node = node_two(p, EXPR_DIV, node, parse_factor(p));
		else if (take(p, "%"))
			node = node_two(p, EXPR_MOD, node, parse_factor(p));
		else if (take(p, "*"))
			node = node_two(p, EXPR_MUL, node, parse_factor(p));
		else
			break;
	}
	return node;
}

static uint32_t parse_sum(struct parser *p) {
	uint32_t node = parse_term(p);
	while (node != NONE) {
		if (take(p, "+"))
			node = node_two(p, EXPR_ADD, node, parse_term(p));
		else if (take(p, "-"))
			node = node_two(p, EXPR_SUB, node, parse_term(p));
		else
			break;
	}
	return node;
}

static bool take_comparison(struct parser *p, enum expr_op *op) {
	static const struct {
		const char *sign;
		enum expr_op op;
	} signs[] = {{"<=", EXPR_LE}, {">=", EXPR_GE}, {"==", EXPR_EQ}, {"!=", EXPR_NE}, {"<", EXPR_LT}, {">", EXPR_GT}};
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (take(p, signs[i].sign)) {
			*op = signs[i].op;
			return true;
		}
	return false;
}

static bool take_in(struct parser *p, enum expr_op *op) {
	const char *start = p->at;
	*op = EXPR_IN;
	if (take_word(p, "in"))
		return true;
	*op = EXPR_NOT_IN;
	if (take_word(p, "not") && take_word(p, "in"))
		return true;
	p->at = start;
	return false;
}

static uint32_t parse_in(struct parser *p, enum expr_op op, uint32_t what) {
	struct kids kids = {0};
	uint32_t node = NONE;
	kids_push(&kids, what);
	bool square = take(p, "[");
	if (!square && !take(p, "("))
		fail(p, "expected a list in brackets");
	else if (parse_list(p, &kids, square ? "]" : ")"))
		node = expr_tree_add(&p->expr->tree, op, kids.at, kids.count, kids.count);
	free(kids.at);
	return node;
}

static uint32_t parse_chain(struct parser *p, uint32_t first) {
	struct kids operands = {0}, signs = {0};
	enum expr_op op;
	uint32_t node = first;
	kids_push(&operands, first);
	while (node != NONE && take_comparison(p, &op)) {
		kids_push(&signs, op);
		kids_push(&operands, node = parse_sum(p));
	}
	uint32_t count = operands.count;
	if (node != NONE && count == 2) {
		node = node_two(p, (enum expr_op)signs.at[0], operands.at[0], operands.at[1]);
	} else if (node != NONE && count > 2) {
		for (uint32_t i = 0; i < signs.count; i++)
			kids_push(&operands, signs.at[i]);
		node = expr_tree_add(&p->expr->tree, EXPR_CHAIN, operands.at, count, operands.count);
	}
	free(operands.at);
	free(signs.at);
	return node;
}

static uint32_t parse_comparison(struct parser *p) {
	enum expr_op op;
	uint32_t node = parse_sum(p);
	if (node == NONE)
		return NONE;
	bool in = take_in(p, &op);
	node = in ? parse_in(p, op, node) : parse_chain(p, node);
	if (node != NONE && (take_comparison(p, &op) || take_in(p, &op)))
		return fail(p, "'in' can't be chained, use parentheses");
	return node;
}

static uint32_t parse_not(struct parser *p) {
	if (!take_word(p, "not"))
		return parse_comparison(p);
	if (p->nest >= EXPR_NEST_MAX)
		return fail(p, "nested too deeply");
	p->nest++;
	uint32_t node = node_one(p, EXPR_NOT, parse_not(p));
	p->nest--;
	return node;
}

static uint32_t parse_and(struct parser *p) {
	uint32_t node = parse_not(p);
	while (node != NONE && take_word(p, "and"))
		node = node_two(p, EXPR_AND, node, parse_not(p));
	return node;
}

static uint32_t parse_or(struct parser *p) {
	uint32_t node = parse_and(p);
	while (node != NONE && take_word(p, "or"))
		node = node_two(p, EXPR_OR, node, parse_and(p));
	return node;
}

int expr_parse_text(struct expr *expr, struct err *err) {
	struct parser p = {.expr = expr, .at = expr->source, .err = err};
	expr->root = parse_or(&p);
	if (expr->root == NONE)
		return -1;
	skip_space(&p);
	if (*p.at == 0)
		return 0;
	fail(&p, *p.at == '=' ? "use == to compare" : "expected an operator");
	return -1;
}
