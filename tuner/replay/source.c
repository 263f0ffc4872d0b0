/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/replay/source.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/replay/replay.h"

/* For every parameter of the space: the parameter of the same name in the other space, and the place of each of that
 * parameter's values. */
struct mapping {
	const struct space *from, *to;
	int param[SPACE_PARAMS_MAX]; /* -1: the other space lacks the name */
	int *places[SPACE_PARAMS_MAX];
};

enum { NO_PLACE = -2 };

static int place_find(const struct space *space, size_t param, struct value value) {
	for (size_t i = 0; i < space_param_values(space, param); i++)
		if (value_equal(space_param_value(space, param, i), value))
			return (int)i;
	return NO_PLACE;
}

static void param_map(struct mapping *mapping, size_t param, struct arena *arena) {
	int other = space_param_find(mapping->from, space_param_name(mapping->to, param));
	size_t values = other < 0 ? 0 : space_param_values(mapping->from, (size_t)other);
	mapping->param[param] = other;
	mapping->places[param] = arena_alloc(arena, values + 1, sizeof **mapping->places);
	for (size_t i = 0; i < values; i++)
		mapping->places[param][i] = place_find(mapping->to, param, space_param_value(mapping->from, (size_t)other, i));
}

/* A parameter that the other configuration lacks has its only value, or is absent. */
static int place_of(const struct mapping *mapping, size_t param, const int *config) {
	int other = mapping->param[param], place = other < 0 ? SPACE_ABSENT : config[other];
	if (place != SPACE_ABSENT)
		return mapping->places[param][place];
	return !space_param_when(mapping->to, param) && space_param_values(mapping->to, param) == 1 ? 0 : SPACE_ABSENT;
}

static bool index_map(const struct mapping *mapping, uint64_t from, uint64_t *to) {
	int old[SPACE_PARAMS_MAX], config[SPACE_PARAMS_MAX];
	space_config(mapping->from, from, old);
	for (size_t param = 0; param < space_params(mapping->to); param++) {
		config[param] = place_of(mapping, param, old);
		if (config[param] == NO_PLACE)
			return false;
	}
	return space_index(mapping->to, config, to);
}

struct pair {
	uint64_t to, from;
	double value;
	bool failed;
};

static int by_place_then_value(const void *a, const void *b) {
	const struct pair *x = a, *y = b;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->failed != y->failed)
		return x->failed ? 1 : -1;
	if (!x->failed && x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static size_t pairs_make(const struct mapping *mapping, const struct record *from, struct pair *pairs) {
	size_t count = 0;
	for (uint64_t i = 0; i < space_valid(from->space); i++) {
		const struct record_row *row = &from->rows[i];
		struct pair pair = {.from = i, .value = row->value, .failed = row->status != RECORD_CORRECT};
		if (index_map(mapping, i, &pair.to))
			pairs[count++] = pair;
	}
	qsort(pairs, count, sizeof *pairs, by_place_then_value);
	return count;
}

struct strategy_source replay_source(const struct record *from, const struct space *space, const char *name,
                                     struct arena *arena) {
	struct mapping mapping = {.from = from->space, .to = space};
	struct pair *pairs = mem_alloc(space_valid(from->space), sizeof *pairs);
	for (size_t param = 0; param < space_params(space); param++)
		param_map(&mapping, param, arena);
	size_t found = pairs_make(&mapping, from, pairs), count = 0;
	uint64_t *index = arena_alloc(arena, found + 1, sizeof *index);
	struct strategy_outcome *outcome = arena_alloc(arena, found + 1, sizeof *outcome);
	for (size_t i = 0; i < found; i++) {
		if (i && pairs[i].to == pairs[i - 1].to)
			continue;
		index[count] = pairs[i].to;
		outcome[count++] = replay_outcome(&from->rows[pairs[i].from], false);
	}
	free(pairs);
	return (struct strategy_source){.name = name, .count = count, .index = index, .outcome = outcome};
}
