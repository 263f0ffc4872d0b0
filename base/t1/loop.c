/* SPDX-License-Identifier: BSD-3-Clause */
/* Computed lists: range() and comprehensions. */
#include <ctype.h>

#include "base/expr/node.h"
#include "base/t1/t1_impl.h"

/* The expressions inside Python lists. */

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

/* An expression that may use `variable` (NULL: no name at all). NULL and err if it does not parse. */
static struct expr *reader_expr(struct reader *r, struct slice s, const char *variable) {
	s = slice_trim(s);
	if (s.at == s.end || (slice_begins(s, "None") && s.end - s.at == 4)) {
		reader_fail(r, s, s.at == s.end ? "a value is missing" : "None cannot be passed to a program");
		return NULL;
	}
	mem_auto char *text = mem_printf("%.*s", (int)(s.end - s.at), s.at);
	struct expr *expr = expr_parse(text, r->err);
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

static int reader_eval(struct reader *r, struct slice s, const struct expr *expr, const struct value *variable,
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

int t1_scalar(const char *text, struct arena *arena, struct value *value, struct err *err) {
	struct reader r = {.arena = arena, .err = err};
	return reader_scalar(&r, (struct slice){text, text + strlen(text)}, value);
}

/* Exact for all bounds, because the distance of two int64_t fits a uint64_t. */
static int push_range(struct reader *r, struct slice s, const int64_t at[3], struct value_list *out) {
	int64_t first = at[0], end = at[1], step = at[2];
	if (step == 0)
		return reader_fail(r, s, "the step of range() is 0");
	if (step > 0 ? first >= end : first <= end)
		return 0;
	uint64_t distance = step > 0 ? (uint64_t)end - (uint64_t)first : (uint64_t)first - (uint64_t)end;
	uint64_t stride = step > 0 ? (uint64_t)step : -(uint64_t)step, count = (distance - 1) / stride + 1;
	if (count > PARAM_VALUES_MAX)
		return reader_fail(r, s, "range() makes too many values");
	if (reader_spend(r, s, count))
		return -1;
	for (uint64_t i = 0; i < count; i++)
		if (reader_push(r, s, value_int((int64_t)((uint64_t)first + i * (uint64_t)step)), out))
			return -1;
	return 0;
}

int reader_range(struct reader *r, struct slice s, struct value_list *out) {
	int64_t given[3], at[3] = {0, 0, 1};
	struct slice rest = s;
	int count = 0;
	for (bool more = true; more && count < 3;) {
		struct slice one = {rest.at, slice_find(rest, ",")};
		if (reader_whole(r, one, &given[count++]))
			return -1;
		more = one.end < rest.end;
		rest.at = more ? one.end + 1 : rest.end;
	}
	if (!slice_empty(rest))
		return reader_fail(r, slice_trim(rest), "range() takes up to three numbers");
	memcpy(count > 1 ? at : at + 1, given, sizeof *at * (size_t)count);
	return push_range(r, s, at, out);
}

/* for NAME in LIST [if CONDITION] */
struct loop {
	char *name;
	struct slice list, filter; /* filter.at NULL: there is no condition */
};

static int read_loop(struct reader *r, struct slice s, struct loop *loop) {
	s = slice_trim((struct slice){s.at + strlen("for"), s.end});
	struct slice name = {s.at, s.at};
	while (name.end < s.end && slice_word_char(*name.end))
		name.end++;
	struct slice rest = slice_trim((struct slice){name.end, s.end});
	if (name.at == name.end || isdigit((unsigned char)*name.at) || !slice_begins(rest, "in"))
		return reader_fail(r, s, "expected one name and 'in' after 'for'");
	rest.at += strlen("in");
	const char *second = slice_find(rest, "for");
	if (second != rest.end)
		return reader_fail(r, (struct slice){second, rest.end}, "a list may have one 'for'");
	loop->name = mem_printf("%.*s", (int)(name.end - name.at), name.at);
	loop->list = (struct slice){rest.at, slice_find(rest, "if")};
	if (loop->list.end < rest.end)
		loop->filter = slice_trim((struct slice){loop->list.end + strlen("if"), rest.end});
	return 0;
}

static int push_looped(struct reader *r, struct slice s, const struct expr *item, const struct loop *loop,
                       const struct expr *filter, const struct value_list *over, struct value_list *out) {
	for (size_t i = 0; i < over->count; i++) {
		struct value value;
		if (filter && reader_spend(r, loop->filter, 1))
			return -1;
		if (filter && !expr_holds(filter, &over->at[i]))
			continue;
		if (reader_eval(r, s, item, &over->at[i], &value) || reader_push(r, s, value, out))
			return -1;
	}
	return 0;
}

int reader_loop(struct reader *r, struct slice item, struct slice rest, struct value_list *out) {
	struct loop loop = {0};
	struct value_list over = {0};
	struct expr *expr = NULL, *filter = NULL;
	int status = -1;
	if (read_loop(r, rest, &loop) || !(expr = reader_expr(r, item, loop.name)) || reader_list(r, loop.list, &over))
		goto done;
	if (loop.filter.at && !(filter = reader_expr(r, loop.filter, loop.name)))
		goto done;
	status = push_looped(r, slice_trim(item), expr, &loop, filter, &over, out);
done:
	expr_free(filter);
	expr_free(expr);
	free(over.at);
	free(loop.name);
	return status;
}

/* Conditions are Python, but some files write the logical operators of C. Both bind weaker than comparisons, in the
 * same order; only ! binds tighter than `not`, so it gets parentheses of its own. */

struct writer {
	char *text;
	size_t used;
	int nest;
	bool has_c, divides, bits;
	struct err *err;
};

/* The room is six bytes for each byte of the text, enough for "(not " and ")" in place of a !. */
static void put(struct writer *w, const char *at, size_t size) {
	memcpy(w->text + w->used, at, size);
	w->used += size;
	w->text[w->used] = 0;
}

static size_t quoted_size(struct slice s) {
	const char *close = memchr(s.at + 1, *s.at, (size_t)(s.end - s.at - 1));
	return close ? (size_t)(close + 1 - s.at) : (size_t)(s.end - s.at);
}

/* The end of the operand of a !: more of them, then a group in parentheses, or a word with its call. */
static const char *operand_end(struct slice s) {
	while (s.at < s.end && strchr("! \t", *s.at))
		s.at++;
	while (s.at < s.end && slice_word_char(*s.at))
		s.at++;
	if (s.at == s.end || *s.at != '(')
		return s.at;
	const char *close = slice_close(s);
	return close ? close + 1 : s.end;
}

static int translate(struct writer *w, struct slice s);

static int translate_not(struct writer *w, struct slice *s) {
	struct slice operand = {s->at + 1, operand_end((struct slice){s->at + 1, s->end})};
	if (slice_empty(operand))
		return err_set(w->err, ERR_USAGE, NULL, "nothing follows the '!' in '%.*s'", (int)(s->end - s->at), s->at);
	w->has_c = true;
	put(w, "(not ", 5);
	if (translate(w, operand))
		return -1;
	put(w, ")", 1);
	s->at = operand.end;
	return 0;
}

static int translate_one(struct writer *w, struct slice *s) {
	size_t size = *s->at == '\'' || *s->at == '"' ? quoted_size(*s) : 1;
	bool both = slice_begins(*s, "&&"), either = slice_begins(*s, "||");
	if (*s->at == '!' && !slice_begins(*s, "!="))
		return translate_not(w, s);
	if (both || either) {
		w->has_c = true;
		put(w, both ? " and " : " or ", both ? 5 : 4);
		s->at += 2;
		return 0;
	}
	if (*s->at == '/') {
		size = slice_begins(*s, "//") ? 2 : 1;
		w->divides |= size == 1;
	} else if (*s->at == '!') {
		size = 2;
	} else if (strchr("&|^", *s->at)) {
		w->bits = true;
	}
	put(w, s->at, size);
	s->at += size;
	return 0;
}

static int translate(struct writer *w, struct slice s) {
	if (w->nest >= EXPR_NEST_MAX)
		return err_set(w->err, ERR_USAGE, NULL, "nested too deeply");
	w->nest++;
	int status = 0;
	while (status == 0 && s.at < s.end)
		status = translate_one(w, &s);
	w->nest--;
	return status;
}

char *t1_condition(const char *text, struct err *err) {
	struct slice s = {text, text + strlen(text)};
	if (s.end - s.at > EXPR_TEXT_MAX) {
		err_set(err, ERR_USAGE, NULL, "the expression is longer than %d characters", EXPR_TEXT_MAX);
		return NULL;
	}
	struct writer w = {.text = mem_alloc(6 * (size_t)(s.end - s.at) + 1, 1), .err = err};
	int status = translate(&w, s);
	if (status == 0 && w.has_c && w.divides)
		status = err_set(err, ERR_USAGE, "write // for whole numbers, or and, or, not for && || !",
		                 "'%.300s' has operators of C, and / differs between C and Python", text);
	if (status == 0 && w.has_c && w.bits)
		status = err_set(err, ERR_USAGE, "write and, or, not for && || !",
		                 "'%.300s' has operators of C, and & | ^ bind differently in C and in Python", text);
	if (status == 0)
		return w.text;
	free(w.text);
	return NULL;
}
