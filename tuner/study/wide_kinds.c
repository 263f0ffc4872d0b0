/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds of columns that a wide table has: versions, schedules, operations, directions of copies, or parts of a
 * time. */
#include "tuner/study/study_impl.h"

/* Copies to and from a device are different work, and nobody chooses between them: the columns of a table that has both
 * are compared for each direction. */
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

/* "pinned H2D, pinned D2H, pageable H2D, pageable D2H": takes the direction out of the values, if each occurs with
 * each. */
static void wide_directions_split(const struct csv *csv, struct wide *wide) {
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

/* Called parts only where other columns are. */
static const char beside_words[] = "kernel kernels gpu cpu host device calculation calc rest other";

static bool all_words(const struct wide *wide, const char *words) {
	for (size_t i = 0; i < wide->count; i++)
		for (const char *at = wide->value[i]; *at;) {
			size_t length = strcspn(at, separators);
			if (!table_among(at, length, words))
				return false;
			at += length + (at[length] != '\0');
		}
	return true;
}

/* The operations on a data structure or a memory are part of the problem: nobody chooses to look up instead of
 * inserting. */
static const char operation_words[] =
	"insert insertion lookup find search contains add remove delete erase update get put set push pop enqueue dequeue "
	"read write copy scale triad load store hit miss build query encode decode compress decompress compression "
	"decompression encoding decoding forward backward fwd bwd training inference prefill prompt eval evaluation "
	"generation generate";

static const char *name_of_words(const struct wide *wide) {
	return all_words(wide, "static dynamic guided auto")         ? "schedule"
	       : all_words(wide, "strong weak scaling time runtime") ? "test"
	       : all_words(wide, operation_words)                    ? "operation"
	                                                             : "version";
}

/* "kernel" and "host" are parts beside others, and versions alone. */
static void parts_count(struct wide *wide) {
	size_t others = 0;
	for (size_t i = 0; i < wide->count; i++)
		others += !table_is_part(wide->value[i]) && table_among(wide->value[i], strlen(wide->value[i]), beside_words);
	wide->parts += wide->parts ? others : 0;
}

/* How long each request takes is a figure beside how many there are, but not that of each of two machines. */
static bool are_latencies(const struct csv *csv, const struct wide *wide) {
	bool rate = false;
	struct table_name name;
	double number;
	for (size_t c = 0; c < csv->columns && !rate; c++) {
		table_name_read(csv->header[c], &name);
		rate = name.measure == MEASURE_RATE && !table_is_statistic(&name) && csv->rows &&
		       table_number(csv, csv_cell(csv, 0, c), false, &number);
	}
	for (size_t i = 0; i < wide->count; i++)
		rate = rate && table_has_word(wide->value[i], "lat latency latencies") &&
		       !table_has_word(wide->value[i], "cpu gpu serial parallel");
	return rate;
}

bool wide_kinds(const struct csv *csv, struct wide *wide, enum table_measure measure) {
	if (measure == MEASURE_TIME && are_latencies(csv, wide))
		return false;
	wide->name = name_of_words(wide);
	parts_count(wide);
	wide_directions_split(csv, wide);
	/* Parts of a time are not alternatives; their sum is the time, if all of them are parts. Rates do not add up. */
	wide->sum = measure == MEASURE_TIME && wide->parts == wide->count;
	return true;
}
