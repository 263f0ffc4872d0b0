/* SPDX-License-Identifier: BSD-3-Clause */
/* Python lists as T1 files write them. Brackets, sums and comprehensions are taken apart here; everything between them
 * is an expression over at most one name. Nothing is ever handed to an interpreter. */
#include <ctype.h>
#include <math.h>

#include "base/json/js.h"
#include "base/expr/node.h"
#include "base/t1/slice.h"
#include "base/t1/t1_impl.h"

/* A list under construction. */
struct value_list {
	struct value *at; /* free() it */
	size_t count, room;
};

enum { WORD_LONGEST = 1024 };

static int check(struct value value, struct err *err) {
	if (value.type == VALUE_REAL && !isfinite(value.as.r))
		return err_set(err, ERR_USAGE, NULL, "a value is not finite");
	if (value.type != VALUE_WORD)
		return 0;
	if (strlen(value.as.w) > WORD_LONGEST)
		return err_set(err, ERR_USAGE, NULL, "a word is longer than %d bytes", WORD_LONGEST);
	for (const char *at = value.as.w; *at; at++)
		if (iscntrl((unsigned char)*at))
			return err_set(err, ERR_USAGE, NULL, "a word has a control character");
	return 0;
}

static int value_list_push(struct value_list *list, struct value value, struct err *err) {
	if (check(value, err))
		return -1;
	if (list->count == PARAM_VALUES_MAX)
		return err_set(err, ERR_USAGE, NULL, "more than %d values", PARAM_VALUES_MAX);
	list->at = mem_room(list->at, list->count, &list->room, sizeof *list->at);
	list->at[list->count++] = value;
	return 0;
}

/* Repeats the values from `first` on, so that they are there `times` times. */
static int value_list_repeat(struct value_list *list, size_t first, int64_t times, struct err *err) {
	size_t count = list->count - first;
	if (times <= 0 || count == 0) {
		list->count = first;
		return 0;
	}
	if (times > PARAM_VALUES_MAX)
		return err_set(err, ERR_USAGE, NULL, "more than %d values", PARAM_VALUES_MAX);
	for (size_t i = count; i < count * (size_t)times; i++)
		if (value_list_push(list, list->at[first + i - count], err))
			return -1;
	return 0;
}

/* Sorts the values from `first` on as Python's sorted(); ERR_USAGE for words among numbers. */
static int value_list_sort(struct value_list *list, size_t first, struct err *err) {
	size_t count = list->count - first;
	if (count == 0)
		return 0;
	qsort(list->at + first, count, sizeof *list->at, value_order);
	bool words = list->at[list->count - 1].type == VALUE_WORD; /* words come last */
	if (words && list->at[first].type != VALUE_WORD)
		return err_set(err, ERR_USAGE, NULL, "numbers and words cannot be sorted together");
	return 0;
}

static int order_pointers(const void *left, const void *right) {
	const struct value *a = *(const struct value *const *)left, *b = *(const struct value *const *)right;
	int order = value_order(a, b);
	return order ? order : (a > b) - (a < b);
}

/* Keeps the first of equal values (1, 1.0 and True are equal), and the order. */
static void value_list_unique(struct value_list *list) {
	mem_auto const struct value **sorted = mem_alloc(list->count, sizeof(const struct value *));
	mem_auto bool *again = mem_alloc(list->count, sizeof *again);
	for (size_t i = 0; i < list->count; i++)
		sorted[i] = &list->at[i];
	qsort(sorted, list->count, sizeof(const struct value *), order_pointers);
	for (size_t i = 1; i < list->count; i++)
		again[sorted[i] - list->at] = value_order(sorted[i - 1], sorted[i]) == 0;
	size_t kept = 0;
	for (size_t i = 0; i < list->count; i++)
		if (!again[i])
			list->at[kept++] = list->at[i];
	list->count = kept;
}

enum { READER_NEST_MAX = 16, READER_STEPS_MAX = 4 * PARAM_VALUES_MAX };

struct reader {
	struct arena *arena; /* the words */
	size_t steps;        /* values made and expressions evaluated */
	int nest;
	struct err *err;
};

static int reader_list(struct reader *r, struct slice s, struct value_list *out);

/* The expressions inside Python lists. */

enum { SHOWN = 24, STEP_TEXT = 64 };

static const char hint[] =
	"lists are written as in Python: [1, 2], range(1, 9), [2**i for i in range(5)], their sums with +";

/* All pieces are cut from one text that ends with NUL, so that an empty piece can show the text behind it. */
static int shown(struct slice s) {
	size_t size = s.at < s.end ? (size_t)(s.end - s.at) : strlen(s.at);
	return size > SHOWN ? SHOWN : (int)size;
}

static int reader_fail(struct reader *r, struct slice s, const char *what) {
	if (shown(s) == 0)
		return err_set(r->err, ERR_USAGE, hint, "at the end: %s", what);
	return err_set(r->err, ERR_USAGE, hint, "at \"%.*s\": %s", shown(s), s.at, what);
}

static int reader_place(struct reader *r, struct slice s) {
	return err_prefix(r->err, "at \"%.*s\"", shown(s), s.at);
}

static int reader_spend(struct reader *r, struct slice s, size_t steps) {
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

static int reader_scalar(struct reader *r, struct slice s, struct value *out) {
	s = slice_trim(s);
	struct expr *expr = reader_expr(r, s, NULL);
	int status = expr ? reader_eval(r, s, expr, NULL, out) : -1;
	expr_free(expr);
	return status;
}

static int reader_whole(struct reader *r, struct slice s, int64_t *out) {
	struct value value;
	if (reader_scalar(r, s, &value))
		return -1;
	if (value.type != VALUE_INT)
		return reader_fail(r, slice_trim(s), "a whole number is needed (// divides whole numbers)");
	*out = value.as.i;
	return 0;
}

static int reader_push(struct reader *r, struct slice s, struct value value, struct value_list *out) {
	return value_list_push(out, value, r->err) ? reader_place(r, slice_trim(s)) : 0;
}

/* One Python value. */
static int t1_scalar(const char *text, struct arena *arena, struct value *value, struct err *err) {
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

static int reader_range(struct reader *r, struct slice s, struct value_list *out) {
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

static int reader_loop(struct reader *r, struct slice item, struct slice rest, struct value_list *out) {
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
	int64_t times = 0;
	if (read_atom(r, s, out))
		return -1;
	for (*s = slice_trim(*s); s->at < s->end && *s->at == '*'; *s = slice_trim(*s)) {
		s->at++;
		struct slice number = {s->at, number_end(*s)};
		if (reader_whole(r, number, &times))
			return -1;
		size_t made = times > 0 && times <= PARAM_VALUES_MAX ? (out->count - first) * (size_t)times : 0;
		if (reader_spend(r, number, made < PARAM_VALUES_MAX ? made : PARAM_VALUES_MAX))
			return -1;
		if (value_list_repeat(out, first, times, r->err))
			return reader_place(r, slice_trim(number));
		s->at = number.end;
	}
	return 0;
}

static int reader_list(struct reader *r, struct slice s, struct value_list *out) {
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

/* Duplicates are removed; the array lives in the arena. */
static void values_keep(struct value_list *list, struct arena *arena, struct value **values, size_t *count) {
	value_list_unique(list);
	*count = list->count;
	*values = arena_alloc(arena, list->count, sizeof **values);
	memcpy(*values, list->at, list->count * sizeof **values);
}

int t1_values(const char *text, struct arena *arena, struct value **values, size_t *count, struct err *err) {
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
		values_keep(&list, arena, values, count);
	free(list.at);
	return status;
}

/* Values that JSON lists. */
static int t1_values_json(const json_t *json, struct t1_param *param, struct err *err) {
	struct value_list list = {0};
	int status = 0;
	for (size_t i = 0; status == 0 && i < json_array_size(json); i++) {
		struct value value;
		if (!value_from_json(json_array_get(json, i), &value))
			status = err_set(err, ERR_USAGE, NULL, "[%zu] is neither a number nor a word", i);
		else if ((status = value_list_push(&list, value, err)))
			err_prefix(err, "[%zu]", i);
	}
	if (status == 0 && list.count == 0)
		status = err_set(err, ERR_USAGE, NULL, "the list is empty");
	if (status == 0)
		values_keep(&list, param->arena, &param->values, &param->count);
	free(list.at);
	return status;
}

static int read_values(const json_t *json, struct t1_param *param, struct err *err) {
	if (!json)
		return err_set(err, ERR_USAGE, NULL, "'Values' is missing");
	if (json_is_string(json)) {
		const char *text = json_string_value(json);
		return t1_values(text, param->arena, &param->values, &param->count, err) ? err_prefix(err, "Values") : 0;
	}
	js_auto json_t *list = json_is_array(json) ? json_incref((json_t *)json) : json_pack("[O]", json);
	int status = t1_values_json(list, param, err);
	return status ? err_prefix(err, "Values") : 0;
}

static int place_of(const struct t1_param *param, struct value value) {
	for (size_t i = 0; i < param->count; i++)
		if (value_equal(param->values[i], value))
			return (int)i;
	return -1;
}

/* A value, or a list with one value; a text may be a word, or a value as Python writes it. */
static int read_default(const json_t *json, struct t1_param *param, struct err *err) {
	struct value value;
	param->place = -1;
	if (json_is_array(json) && json_array_size(json) == 1)
		json = json_array_get(json, 0);
	if (!json || json_is_null(json))
		return 0;
	if (!value_from_json(json, &value))
		return err_set(err, ERR_USAGE, NULL, "Default: must be one number or word");
	param->place = place_of(param, value);
	if (param->place < 0 && json_is_string(json) && t1_scalar(json_string_value(json), param->arena, &value, NULL) == 0)
		param->place = place_of(param, value);
	return 0;
}

int t1_param_read(const json_t *json, struct t1_param *param, struct err *err) {
	if (!json_is_object(json))
		return err_set(err, ERR_USAGE, NULL, "it must be an object");
	return js_string(json, "Name", &param->name, err) || read_values(json_object_get(json, "Values"), param, err) ||
	               read_default(json_object_get(json, "Default"), param, err)
	           ? -1
	           : 0;
}
