/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/value.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "base/mem.h"
#include "base/text.h"

struct value value_int(int64_t i) {
	return (struct value){VALUE_INT, {.i = i}};
}

struct value value_real(double r) {
	return (struct value){VALUE_REAL, {.r = r}};
}

struct value value_word(const char *w) {
	return (struct value){VALUE_WORD, {.w = w}};
}

double value_number(struct value value) {
	return value.type == VALUE_INT ? (double)value.as.i : value.type == VALUE_REAL ? value.as.r : NAN;
}

static bool is_same_number(int64_t i, double r) {
	return r >= -0x1p63 && r < 0x1p63 && (int64_t)r == i && (double)(int64_t)r == r;
}

bool value_equal(struct value a, struct value b) {
	if (a.type == VALUE_WORD || b.type == VALUE_WORD)
		return a.type == b.type && strcmp(a.as.w, b.as.w) == 0;
	if (a.type == b.type)
		return a.type == VALUE_INT ? a.as.i == b.as.i : a.as.r == b.as.r;
	return a.type == VALUE_INT ? is_same_number(a.as.i, b.as.r) : is_same_number(b.as.i, a.as.r);
}

/* Decimal only, because strtod alone would accept "inf", "nan", hexadecimal and leading blanks. */
static bool looks_decimal(const char *text) {
	return text[0] && strspn(text, "0123456789+-.eE") == strlen(text);
}

struct value value_parse(const char *text) {
	char *end;
	if (!looks_decimal(text))
		return value_word(text);
	errno = 0;
	long long i = strtoll(text, &end, 10);
	if (end != text && !*end && errno == 0)
		return value_int(i);
	double r = strtod(text, &end);
	return end != text && !*end && isfinite(r) ? value_real(r) : value_word(text);
}

static json_t *word_json(const char *word) {
	json_t *json = json_string(word);
	if (json)
		return json;
	mem_auto char *clean = mem_strdup(word);
	text_clean(clean, true);
	json = json_string(clean);
	return json;
}

json_t *value_json(struct value value) {
	switch (value.type) {
	case VALUE_INT:
		return json_integer(value.as.i);
	case VALUE_REAL:
		return isfinite(value.as.r) ? json_real(value.as.r) : json_null();
	case VALUE_WORD:
		break;
	}
	return word_json(value.as.w);
}

bool value_from_json(const json_t *json, struct value *out) {
	switch (json ? json_typeof(json) : JSON_NULL) {
	case JSON_INTEGER:
		*out = value_int(json_integer_value(json));
		return true;
	case JSON_REAL:
		*out = value_real(json_real_value(json));
		return true;
	case JSON_STRING:
		*out = value_word(json_string_value(json));
		return true;
	case JSON_TRUE:
		*out = value_int(1);
		return true;
	case JSON_FALSE:
		*out = value_int(0);
		return true;
	default:
		return false;
	}
}

static int real_text(double r, char *text, size_t size) {
	char best[32];
	int digits = 1;
	do
		snprintf(best, sizeof(best), "%.*g", digits, r);
	while (digits++ < 17 && isfinite(r) && strtod(best, NULL) != r);
	return snprintf(text, size, "%s", best);
}

int value_text(struct value value, char *text, size_t size) {
	switch (value.type) {
	case VALUE_INT:
		return snprintf(text, size, "%" PRId64, value.as.i);
	case VALUE_REAL:
		return real_text(value.as.r, text, size);
	case VALUE_WORD:
		break;
	}
	return snprintf(text, size, "%s", value.as.w);
}

char *value_string(struct value value) {
	size_t size = (size_t)value_text(value, NULL, 0) + 1;
	char *text = mem_alloc(size, 1);
	value_text(value, text, size);
	return text;
}

static int order_reals(double a, double b) {
	return (a > b) - (a < b);
}

int value_order(const void *left, const void *right) {
	const struct value *a = left, *b = right;
	if (a->type == VALUE_WORD || b->type == VALUE_WORD) {
		int words = (a->type == VALUE_WORD) - (b->type == VALUE_WORD);
		return words ? words : strcmp(a->as.w, b->as.w);
	}
	int by_size = order_reals(value_number(*a), value_number(*b));
	if (by_size == 0 && a->type == VALUE_INT && b->type == VALUE_INT)
		return (a->as.i > b->as.i) - (a->as.i < b->as.i);
	return by_size;
}
