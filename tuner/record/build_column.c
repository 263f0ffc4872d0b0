/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of one parameter, in a hash table. */
#include <config.h>

#include <stdlib.h>

#include "src/base/hash.h"
#include "tuner/space/domain.h"
#include "tuner/record/build_impl.h"

/* Equal values (2 and 2.0) have equal hashes. */
static uint64_t value_hash(struct value value) {
	uint64_t h = 0;
	if (value.type == VALUE_WORD) {
		h = hash_text(value.as.w);
	} else {
		double real = value_number(value) + 0.0; /* -0 is 0 */
		memcpy(&h, &real, sizeof h);
	}
	h *= UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

static size_t slot_of(const struct column *column, struct value value) {
	size_t at = value_hash(value) & column->mask;
	while (column->slots[at] && !value_equal(column->values[column->slots[at] - 1].value, value))
		at = (at + 1) & column->mask;
	return at;
}

static void column_rehash(struct column *column) {
	size_t slots = column->slots ? (column->mask + 1) * 2 : 32;
	free(column->slots);
	column->slots = mem_alloc(slots, sizeof *column->slots);
	column->mask = slots - 1;
	for (size_t i = 0; i < column->count; i++)
		column->slots[slot_of(column, column->values[i].value)] = (uint32_t)i + 1;
}

static int column_add(struct column *column, struct value value, size_t slot) {
	if (column->count == column->room) {
		column->room = column->room ? column->room * 2 : 16;
		column->values = mem_grow(column->values, column->room, sizeof *column->values);
	}
	column->values[column->count] = (struct column_value){value, UINT32_MAX};
	column->slots[slot] = (uint32_t)++column->count;
	return (int)(column->last = column->count - 1);
}

int column_place(struct column *column, struct value value) {
	if (column->last < column->count && value_equal(column->values[column->last].value, value))
		return (int)column->last;
	if (!column->slots || column->count * 2 > column->mask)
		column_rehash(column);
	size_t slot = slot_of(column, value);
	if (!column->slots[slot])
		return column_add(column, value, slot);
	return (int)(column->last = column->slots[slot] - 1);
}

void column_free(struct column *column) {
	free(column->values);
	free(column->slots);
}

static int order_listed(const void *left, const void *right, void *context) {
	const struct column *column = context;
	int a = *(const int *)left, b = *(const int *)right;
	const struct column_value *x = &column->values[a], *y = &column->values[b];
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	int order = column->listed ? 0 : domain_order(&x->value, &y->value);
	return order ? order : (a > b) - (a < b);
}

void column_sort(const struct column *column, struct value *sorted, int *place) {
	int *order = mem_alloc(column->count, sizeof *order);
	for (size_t i = 0; i < column->count; i++)
		order[i] = (int)i;
	qsort_r(order, column->count, sizeof *order, order_listed, (void *)column);
	for (size_t i = 0; i < column->count; i++) {
		sorted[i] = column->values[order[i]].value;
		place[order[i]] = (int)i;
	}
	free(order);
}
