/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Python lists as T1 files write them. Brackets, sums and comprehensions are taken apart here; everything between them
 * is an expression over at most one name. Nothing is ever handed to an interpreter. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "tuner/spec/impl.h"
#include "tuner/spec/reader.h"

enum { TEXT_MAX = 1 << 20 };

/* The text between the brackets of a list, a tuple or a set. */
static int read_items(struct reader *r, struct slice s, struct value_list *out) {
	const char *loop = slice_find(s, "for");
	if (loop != s.end)
		return reader_loop(r, (struct slice){s.at, loop}, (struct slice){loop, s.end}, out);
	while (!slice_empty(s)) {
		struct slice one = {s.at, slice_find(s, ",")};
		struct value value;
		if (reader_scalar(r, one, &value) || reader_push(r, one, value, out))
			return -1;
		s.at = one.end < s.end ? one.end + 1 : s.end;
	}
	return 0;
}

/* (1, 2) is a tuple, ([1] + [2]) a list. */
static int read_group(struct reader *r, struct slice s, struct value_list *out) {
	bool items = slice_empty(s) || slice_find(s, ",") != s.end || slice_find(s, "for") != s.end;
	return items ? read_items(r, s, out) : reader_list(r, s, out);
}

static int read_call(struct reader *r, struct slice s, struct value_list *out, bool sorted) {
	size_t first = out->count;
	if (slice_find(s, ",") != s.end)
		return reader_fail(r, slice_trim(s), "this needs one list");
	if (read_group(r, s, out))
		return -1;
	return sorted && value_list_sort(out, first, r->err) ? reader_place(r, slice_trim(s)) : 0;
}

static int read_bracket(struct reader *r, struct slice name, struct slice inner, char open, struct value_list *out) {
	static const char *const calls[] = {"list", "tuple", "set", "sorted"};
	size_t i = 0, count = sizeof calls / sizeof *calls;
	if (name.at == name.end)
		return open == '(' ? read_group(r, inner, out) : read_items(r, inner, out);
	if (open == '(' && slice_begins(name, "range"))
		return reader_range(r, inner, out);
	while (i < count && !slice_begins(name, calls[i]))
		i++;
	if (open == '(' && i < count)
		return read_call(r, inner, out, strcmp(calls[i], "sorted") == 0);
	return reader_fail(r, (struct slice){name.at, inner.end},
	                   "unknown function: use range(), list(), tuple(), set() or sorted()");
}

static int read_atom(struct reader *r, struct slice *s, struct value_list *out) {
	struct slice name = {s->at, s->at};
	while (name.end < s->end && slice_word_char(*name.end))
		name.end++;
	struct slice rest = slice_trim((struct slice){name.end, s->end});
	if (rest.at == rest.end || !strchr("([{", *rest.at))
		return reader_fail(r, *s, "expected a list: [..], range(..) or list(..)");
	const char *close = slice_close(rest);
	if (!close)
		return reader_fail(r, rest, "the bracket is not closed");
	s->at = close + 1;
	return read_bracket(r, name, (struct slice){rest.at + 1, close}, *rest.at, out);
}

/* The end of the number after a *; 2 ** 3 is one number. */
static const char *number_end(struct slice s) {
	const char *plus = slice_find(s, "+"), *times = slice_find(s, "*");
	while (times < s.end && slice_begins((struct slice){times, s.end}, "**"))
		times = slice_find((struct slice){times + 2, s.end}, "*");
	return plus < times ? plus : times;
}

/* A list, perhaps times a number. */
static int read_term(struct reader *r, struct slice *s, struct value_list *out) {
	size_t first = out->count;
	int64_t times;
	if (read_atom(r, s, out))
		return -1;
	for (*s = slice_trim(*s); s->at < s->end && *s->at == '*'; *s = slice_trim(*s)) {
		s->at++;
		struct slice number = {s->at, number_end(*s)};
		if (reader_whole(r, number, &times))
			return -1;
		size_t made = times > 0 && times <= DOMAIN_MAX ? (out->count - first) * (size_t)times : 0;
		if (reader_spend(r, number, made < DOMAIN_MAX ? made : DOMAIN_MAX))
			return -1;
		if (value_list_repeat(out, first, times, r->err))
			return reader_place(r, slice_trim(number));
		s->at = number.end;
	}
	return 0;
}

int reader_list(struct reader *r, struct slice s, struct value_list *out) {
	if (r->nest >= READER_NEST_MAX)
		return reader_fail(r, s, "nested too deeply");
	r->nest++;
	int status;
	for (;;) {
		s = slice_trim(s);
		status = read_term(r, &s, out);
		if (status || s.at == s.end)
			break;
		if (*s.at != '+') {
			status = reader_fail(r, s, "expected + or the end");
			break;
		}
		s.at++;
	}
	r->nest--;
	return status;
}

int spec_values(const char *text, struct arena *arena, struct value **values, size_t *count, struct err *err) {
	struct reader r = {.arena = arena, .err = err};
	struct slice all = slice_trim((struct slice){text, text + strlen(text)});
	struct value_list list = {0};
	if (all.end - all.at > TEXT_MAX)
		return err_set(err, ERR_USAGE, NULL, "the text is longer than %d characters", TEXT_MAX);
	/* Without brackets, Python's 1, 2 is a tuple all the same. */
	int status = slice_find(all, ",") != all.end ? read_items(&r, all, &list) : reader_list(&r, all, &list);
	if (status == 0 && list.count == 0)
		status = err_set(err, ERR_USAGE, NULL, "the list is empty");
	if (status == 0)
		spec_values_keep(&list, arena, values, count);
	free(list.at);
	return status;
}

void spec_values_keep(struct value_list *list, struct arena *arena, struct value **values, size_t *count) {
	value_list_unique(list);
	*count = list->count;
	*values = arena_alloc(arena, list->count, sizeof **values);
	memcpy(*values, list->at, list->count * sizeof **values);
}
