/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>

#include "base/expr/expr.h"
#include "base/expr/node.h"

static void *room_for(void *array, uint32_t needed, uint32_t *room, size_t size) {
	if (needed <= *room)
		return array;
	*room = *room * 2 > needed ? *room * 2 : needed + 16;
	return mem_grow(array, *room, size);
}

void expr_tree_clear(struct expr_tree *tree) {
	free(tree->nodes);
	free(tree->kids);
	*tree = (struct expr_tree){0};
}

static uint32_t tree_push(struct expr_tree *tree, struct expr_node node) {
	tree->nodes = room_for(tree->nodes, tree->count + 1, &tree->room, sizeof *tree->nodes);
	tree->nodes[tree->count] = node;
	return tree->count++;
}

uint32_t expr_tree_literal(struct expr_tree *tree, struct value value) {
	return tree_push(tree, (struct expr_node){.op = EXPR_LITERAL, .value = value});
}

uint32_t expr_tree_name(struct expr_tree *tree, uint32_t name) {
	return tree_push(tree, (struct expr_node){.op = EXPR_NAME, .name = name});
}

uint32_t expr_tree_add(struct expr_tree *tree, enum expr_op op, const uint32_t *kids, uint32_t count,
                       uint32_t kid_total) {
	tree->kids = room_for(tree->kids, tree->kid_count + kid_total, &tree->kid_room, sizeof *tree->kids);
	memcpy(tree->kids + tree->kid_count, kids, kid_total * sizeof *kids);
	tree->kid_count += kid_total;
	return tree_push(tree, (struct expr_node){.op = op, .kids = tree->kid_count - kid_total, .count = count});
}

/* Compiles the whole expression; each name is read from the slot of its number. */
static struct expr_code *compile(const struct expr *expr) {
	mem_auto int32_t *slots = mem_alloc(expr->tree.count, sizeof *slots);
	for (uint32_t i = 0; i < expr->tree.count; i++)
		slots[i] = expr->tree.nodes[i].op == EXPR_NAME ? (int32_t)expr->tree.nodes[i].name : -1;
	return expr_code_new(&expr->tree, expr->root, slots);
}

static int expr_parse_text(struct expr *expr, struct err *err);

struct expr *expr_parse(const char *text, struct err *err) {
	if (strlen(text) > EXPR_TEXT_MAX) {
		err_set(err, ERR_USAGE, NULL, "an expression is longer than %d characters: '%.60s...'", EXPR_TEXT_MAX, text);
		return NULL;
	}
	struct expr *expr = mem_alloc(1, sizeof *expr);
	expr->arena = arena_new();
	expr->source = arena_strdup(expr->arena, text);
	if (expr_parse_text(expr, err) != 0)
		goto fail;
	expr->code = compile(expr);
	if (!expr->code) {
		err_set(err, ERR_USAGE, NULL, "an expression is nested too deeply: '%.300s'", text);
		goto fail;
	}
	return expr;
fail:
	expr_free(expr);
	return NULL;
}

void expr_free(struct expr *expr) {
	if (!expr)
		return;
	expr_code_free(expr->code);
	expr_tree_clear(&expr->tree);
	free(expr->names);
	arena_free(expr->arena);
	free(expr);
}

const char *expr_source(const struct expr *expr) {
	return expr->source;
}

size_t expr_name_count(const struct expr *expr) {
	return expr->name_count;
}

const char *expr_name(const struct expr *expr, size_t i) {
	return expr->names[i];
}

bool expr_eval(const struct expr *expr, const struct value *values, struct value *out) {
	*out = expr_code_run(expr->code, values);
	return out->type != EXPR_FAILED;
}

bool expr_holds(const struct expr *expr, const struct value *values) {
	return expr_true(expr_code_run(expr->code, values));
}

/* Parses the list of members behind `in`. */
/* Recursive descent over the text, one function a level of precedence, as in the Python language reference. */
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

static void parser_push(struct kids *kids, uint32_t kid) {
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

/* Fills tree, root and names from the source. */
static int expr_parse_text(struct expr *expr, struct err *err) {
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
