/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes are either refused with a message that shows where, or an expression that can be evaluated for values of
 * all types, twice with the same result. `make fuzz` runs this as a target of libFuzzer. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/expr/expr.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
	if (!condition)
		abort();
}

/* Bits, because not a number is not equal to itself. */
static bool is_same(const struct value *a, const struct value *b) {
	if (a->type != b->type)
		return false;
	return a->type == VALUE_WORD ? strcmp(a->as.w, b->as.w) == 0 : a->as.i == b->as.i;
}

static void check_values(const struct expr *expr, struct value *values, size_t count, size_t shift) {
	static const struct value made[] = {{VALUE_INT, {.i = 0}},         {VALUE_INT, {.i = 3}},
	                                    {VALUE_INT, {.i = INT64_MIN}}, {VALUE_INT, {.i = INT64_MAX}},
	                                    {VALUE_REAL, {.r = -0.5}},     {VALUE_REAL, {.r = 1e308}},
	                                    {VALUE_WORD, {.w = "word"}},   {VALUE_WORD, {.w = ""}}};
	struct value one, two;
	for (size_t i = 0; i < count; i++)
		values[i] = made[(i + shift) % (sizeof made / sizeof *made)];
	bool worked = expr_eval(expr, values, &one);
	require(worked == expr_eval(expr, values, &two) && (!worked || is_same(&one, &two)));
	require(worked || !expr_holds(expr, values));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct err err = {0};
	char *text = mem_alloc(size + 1, 1);
	memcpy(text, data, size);
	struct expr *expr = expr_parse(text, &err);
	require(expr || (err.code == ERR_USAGE && *err.what));
	if (expr) {
		size_t count = expr_name_count(expr);
		struct value *values = mem_alloc(count + 1, sizeof *values);
		require(strcmp(expr_source(expr), text) == 0);
		for (size_t shift = 0; shift < 8; shift++)
			check_values(expr, values, count, shift);
		free(values);
	}
	expr_free(expr);
	free(text);
	return 0;
}
