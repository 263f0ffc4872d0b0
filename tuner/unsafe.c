/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/unsafe.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/value.h"
#include "src/base/expr.h"

size_t unsafe_split(const char *text, struct arena *arena, const char ***expressions) {
	char *list = arena_strdup(arena, text ? text : ""), *rest = NULL;
	size_t count = 0;
	*expressions = arena_alloc(arena, strlen(list) + 1, sizeof **expressions);
	for (char *one = strtok_r(list, ";", &rest); one; one = strtok_r(NULL, ";", &rest))
		(*expressions)[count++] = one;
	return count;
}

static int one_holds(const char *text, const json_t *problem, const json_t *config, bool *out, struct err *err) {
	struct expr *expr = expr_parse(text, err);
	if (!expr)
		return -1;
	size_t count = expr_name_count(expr), known = 0;
	struct value *values = mem_alloc(count + 1, sizeof *values);
	for (; known < count; known++) {
		const json_t *value = json_object_get(config, expr_name(expr, known));
		if (!value)
			value = json_object_get(problem, expr_name(expr, known));
		if (!value || !value_from_json(value, &values[known]))
			break;
	}
	*out |= known == count && expr_holds(expr, values);
	free(values);
	expr_free(expr);
	return 0;
}

int unsafe_holds(const char *text, const json_t *problem, const json_t *config, bool *out, struct err *err) {
	struct arena *arena = arena_new();
	const char **expressions;
	size_t count = unsafe_split(text, arena, &expressions);
	int failed = 0;
	*out = false;
	for (size_t i = 0; i < count && !failed; i++)
		failed = one_holds(expressions[i], problem, config, out, err);
	arena_free(arena);
	return failed;
}
