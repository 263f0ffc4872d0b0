/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers, words, names, calls and parentheses. */
#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "base/expr/node.h"

/* 0x1f, 0o17, 0b11 */
static uint32_t parse_digits(struct parser *p, int base) {
	char *end;
	errno = 0;
	long long whole = strtoll(p->at + 2, &end, base);
	if (end == p->at + 2 || !isalnum((unsigned char)p->at[2]) || parser_is_word(*end) || *end == '.')
		return parser_fail(p, "bad number");
	if (errno == ERANGE)
		return parser_fail(p, "number out of range");
	p->at = end;
	return expr_tree_literal(&p->expr->tree, value_int(whole));
}

static int base_of(const char *text) {
	char sign = text[0] == '0' ? (char)tolower((unsigned char)text[1]) : 0;
	return sign == 'x' ? 16 : sign == 'o' ? 8 : sign == 'b' ? 2 : 10;
}

static uint32_t parse_number(struct parser *p) {
	char *end, *real_end;
	if (base_of(p->at) != 10)
		return parse_digits(p, base_of(p->at));
	errno = 0;
	long long whole = strtoll(p->at, &end, 10);
	bool overflow = errno == ERANGE;
	/* strtod also reads hexadecimal floats, inf and nan, which Python does not; they are told apart by how they
	 * begin. */
	double real = strtod(p->at, &real_end);
	if (parser_is_word(*real_end) || *real_end == '.')
		return parser_fail(p, "bad number");
	if (!isfinite(real))
		return parser_fail(p, "number out of range");
	bool is_whole = end == real_end && !overflow;
	p->at = real_end;
	return expr_tree_literal(&p->expr->tree, is_whole ? value_int(whole) : value_real(real));
}

static uint32_t parse_quoted(struct parser *p) {
	char quote = *p->at;
	const char *end = strchr(p->at + 1, quote);
	if (!end)
		return parser_fail(p, "the closing quote is missing");
	if (memchr(p->at, '\\', (size_t)(end - p->at)))
		return parser_fail(p, "words may not contain backslashes");
	const char *word = arena_printf(p->expr->arena, "%.*s", (int)(end - p->at - 1), p->at + 1);
	p->at = end + 1;
	return expr_tree_literal(&p->expr->tree, value_word(word));
}

enum { LIST_NO, LIST_MAYBE, LIST_ONLY };

/* A function of one argument applies its operator to it; the others apply it from left to right. any() and all()
 * evaluate every member, unlike `or` and `and`: they are the maximum and the minimum of the truth values. */
static const struct call {
	const char *name;
	enum expr_op op;
	uint32_t least, most; /* arguments */
	int list;             /* in [] */
	bool truths;          /* whether an argument stands for its truth value, 0 or 1 */
	int empty;            /* the value of an empty list */
} calls[] = {
	{"min", EXPR_MIN, 1, UINT32_MAX, LIST_MAYBE, false, 0},
	{"max", EXPR_MAX, 1, UINT32_MAX, LIST_MAYBE, false, 0},
	{"abs", EXPR_ABS, 1, 1, LIST_NO, false, 0},
	{"int", EXPR_INT, 1, 1, LIST_NO, false, 0},
	{"float", EXPR_FLOAT, 1, 1, LIST_NO, false, 0},
	{"round", EXPR_ROUND, 1, 1, LIST_NO, false, 0},
	{"pow", EXPR_POW, 2, 2, LIST_NO, false, 0},
	{"sum", EXPR_ADD, 0, UINT32_MAX, LIST_ONLY, false, 0},
	{"any", EXPR_MAX, 0, UINT32_MAX, LIST_ONLY, true, 0},
	{"all", EXPR_MIN, 0, UINT32_MAX, LIST_ONLY, true, 1},
	{"bool", EXPR_MAX, 1, 1, LIST_NO, true, 0}, /* the maximum of a single truth value */
};

static bool refuse(struct parser *p, const char *why) {
	parser_fail(p, why);
	return false;
}

static bool parse_arguments(struct parser *p, const struct call *call, struct kids *kids) {
	bool list = call->list != LIST_NO && parser_take(p, "[");
	if (call->list == LIST_ONLY && !list)
		return refuse(p, "expected a list in []");
	if (!parser_list(p, kids, list ? "]" : ")"))
		return false;
	if (list && !parser_take(p, ")"))
		return refuse(p, "expected )");
	if (kids->count < call->least || kids->count > call->most)
		return refuse(p, "wrong number of arguments");
	return true;
}

static uint32_t argument_node(struct parser *p, const struct call *call, uint32_t node) {
	return call->truths ? parser_one(p, EXPR_NOT, parser_one(p, EXPR_NOT, node)) : node;
}

static uint32_t call_node(struct parser *p, const struct call *call, const struct kids *kids) {
	bool unary = call->most == 1 && !call->truths, starts = call->least > 0;
	if (unary)
		return parser_one(p, call->op, kids->at[0]);
	uint32_t node =
		starts ? argument_node(p, call, kids->at[0]) : expr_tree_literal(&p->expr->tree, value_int(call->empty));
	for (uint32_t i = starts; i < kids->count; i++)
		node = parser_two(p, call->op, node, argument_node(p, call, kids->at[i]));
	return node;
}

static uint32_t parse_call(struct parser *p, const struct call *call) {
	struct kids kids = {0};
	uint32_t node = parse_arguments(p, call, &kids) ? call_node(p, call, &kids) : PARSE_FAILED;
	free(kids.at);
	return node;
}

static uint32_t name_number(struct expr *expr, const char *name, size_t size) {
	for (size_t i = 0; i < expr->name_count; i++)
		if (strncmp(expr->names[i], name, size) == 0 && expr->names[i][size] == 0)
			return (uint32_t)i;
	expr->names = mem_room(expr->names, expr->name_count, &expr->name_room, sizeof *expr->names);
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
	const char *start = p->at;
	size_t size = 0;
	while (parser_is_word(start[size]))
		size++;
	if (is_keyword(start, size))
		return parser_fail(p, "expected a value");
	if (parser_take_word(p, "True"))
		return expr_tree_literal(tree, value_int(1));
	if (parser_take_word(p, "False"))
		return expr_tree_literal(tree, value_int(0));
	p->at += size;
	if (!parser_take(p, "("))
		return expr_tree_name(tree, name_number(p->expr, start, size));
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (strlen(calls[i].name) == size && strncmp(calls[i].name, start, size) == 0)
			return parse_call(p, &calls[i]);
	p->at = start;
	return parser_fail(p, "unknown function (known: min max abs int float round bool pow sum any all)");
}

uint32_t parser_atom(struct parser *p) {
	parser_skip_space(p);
	char c = *p->at;
	if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)p->at[1])))
		return parse_number(p);
	if (c == '\'' || c == '"')
		return parse_quoted(p);
	if (isalpha((unsigned char)c) || c == '_')
		return parse_name(p);
	if (!parser_take(p, "("))
		return parser_fail(p, c == 0 ? "a value is missing at the end" : "expected a value");
	uint32_t node = parser_choice(p);
	if (node != PARSE_FAILED && !parser_take(p, ")"))
		return parser_fail(p, "expected )");
	return node;
}
