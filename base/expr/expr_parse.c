/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser: recursive descent over the text, one function a level of precedence, as in the Python language reference.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "base/expr/node.h"

static bool parser_is_word(char c) {
	return isalnum((unsigned char)c) || c == '_';
}

static bool parser_take(struct parser *p, const char *sign) {
	parser_skip_space(p);
	size_t size = strlen(sign);
	if (strncmp(p->at, sign, size) != 0)
		return false;
	p->at += size;
	return true;
}

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

static bool parser_take_word(struct parser *p, const char *word) {
	parser_skip_space(p);
	size_t size = strlen(word);
	if (strncmp(p->at, word, size) != 0 || parser_is_word(p->at[size]))
		return false;
	p->at += size;
	return true;
}

static uint32_t parser_two(struct parser *p, enum expr_op op, uint32_t a, uint32_t b) {
	uint32_t kids[2] = {a, b};
	return b == PARSE_FAILED ? PARSE_FAILED : expr_tree_add(&p->expr->tree, op, kids, 2, 2);
}

static uint32_t parser_one(struct parser *p, enum expr_op op, uint32_t a) {
	return a == PARSE_FAILED ? PARSE_FAILED : expr_tree_add(&p->expr->tree, op, &a, 1, 1);
}

static void parser_push(struct kids *kids, uint32_t kid) {
	if (kids->count == kids->room) {
		kids->room = kids->room ? kids->room * 2 : 8;
		kids->at = mem_grow(kids->at, kids->room, sizeof *kids->at);
	}
	kids->at[kids->count++] = kid;
}

/* Operands up to `close`, which is consumed. A trailing comma is allowed. */
static bool parser_list(struct parser *p, struct kids *kids, const char *close) {
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

static uint32_t parser_atom(struct parser *p) {
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
	while (node != PARSE_FAILED)
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
	return node;
}

static uint32_t parse_sum(struct parser *p) {
	uint32_t node = parse_term(p);
	while (node != PARSE_FAILED)
		if (parser_take(p, "+"))
			node = parser_two(p, EXPR_ADD, node, parse_term(p));
		else if (parser_take(p, "-"))
			node = parser_two(p, EXPR_SUB, node, parse_term(p));
		else
			break;
	return node;
}

static uint32_t parse_shift(struct parser *p) {
	uint32_t node = parse_sum(p);
	while (node != PARSE_FAILED)
		if (parser_take(p, "<<"))
			node = parser_two(p, EXPR_LEFT, node, parse_sum(p));
		else if (parser_take(p, ">>"))
			node = parser_two(p, EXPR_RIGHT, node, parse_sum(p));
		else
			break;
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

static bool parser_members(struct parser *p, struct kids *kids);

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

enum { RANGE_MAX = 10000 };

static bool has_names(const struct expr_tree *tree, uint32_t node) {
	const struct expr_node *n = &tree->nodes[node];
	bool any = n->op == EXPR_NAME;
	for (uint32_t i = 0; i < n->count && !any; i++)
		any = has_names(tree, expr_tree_kid(tree, node, i));
	return any;
}

/* True if the whole numbers are constants. */
static bool constant_whole(const struct expr_tree *tree, uint32_t node, int64_t *out) {
	if (has_names(tree, node))
		return false;
	mem_auto int32_t *slots = mem_alloc(tree->count, sizeof *slots);
	memset(slots, -1, tree->count * sizeof *slots);
	struct expr_code *code = expr_code_new(tree, node, slots);
	struct value value = code ? expr_code_run(code, NULL) : (struct value){.type = EXPR_FAILED};
	expr_code_free(code);
	*out = value.as.i;
	return value.type == VALUE_INT;
}

/* The members of range(last), range(first, last) or range(first, last, step) with constant arguments. */
static bool parse_range(struct parser *p, struct kids *kids) {
	struct kids ends = {0};
	int64_t at[3] = {0, 0, 1};
	bool good = parser_list(p, &ends, ")");
	if (good && (ends.count < 1 || ends.count > 3))
		good = parser_fail(p, "wrong number of arguments") != PARSE_FAILED;
	for (uint32_t i = 0; good && i < ends.count; i++)
		if (!constant_whole(&p->expr->tree, ends.at[i], &at[ends.count == 1 ? 1 : i]))
			good = parser_fail(p, "the arguments of range() must be whole numbers") != PARSE_FAILED;
	free(ends.at);
	if (good && at[2] == 0)
		good = parser_fail(p, "the step of range() must not be 0") != PARSE_FAILED;
	for (int64_t i = at[0]; good && (at[2] > 0 ? i < at[1] : i > at[1]);) {
		parser_push(kids, expr_tree_literal(&p->expr->tree, value_int(i)));
		if (kids->count > RANGE_MAX)
			good = parser_fail(p, "a range() is too long") != PARSE_FAILED;
		if (__builtin_add_overflow(i, at[2], &i))
			break;
	}
	return good;
}

/* The members after `in`. */
static bool parser_members(struct parser *p, struct kids *kids) {
	const char *start = p->at;
	if (parser_take_word(p, "range") && parser_take(p, "("))
		return parse_range(p, kids);
	p->at = start;
	if (parser_take(p, "["))
		return parser_list(p, kids, "]");
	if (parser_take(p, "("))
		return parser_list(p, kids, ")");
	if (parser_take(p, "{"))
		return parser_list(p, kids, "}");
	return parser_fail(p, "expected a list in brackets") != PARSE_FAILED;
}
