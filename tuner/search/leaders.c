/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/search/leaders.h"

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"

enum { FIRST_ROOM = 64, FREEDOM_MIN = 3 };
/* A lead of this many deviations is clear. */
static const double CLEAR = 2;

struct entry {
	uint64_t index;
	double mean; /* of the logarithms */
	size_t times;
};

struct leaders {
	struct entry *entries;
	size_t count, room;
	double squares; /* of the deviations from the means */
	size_t freedom; /* the repeats */
};

struct leaders *leaders_new(void) {
	return mem_alloc(1, sizeof(struct leaders));
}

void leaders_free(struct leaders *leaders) {
	if (leaders)
		free(leaders->entries);
	free(leaders);
}

static struct entry *entry_of(struct leaders *leaders, uint64_t index) {
	for (size_t i = 0; i < leaders->count; i++)
		if (leaders->entries[i].index == index)
			return &leaders->entries[i];
	if (leaders->count == leaders->room) {
		leaders->room = leaders->room ? 2 * leaders->room : FIRST_ROOM;
		leaders->entries = mem_grow(leaders->entries, leaders->room, sizeof *leaders->entries);
	}
	leaders->entries[leaders->count] = (struct entry){.index = index};
	return &leaders->entries[leaders->count++];
}

/* Welford, Note on a method for calculating corrected sums of squares and products, 1962. */
void leaders_note(struct leaders *leaders, uint64_t index, double value) {
	struct entry *entry = entry_of(leaders, index);
	double away = log(value) - entry->mean;
	leaders->freedom += entry->times > 0;
	entry->mean += away / (double)++entry->times;
	if (entry->times > 1)
		leaders->squares += away * (log(value) - entry->mean);
}

double leaders_noise(const struct leaders *leaders) {
	return leaders->freedom ? sqrt(leaders->squares / (double)leaders->freedom) : NAN;
}

static const struct entry *least(const struct leaders *leaders) {
	const struct entry *best = NULL;
	for (size_t i = 0; i < leaders->count; i++)
		if (!best || leaders->entries[i].mean < best->mean)
			best = &leaders->entries[i];
	return best;
}

/* By how many deviations of one measurement the other is behind. */
static double behind(const struct entry *best, const struct entry *other) {
	return (other->mean - best->mean) / sqrt(1 / (double)best->times + 1 / (double)other->times);
}

static const struct entry *challenger_of(const struct leaders *leaders, const struct entry *best) {
	const struct entry *challenger = NULL;
	for (size_t i = 0; i < leaders->count; i++) {
		const struct entry *other = &leaders->entries[i];
		if (other != best && (!challenger || behind(best, other) < behind(best, challenger)))
			challenger = other;
	}
	return challenger;
}

bool leaders_again(const struct leaders *leaders, uint64_t *index) {
	const struct entry *best = least(leaders), *challenger = best ? challenger_of(leaders, best) : NULL;
	if (!challenger)
		return false;
	if (leaders->freedom >= FREEDOM_MIN && behind(best, challenger) > CLEAR * leaders_noise(leaders))
		return false;
	*index = best->times <= challenger->times ? best->index : challenger->index;
	return true;
}

struct leader leaders_best(const struct leaders *leaders) {
	const struct entry *best = NULL;
	double noise = leaders->freedom ? leaders_noise(leaders) : 0, lowest = INFINITY;
	for (size_t i = 0; i < leaders->count; i++) {
		const struct entry *entry = &leaders->entries[i];
		double upper = entry->mean + noise / sqrt((double)entry->times);
		if (best && !(upper < lowest))
			continue;
		best = entry;
		lowest = upper;
	}
	return best ? (struct leader){best->index, exp(best->mean), best->times} : (struct leader){UINT64_MAX, NAN, 0};
}
