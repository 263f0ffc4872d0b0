/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The expressions inside Python lists. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "tuner/spec/impl.h"
#include "tuner/spec/reader.h"

enum { SHOWN = 24, STEP_TEXT = 64 };

static const char hint[] =
	"lists are written as in Python: [1, 2], range(1, 9), [2**i for i in range(5)], their sums with +";

/* All pieces are cut from one text that ends with NUL, so that an empty piece can show the text behind it. */
static int shown(struct slice s) {
	size_t size = s.at < s.end ? (size_t)(s.end - s.at) : strlen(s.at);
	return size > SHOWN ? SHOWN : (int)size;
}

int reader_fail(struct reader *r, struct slice s, const char *what) {
	if (shown(s) == 0)
		return err_set(r->err, ERR_USAGE, hint, "at the end: %s", what);
	return err_set(r->err, ERR_USAGE, hint, "at \"%.*s\": %s", shown(s), s.at, what);
}

int reader_place(struct reader *r, struct slice s) {
	return err_prefix(r->err, "at \"%.*s\"", shown(s), s.at);
}

int reader_spend(struct reader *r, struct slice s, size_t steps) {
	r->steps += steps;
	return steps > READER_STEPS_MAX || r->steps > READER_STEPS_MAX ? reader_fail(r, s, "this makes too many values")
	                                                               : 0;
}

struct expr *reader_expr(struct reader *r, struct slice s, const char *variable) {
	s = slice_trim(s);
	if (s.at == s.end || (slice_begins(s, "None") && s.end - s.at == 4)) {
		reader_fail(r, s, s.at == s.end ? "a value is missing" : "None cannot be passed to a program");
		return NULL;
	}
	char *text = mem_printf("%.*s", (int)(s.end - s.at), s.at);
	struct expr *expr = expr_parse(text, r->err);
	free(text);
	if (!expr) {
		reader_place(r, s);
		return NULL;
	}
	for (size_t i = 0; i < expr_name_count(expr); i++) {
		if (variable && strcmp(expr_name(expr, i), variable) == 0)
			continue;
		err_set(r->err, ERR_USAGE, "words are written in quotes", "the name '%.100s' is unknown here",
		        expr_name(expr, i));
		reader_place(r, s);
		expr_free(expr);
		return NULL;
	}
	return expr;
}

int reader_eval(struct reader *r, struct slice s, const struct expr *expr, const struct value *variable,
                struct value *out) {
	if (reader_spend(r, s, 1 + (size_t)(s.end - s.at) / STEP_TEXT))
		return -1;
	if (!expr_eval(expr, variable, out))
		return reader_fail(r, s, "it cannot be computed");
	if (out->type == VALUE_WORD)
		out->as.w = arena_strdup(r->arena, out->as.w);
	return 0;
}

int reader_scalar(struct reader *r, struct slice s, struct value *out) {
	s = slice_trim(s);
	struct expr *expr = reader_expr(r, s, NULL);
	int status = expr ? reader_eval(r, s, expr, NULL, out) : -1;
	expr_free(expr);
	return status;
}

int reader_whole(struct reader *r, struct slice s, int64_t *out) {
	struct value value;
	if (reader_scalar(r, s, &value))
		return -1;
	if (value.type != VALUE_INT)
		return reader_fail(r, slice_trim(s), "a whole number is needed (// divides whole numbers)");
	*out = value.as.i;
	return 0;
}

int reader_push(struct reader *r, struct slice s, struct value value, struct value_list *out) {
	return value_list_push(out, value, r->err) ? reader_place(r, slice_trim(s)) : 0;
}

int spec_scalar(const char *text, struct arena *arena, struct value *value, struct err *err) {
	struct reader r = {.arena = arena, .err = err};
	return reader_scalar(&r, (struct slice){text, text + strlen(text)}, value);
}
