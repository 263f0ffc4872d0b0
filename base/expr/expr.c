/* SPDX-License-Identifier: BSD-3-Clause */
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
	if (strlen(text) > EXPR_TEXT_MAX)
		return err_null(err_set(err, ERR_USAGE, NULL, "an expression is longer than %d characters: '%.60s...'",
		                        EXPR_TEXT_MAX, text));
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
