/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies to and from a device are different work, and nobody chooses between them: the columns of a table that has both
 * are compared for each direction. */
#include <config.h>

#include <string.h>

#include "base/mem.h"
#include "tuner/study/table_wide.h"

enum { SIDES_LEAST = 2 };
static const char separators[] = "_ -./:";

/* Splits "pinned h2d" into its direction and the rest. False: it lacks one of them, or has two directions. */
static bool name_split(const struct csv *csv, const char *name, const char **direction, const char **rest) {
	char left[TABLE_NAME] = "", *copy = arena_strdup(csv->arena, name), *next = NULL;
	*direction = NULL;
	for (char *word = strtok_r(copy, separators, &next); word; word = strtok_r(NULL, separators, &next)) {
		size_t length = strlen(left);
		bool is = table_among(word, strlen(word), table_direction_words);
		if (is && *direction)
			return false;
		if (is)
			*direction = word;
		else
			snprintf(left + length, sizeof left - length, "%s%s", length ? " " : "", word);
	}
	*rest = arena_strdup(csv->arena, left);
	return *direction && *left;
}

static size_t distinct(const char *const *words, size_t count) {
	size_t found = 0;
	for (size_t i = 0; i < count; i++) {
		size_t before = 0;
		while (before < i && strcmp(words[before], words[i]) != 0)
			before++;
		found += before == i;
	}
	return found;
}

static bool is_pair_twice(const struct wide *split, size_t count) {
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(split->value[i], split->value[j]) == 0 && strcmp(split->direction[i], split->direction[j]) == 0)
				return true;
	return false;
}

void wide_directions_split(const struct csv *csv, struct wide *wide) {
	struct wide split = *wide;
	for (size_t i = 0; i < wide->count; i++)
		if (!name_split(csv, wide->value[i], &split.direction[i], &split.value[i]))
			return;
	size_t values = distinct(split.value, wide->count), directions = distinct(split.direction, wide->count);
	if (values < SIDES_LEAST || directions < SIDES_LEAST || values * directions != wide->count ||
	    is_pair_twice(&split, wide->count))
		return;
	split.directed = true;
	split.parts = 0;
	*wide = split;
}
