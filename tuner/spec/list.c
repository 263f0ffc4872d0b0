/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/spec/list.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "tuner/space/domain.h"

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

int value_list_push(struct value_list *list, struct value value, struct err *err) {
	if (check(value, err))
		return -1;
	if (list->count == DOMAIN_MAX)
		return err_set(err, ERR_USAGE, NULL, "more than %d values", DOMAIN_MAX);
	if (list->count == list->room) {
		list->room = list->room ? list->room * 2 : 16;
		list->at = mem_grow(list->at, list->room, sizeof *list->at);
	}
	list->at[list->count++] = value;
	return 0;
}

int value_list_repeat(struct value_list *list, size_t first, int64_t times, struct err *err) {
	size_t count = list->count - first;
	if (times <= 0 || count == 0) {
		list->count = first;
		return 0;
	}
	if (times > DOMAIN_MAX)
		return err_set(err, ERR_USAGE, NULL, "more than %d values", DOMAIN_MAX);
	for (size_t i = count; i < count * (size_t)times; i++)
		if (value_list_push(list, list->at[first + i - count], err))
			return -1;
	return 0;
}

int value_list_sort(struct value_list *list, size_t first, struct err *err) {
	size_t count = list->count - first;
	if (count == 0)
		return 0;
	qsort(list->at + first, count, sizeof *list->at, domain_order);
	bool words = list->at[list->count - 1].type == VALUE_WORD; /* words come last */
	if (words && list->at[first].type != VALUE_WORD)
		return err_set(err, ERR_USAGE, NULL, "numbers and words cannot be sorted together");
	return 0;
}

static int order_pointers(const void *left, const void *right) {
	const struct value *a = *(const struct value *const *)left, *b = *(const struct value *const *)right;
	int order = domain_order(a, b);
	return order ? order : (a > b) - (a < b);
}

void value_list_unique(struct value_list *list) {
	const struct value **sorted = mem_alloc(list->count, sizeof(const struct value *));
	bool *again = mem_alloc(list->count, sizeof *again);
	for (size_t i = 0; i < list->count; i++)
		sorted[i] = &list->at[i];
	qsort(sorted, list->count, sizeof(const struct value *), order_pointers);
	for (size_t i = 1; i < list->count; i++)
		again[sorted[i] - list->at] = domain_order(sorted[i - 1], sorted[i]) == 0;
	size_t kept = 0;
	for (size_t i = 0; i < list->count; i++)
		if (!again[i])
			list->at[kept++] = list->at[i];
	list->count = kept;
	free(again);
	free(sorted);
}
