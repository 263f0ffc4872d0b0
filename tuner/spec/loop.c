/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Computed lists: range() and comprehensions. */
#include <config.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/spec/reader.h"

/* Exact for all bounds, because the distance of two int64_t fits a uint64_t. */
static int push_range(struct reader *r, struct slice s, const int64_t at[3], struct value_list *out) {
	int64_t first = at[0], end = at[1], step = at[2];
	if (step == 0)
		return reader_fail(r, s, "the step of range() is 0");
	if (step > 0 ? first >= end : first <= end)
		return 0;
	uint64_t distance = step > 0 ? (uint64_t)end - (uint64_t)first : (uint64_t)first - (uint64_t)end;
	uint64_t stride = step > 0 ? (uint64_t)step : -(uint64_t)step, count = (distance - 1) / stride + 1;
	if (count > DOMAIN_MAX)
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
