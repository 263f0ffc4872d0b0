/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds ceilings that are too low. A level cannot be faster than the one above it, copying cannot be much faster than
 * reading, and a team cannot be much slower than a part of it: where that was measured, the rate that should be the
 * higher one was disturbed, because no disturbance makes a rate too high. */
#include <math.h>
#include <string.h>

#include "src/cmd/machine/ceilings.h"

/* Between levels for noise; the other one allows for stores past the caches, which one thread can keep more of in
 * flight than of loads. */
static const double ABOVE = 1.25, COPIED = 1.5;
/* For lower clocks of many cores, and threads that share a core or the memory's channels. */
static const double FEWER = 1.5;

static bool is_bandwidth(const struct ceiling_item *item) {
	return !item->device && item->kind->group == CEILING_BANDWIDTH && item->level;
}

static int level_of(const struct ceiling_item *item) {
	int level = 0;
	while (ceiling_levels[level] && strcmp(ceiling_levels[level], item->level) != 0)
		level++;
	return level;
}

/* The better one of plain and streaming stores is the ceiling. */
static double value_of(const struct ceiling_item *items, size_t count, const struct ceiling_item *like) {
	double best = NAN;
	for (size_t i = 0; i < count; i++)
		if (is_bandwidth(&items[i]) && items[i].kind == like->kind && items[i].threads == like->threads &&
		    items[i].level == like->level)
			best = fmax(best, items[i].value);
	return best;
}

static bool is_rate(const struct ceiling_item *item) {
	return is_bandwidth(item) || (!item->device && item->kind->group == CEILING_PEAK);
}

/* Is b the same of fewer threads? */
static bool is_part(const struct ceiling_item *a, const struct ceiling_item *b) {
	return is_rate(a) && is_rate(b) && a->kind == b->kind && a->level == b->level && b->threads < a->threads;
}

/* Does b show that a is too low? */
static bool contradicts(const struct ceiling_item *items, size_t count, const struct ceiling_item *a,
                        const struct ceiling_item *b) {
	if (is_part(a, b))
		return b->value > FEWER * (is_bandwidth(a) ? value_of(items, count, a) : a->value);
	if (!is_bandwidth(a) || !is_bandwidth(b) || a->threads != b->threads)
		return false;
	double one = value_of(items, count, a), other = value_of(items, count, b);
	if (a->kind == b->kind)
		return level_of(a) < level_of(b) && other > ABOVE * one;
	return a->level == b->level && strcmp(a->kind->name, "read") == 0 && other > COPIED * one;
}

size_t ceilings_unsteady(struct ceiling_item *items, size_t count) {
	size_t unsteady = 0;
	for (size_t i = 0; i < count; i++)
		items[i].unsteady = false;
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++)
			if (contradicts(items, count, &items[i], &items[j]))
				items[i].unsteady = true;
	for (size_t i = 0; i < count; i++)
		unsteady += items[i].unsteady;
	return unsteady;
}

/* The highest rate that is left need not be the highest of this machine, so times must not be judged by it. */
static void others_doubt(struct ceiling_item *items, size_t count, enum ceiling_group group) {
	for (size_t i = 0; i < count; i++)
		if (is_rate(&items[i]) && items[i].kind->group == group)
			items[i].disturbed = true;
}

size_t ceilings_unsteady_drop(struct ceiling_item *items, size_t count) {
	size_t unsteady = ceilings_unsteady(items, count);
	for (size_t i = 0; i < count; i++) {
		if (!items[i].unsteady)
			continue;
		items[i].value = NAN;
		others_doubt(items, count, items[i].kind->group);
	}
	return unsteady;
}
