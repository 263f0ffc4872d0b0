/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values in a parameter's table, read as kernels/kernel.h describes them and apart from the tuner's reader. */
#ifndef TESTS_KERNELS_VALUES_H
#define TESTS_KERNELS_VALUES_H
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernel.h"

enum { VALUES_MAX = 256 };

struct values {
	int count;
	struct ss_value value[VALUES_MAX];
	char texts[1024]; /* where the words are */
};

static inline void values_add(struct values *values, double r, const char *word) {
	if (values->count < VALUES_MAX)
		values->value[values->count] = (struct ss_value){.i = word ? values->count : (int64_t)r, .r = r, .w = word};
	values->count++;
}

/* strtod takes the first dot of "1..8" for its own. */
static inline double values_number(const char *text, char **end) {
	double r = strtod(text, end);
	if (*end > text && **end == '.' && (*end)[-1] == '.')
		--*end;
	return r;
}

/* "2", "1..8", "0..64+8" or "16..512*2" */
static inline bool values_range(struct values *values, const char *text) {
	char *end;
	double low = values_number(text, &end), step = 1, high = low;
	if (end == text)
		return false;
	if (strncmp(end, "..", 2) == 0)
		high = strtod(end + 2, &end);
	char how = *end == '*' ? '*' : '+';
	if (*end == '*' || *end == '+')
		step = strtod(end + 1, &end);
	if (*end || step <= (how == '*') || high < low || (how == '*' && low <= 0))
		return false;
	for (double r = low; r <= high && values->count <= VALUES_MAX; r = how == '*' ? r * step : r + step)
		values_add(values, r, NULL);
	return true;
}

static inline bool values_parse(const struct ss_param *param, struct values *values) {
	values->count = 0;
	if (!param->values || strlen(param->values) >= sizeof values->texts)
		return false;
	strcpy(values->texts, param->values);
	for (char *item = values->texts, *next; item; item = next) {
		next = strchr(item, ',');
		if (next)
			*next++ = '\0';
		bool word = param->type == SS_WORD || param->type == SS_TEXT;
		if (word && *item)
			values_add(values, 0, item);
		else if (word || !values_range(values, item))
			return false;
	}
	return values->count > 0 && values->count <= VALUES_MAX;
}

#endif
