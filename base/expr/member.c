/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the list of members behind `in`. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/expr/parser.h"

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
	int32_t *slots = mem_alloc(tree->count, sizeof *slots);
	memset(slots, -1, tree->count * sizeof *slots);
	struct expr_code *code = expr_code_new(tree, node, slots);
	struct value value = code ? expr_code_run(code, NULL) : (struct value){.type = EXPR_FAILED};
	expr_code_free(code);
	free(slots);
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

bool parser_members(struct parser *p, struct kids *kids) {
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
