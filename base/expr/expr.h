/* SPDX-License-Identifier: BSD-3-Clause */
/* Expressions over parameters, in the Python style of the T1 format: or and not, comparisons (chained, ==, !=, in, not
 * in with a list in [], () or {} or a range() of constants), x if c else y, + - * / // % **, & | ^ ~ << >>, unary
 * minus, parentheses, numbers, words in quotes, True, False, abs() int() float() bool() round() pow(), min() and max()
 * of values or a list in [], sum() any() all() of a list in []. / is real, // and % round to minus infinity as in
 * Python; whole-number overflow becomes real. Results agree with CPython but for that, and for words, which are
 * compared and never added or converted; min() and max() of one value are that value. */
#ifndef BASE_EXPR_EXPR_H
#define BASE_EXPR_EXPR_H
#include <stddef.h>

#include "base/err.h"
#include "base/value.h"

struct expr;
/* ERR_USAGE names the position of the mistake in the text. Nesting and length are bounded. */
struct expr *expr_parse(const char *text, struct err *err);
void expr_free(struct expr *expr);
const char *expr_source(const struct expr *expr);
size_t expr_name_count(const struct expr *expr); /* distinct free names, in order of appearance */
const char *expr_name(const struct expr *expr, size_t i);
/* values[i] belongs to expr_name(i). False where evaluation fails (division by zero, a word in arithmetic). */
bool expr_eval(const struct expr *expr, const struct value *values, struct value *out);
bool expr_holds(const struct expr *expr, const struct value *values); /* evaluates, and is true */
#endif
