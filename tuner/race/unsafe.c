/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/race/unsafe.h"

#include "base/expr/expr.h"
#include "base/json/js.h"
#include "base/text.h"

size_t unsafe_split(const char *text, struct arena *arena, const char ***expressions) {
	char *list = arena_strdup(arena, text ? text : ""), *rest = NULL;
	size_t count = 0;
	*expressions = arena_alloc(arena, strlen(list) + 1, sizeof **expressions);
	for (char *one = strtok_r(list, ";", &rest); one; one = strtok_r(NULL, ";", &rest))
		(*expressions)[count++] = one;
	return count;
}

struct unsafe {
	struct expr **exprs;
	size_t count;
};

struct unsafe *unsafe_new(const char *text, struct err *err) {
	struct arena *arena = arena_new();
	struct unsafe *unsafe = mem_alloc(1, sizeof *unsafe);
	const char **expressions;
	size_t count = unsafe_split(text, arena, &expressions);
	unsafe->exprs = mem_alloc(count + 1, sizeof(struct expr *));
	for (size_t i = 0; i < count; i++) {
		struct expr *expr = expr_parse(expressions[i], err);
		if (!expr) {
			unsafe_free(unsafe);
			unsafe = NULL;
			break;
		}
		unsafe->exprs[unsafe->count++] = expr;
	}
	arena_free(arena);
	return unsafe;
}

void unsafe_free(struct unsafe *unsafe) {
	for (size_t i = 0; unsafe && i < unsafe->count; i++)
		expr_free(unsafe->exprs[i]);
	if (unsafe)
		free(unsafe->exprs);
	free(unsafe);
}

static bool one_holds(const struct expr *expr, const json_t *problem, const json_t *config) {
	size_t count = expr_name_count(expr), known = 0;
	struct value *values = mem_alloc(count + 1, sizeof *values);
	for (; known < count; known++) {
		const json_t *value = json_object_get(config, expr_name(expr, known));
		if (!value)
			value = json_object_get(problem, expr_name(expr, known));
		if (!value || !value_from_json(value, &values[known]))
			break;
	}
	bool holds = known == count && expr_holds(expr, values);
	free(values);
	return holds;
}

bool unsafe_is(const struct unsafe *unsafe, const json_t *problem, const json_t *config) {
	for (size_t i = 0; i < unsafe->count; i++)
		if (one_holds(unsafe->exprs[i], problem, config))
			return true;
	return false;
}

int unsafe_holds(const char *text, const json_t *problem, const json_t *config, bool *out, struct err *err) {
	struct unsafe *unsafe = unsafe_new(text, err);
	*out = unsafe && unsafe_is(unsafe, problem, config);
	unsafe_free(unsafe);
	return unsafe ? 0 : -1;
}

/* Options of compilers that change what a program computes (the manuals of GCC, Clang, nvcc and ICX). */
static bool is_fast_math(const char *text) {
	static const char *const options[] = {"-ffast-math",        "-Ofast",
	                                      "-funsafe-math",      "-ffinite-math-only",
	                                      "-fassociative-math", "-freciprocal-math",
	                                      "-fno-signed-zeros",  "-fp-model=fast",
	                                      "use_fast_math",      "-fno-trapping-math"};
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (strstr(text, options[i]))
			return true;
	return false;
}

static bool is_unguarded(const char *text) {
	static const char *const words[] = {"nosync", "unsafe", "racy", "no_lock", "nolock", "no-lock", "unsynchronized"};
	return text_is_one_of(text, words);
}

bool unsafe_is_unguarded(const json_t *config) {
	js_members (name, value, config)
		if (json_is_string(value) && is_unguarded(json_string_value(value)))
			return true;
	return false;
}

const char *unsafe_word(const char *param, const json_t *value, const json_t *today) {
	const char *text = json_string_value(value);
	bool counts = strcmp(param, "threads") == 0 || strcmp(param, "OMP_NUM_THREADS") == 0;
	if (text && is_fast_math(text))
		return "unsafe for results: rounding, NaN and infinity no longer follow IEEE 754";
	if (text && is_unguarded(text))
		return "unsafe: it leaves out what protects shared data";
	if (counts && json_is_number(value) && json_is_number(today) && json_number_value(value) < json_number_value(today))
		return "fewer threads: on a busy machine that may be the only reason";
	return NULL;
}
