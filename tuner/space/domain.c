/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/space/domain.h"

#include <ctype.h>
#include <math.h>

static const char hint[] = "write words or numbers as a,b,c and ranges as 1..8, 0..64+8, 16..512*2 or pow2(16,512)";

struct list {
	struct arena *arena;
	struct value *at;
	size_t count, room;
	struct err *err;
};

struct range {
	struct value first, last, step;
	char by; /* '+' or '*' */
};

static int push(struct list *list, struct value value) {
	if (list->count == DOMAIN_MAX)
		return err_set(list->err, ERR_USAGE, hint, "more than %d values", DOMAIN_MAX);
	if (list->count == list->room) {
		list->room = list->room ? list->room * 2 : 16;
		list->at = mem_grow(list->at, list->room, sizeof *list->at);
	}
	list->at[list->count++] = value;
	return 0;
}

static int push_whole_steps(struct list *list, int64_t first, int64_t last, int64_t step, char by) {
	for (int64_t i = first; i <= last;) {
		if (push(list, value_int(i)) != 0)
			return -1;
		if (by == '+' ? __builtin_add_overflow(i, step, &i) : __builtin_mul_overflow(i, step, &i))
			break;
	}
	return 0;
}

/* Rounds to what a user would write: 0.3, although 0.1 + 2 * 0.1 is a little more. */
static double rounded(double r) {
	char text[40];
	snprintf(text, sizeof text, "%.15g", r);
	return strtod(text, NULL);
}

/* Computes each value from the first, so that rounding errors do not add up; the end may be missed by a rounding error.
 */
static int push_real_steps(struct list *list, double first, double last, double step, char by) {
	double slack = fabs(last) * 1e-12;
	for (size_t i = 0;; i++) {
		double r = by == '+' ? first + (double)i * step : first * pow(step, (double)i);
		if (!(r <= last + slack))
			return 0;
		if (push(list, value_real(rounded(r))) != 0)
			return -1;
	}
}

static int push_range(struct list *list, struct range range, const char *item) {
	double first = value_number(range.first), last = value_number(range.last), step = value_number(range.step);
	bool whole = range.first.type == VALUE_INT && range.last.type == VALUE_INT && range.step.type == VALUE_INT;
	if (first > last)
		return err_set(list->err, ERR_USAGE, hint, "the range '%.100s' ends before it begins", item);
	if (range.by == '*' ? step <= 1 || first <= 0 : step <= 0)
		return err_set(list->err, ERR_USAGE, hint, "the step of '%.100s' does not reach its end", item);
	if (range.by == '+' && (last - first) / step > DOMAIN_MAX)
		return err_set(list->err, ERR_USAGE, hint, "'%.100s' has more than %d values", item, DOMAIN_MAX);
	if (whole)
		return push_whole_steps(list, range.first.as.i, range.last.as.i, range.step.as.i, range.by);
	return push_real_steps(list, first, last, step, range.by);
}

/* Reads a number from text[0..size), which may be surrounded by blanks. */
static bool read_number(const char *text, size_t size, struct value *out) {
	char copy[64];
	while (size > 0 && isspace((unsigned char)*text)) {
		text++;
		size--;
	}
	while (size > 0 && isspace((unsigned char)text[size - 1]))
		size--;
	if (size == 0 || size >= sizeof copy)
		return false;
	memcpy(copy, text, size);
	copy[size] = 0;
	*out = value_parse(copy);
	return out->type == VALUE_INT || (out->type == VALUE_REAL && isfinite(out->as.r));
}

/* The sign of the step is the first one after a digit, a point or a blank; others belong to an exponent or to the
 * number itself. */
static const char *find_step(const char *text) {
	for (const char *at = text; *at; at++)
		if (*at == '*' || (*at == '+' && at > text && strchr("0123456789. ", at[-1])))
			return at;
	return NULL;
}

/* 1: read; 0: a word that is not a range; -1: an error. */
static int read_range(struct list *list, const char *item, struct range *range) {
	const char *dots = strstr(item, "..");
	if (!dots || !read_number(item, (size_t)(dots - item), &range->first))
		return 0;
	const char *end = dots + 2, *sign = find_step(end);
	*range = (struct range){range->first, value_int(0), value_int(1), sign ? *sign : '+'};
	if (!read_number(end, sign ? (size_t)(sign - end) : strlen(end), &range->last) ||
	    (sign && !read_number(sign + 1, strlen(sign + 1), &range->step)))
		return err_set(list->err, ERR_USAGE, hint, "'%.100s' is not a range of numbers", item);
	return 1;
}

static int push_powers(struct list *list, const char *item) {
	const char *open = item + strlen("pow2("), *comma = strchr(open, ','), *close = strchr(open, ')');
	struct value first, last;
	size_t before = list->count;
	if (!comma || !close || close < comma || close[1] || !read_number(open, (size_t)(comma - open), &first) ||
	    !read_number(comma + 1, (size_t)(close - comma - 1), &last) || first.type != VALUE_INT ||
	    last.type != VALUE_INT)
		return err_set(list->err, ERR_USAGE, hint, "'%.100s' is not pow2(FIRST,LAST)", item);
	for (int bit = 0; bit < 63; bit++)
		if (INT64_C(1) << bit >= first.as.i && INT64_C(1) << bit <= last.as.i &&
		    push(list, value_int(INT64_C(1) << bit)) != 0)
			return -1;
	if (list->count == before)
		return err_set(list->err, ERR_USAGE, hint, "'%.100s' does not contain a power of two", item);
	return 0;
}

static int push_item(struct list *list, char *item) {
	struct range range;
	while (isspace((unsigned char)*item))
		item++;
	for (size_t size = strlen(item); size > 0 && isspace((unsigned char)item[size - 1]); size--)
		item[size - 1] = 0;
	if (!*item)
		return err_set(list->err, ERR_USAGE, hint, "a value is missing");
	for (const char *at = item; *at; at++)
		if (iscntrl((unsigned char)*at))
			return err_set(list->err, ERR_USAGE, hint, "a value has a control character");
	if (strncmp(item, "pow2(", 5) == 0)
		return push_powers(list, item);
	int is_range = read_range(list, item, &range);
	if (is_range != 0)
		return is_range < 0 ? -1 : push_range(list, range, item);
	struct value value = value_parse(item);
	if (value.type == VALUE_REAL && !isfinite(value.as.r))
		return err_set(list->err, ERR_USAGE, hint, "'%.100s' is not a finite number", item);
	if (value.type == VALUE_WORD)
		value = value_word(arena_strdup(list->arena, item));
	return push(list, value);
}

/* The end of the item at `text`: the next comma outside parentheses. */
static char *item_end(char *text) {
	bool inside = false;
	for (; *text && (*text != ',' || inside); text++)
		inside = *text == '(' || (inside && *text != ')');
	return text;
}

static int push_items(struct list *list, char *text) {
	for (bool more = true; more;) {
		char *end = item_end(text);
		more = *end == ',';
		*end = 0;
		if (push_item(list, text) != 0)
			return -1;
		text = end + 1;
	}
	return 0;
}

const struct value *domain_duplicate(const struct value *values, size_t count) {
	const struct value *found = NULL;
	mem_auto struct value *sorted = mem_alloc(count, sizeof *sorted);
	memcpy(sorted, values, count * sizeof *sorted);
	qsort(sorted, count, sizeof *sorted, value_order);
	size_t at = 1;
	while (at < count && value_order(&sorted[at - 1], &sorted[at]) != 0)
		at++;
	for (size_t i = 0; at < count && !found; i++)
		if (value_order(&values[i], &sorted[at]) == 0)
			found = &values[i];
	return found;
}

int domain_parse(const char *text, struct arena *arena, struct value **values, size_t *count, struct err *err) {
	struct list list = {.arena = arena, .err = err};
	char *copy = mem_strdup(text), word[64];
	int status = push_items(&list, copy);
	const struct value *twice = status == 0 ? domain_duplicate(list.at, list.count) : NULL;
	if (twice) {
		value_text(*twice, word, sizeof word);
		status = err_set(err, ERR_USAGE, hint, "the value '%s' occurs twice", word);
	}
	if (status == 0) {
		*count = list.count;
		*values = arena_alloc(arena, list.count, sizeof **values);
		memcpy(*values, list.at, list.count * sizeof **values);
	}
	free(list.at);
	free(copy);
	return status;
}
