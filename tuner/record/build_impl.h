/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files that build a record. */
#ifndef TUNER_RECORD_BUILD_IMPL_H
#define TUNER_RECORD_BUILD_IMPL_H
#include "tuner/record/build.h"

enum { COUNTERS_MAX = 4096 };

struct column_value {
	struct value value;
	uint32_t rank; /* its place in the file's list, else UINT32_MAX */
};

struct column {
	const char *name;
	size_t name_size;
	struct column_value *values;
	size_t count, room, last;
	uint32_t *slots; /* place + 1, open addressing; a power of two */
	size_t mask;
	uint32_t listed; /* how many values the file lists */
};

struct raw_row {
	struct record_row row;
	const int *places; /* in the columns that were known then */
	uint32_t place_count, counter_count;
};

struct build {
	struct arena *scratch;
	struct record *record;
	struct column columns[SPACE_PARAMS_MAX];
	size_t column_count;
	struct scan_text counters[COUNTERS_MAX]; /* as they stand in the file */
	const char *counter_names[COUNTERS_MAX];
	size_t counter_count, counter_next; /* counters come in the same order in every row */
	struct raw_row *rows;
	size_t row_count, row_room;
	/* The row under construction. */
	struct record_row row;
	int places[SPACE_PARAMS_MAX];
	struct scan_reals samples;
	double *counts;
	size_t count_room;
	bool counted;
};

/* The place of the value, which is added if it is new. */
int column_place(struct column *column, struct value value);
void column_free(struct column *column);
/* Copies the values to `sorted`, by rank, or by their order if the file lists none, and their new places to `place`. */
void column_sort(const struct column *column, struct value *sorted, int *place);
/* Makes the space, and puts the rows in the order of its index. */
int build_space(struct build *build, struct err *err);
/* An expression that holds exactly in the rows that have the parameter; NULL if none was found. */
const char *build_condition(const struct build *build, size_t column);
void build_figures(struct record *record);

#endif
