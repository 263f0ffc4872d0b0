/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares spaces that one table lists in full with sorting its rows. */
#include "tests/tap.h"
#include "tests/tuner/space/help.h"

struct sheet {
	size_t width, rows, distinct;
	int *cells;
	bool *first; /* first of its duplicates, in sorted order */
	int *sorted;
};

static int order(const void *left, const void *right, void *width) {
	return memcmp(left, right, *(size_t *)width * sizeof(int));
}

/* values[i] for column i; a third of the rows repeat earlier ones. */
static struct sheet sheet_new(struct rng *rng, size_t width, size_t rows, const int *values) {
	struct sheet s = {.width = width, .rows = rows};
	s.cells = mem_alloc(rows * width, sizeof *s.cells);
	for (size_t i = 0; i < rows; i++) {
		size_t twin = i && rng_below(rng, 3) == 0 ? rng_below(rng, i) : i;
		for (size_t j = 0; j < width; j++)
			s.cells[i * width + j] = twin < i ? s.cells[twin * width + j] : (int)rng_below(rng, (uint64_t)values[j]);
	}
	s.sorted = mem_alloc(rows * width, sizeof *s.sorted);
	s.first = mem_alloc(rows, sizeof *s.first);
	memcpy(s.sorted, s.cells, rows * width * sizeof *s.cells);
	qsort_r(s.sorted, rows, width * sizeof *s.sorted, order, &s.width);
	for (size_t i = 0; i < rows; i++) {
		s.first[i] = i == 0 || order(s.sorted + i * width, s.sorted + (i - 1) * width, &s.width) != 0;
		s.distinct += s.first[i];
	}
	return s;
}

static void sheet_clear(struct sheet *s) {
	free(s->cells);
	free(s->sorted);
	free(s->first);
}

static struct space *sheet_space(const struct sheet *s, const int *values) {
	struct space *space = space_new();
	struct err err;
	char names[SPACE_PARAMS_MAX][8], range[32];
	const char *list[SPACE_PARAMS_MAX];
	for (size_t i = 0; i < s->width; i++) {
		snprintf(names[i], sizeof names[i], "p%zu", i);
		snprintf(range, sizeof range, "1..%d", values[i]);
		add_param(space, list[i] = names[i], range, NULL);
	}
	must(space_add_table(space, list, s->width, s->cells, s->rows, &err), &err);
	return built(space);
}

/* Every distinct row must have a number of its own, and the number must give the row back. */
static bool numbers_agree(const struct space *space, const struct sheet *s) {
	bool *seen = mem_alloc(s->distinct, sizeof *seen), good = space_valid(space) == s->distinct;
	int config[SPACE_PARAMS_MAX];
	for (size_t i = 0; i < s->rows && good; i++) {
		uint64_t index = UINT64_MAX;
		const int *row = s->sorted + i * s->width;
		good = space_index(space, row, &index) && index < s->distinct && seen[index] != s->first[i];
		if (!good)
			break;
		seen[index] = true;
		space_config(space, index, config);
		good = memcmp(config, row, s->width * sizeof *row) == 0;
	}
	free(seen);
	return good;
}

static bool row_known(const struct sheet *s, const int *row) {
	size_t low = 0, high = s->rows;
	while (low < high) {
		size_t middle = (low + high) / 2;
		int way = order(s->sorted + middle * s->width, row, (void *)&s->width);
		if (way == 0)
			return true;
		*(way < 0 ? &low : &high) = way < 0 ? middle + 1 : middle;
	}
	return false;
}

static bool strangers_refused(const struct space *space, const struct sheet *s, struct rng *rng, const int *values) {
	int row[SPACE_PARAMS_MAX];
	uint64_t index;
	for (int i = 0; i < 2000; i++) {
		memcpy(row, s->cells + rng_below(rng, s->rows) * s->width, s->width * sizeof *row);
		size_t column = rng_below(rng, s->width);
		row[column] = (int)rng_below(rng, (uint64_t)values[column]);
		if (space_index(space, row, &index) != row_known(s, row))
			return false;
	}
	return true;
}

static void check_sheet(size_t width, size_t rows, const int *values, const char *name) {
	struct rng rng;
	rng_seed(&rng, width * rows);
	struct sheet s = sheet_new(&rng, width, rows, values);
	struct space *space = sheet_space(&s, values);
	ok(space_valid(space) == s.distinct, "%s: %zu rows, %zu of them distinct (%llu)", name, rows, s.distinct,
	   (unsigned long long)space_valid(space));
	ok(numbers_agree(space, &s), "%s: numbers and rows go back and forth", name);
	ok(strangers_refused(space, &s, &rng, values), "%s: other rows do not have a number", name);
	space_free(space);
	sheet_clear(&s);
}

static void test_shapes(void) {
	static const int some[] = {1, 1, 5, 3, 1, 7, 2, 4, 1};
	int many[SPACE_PARAMS_MAX], wide[3] = {4000, 1, 900};
	for (int i = 0; i < SPACE_PARAMS_MAX; i++)
		many[i] = 2 + i % 9;
	check_sheet(9, 500, some, "a few parameters, some with one value");
	check_sheet(SPACE_PARAMS_MAX, 3000, many, "64 parameters, over 64 bits a row");
	check_sheet(3, 20000, wide, "many values");
	check_sheet(11, 100000, many, "100000 rows");
	check_sheet(1, 50, wide, "one parameter");
	check_sheet(5, 1, many, "one row");
}

static void test_rules(void) {
	static const char *const names[] = {"level", "on"};
	static const int rows[] = {SPACE_ABSENT, 0, 0, 1, 1, 1, 2, 1, 1, 0, SPACE_ABSENT, 1};
	struct space *space = space_new();
	struct err err;
	add_param(space, "level", "1,2,3", "on == 1");
	add_param(space, "on", "0,1", NULL);
	add_constraint(space, "level != 2");
	must(space_add_table(space, names, 2, rows, 6, &err), &err);
	built(space);
	ok(space_valid(space) == 3, "rows that break a condition or a constraint are left out (%llu)",
	   (unsigned long long)space_valid(space));
	space_free(space);
}

static void test_limits(void) {
	enum { ROWS = (1 << 20) + 1 };
	static const char *const names[] = {"a", "b"};
	int *rows = mem_alloc(2 * ROWS, sizeof *rows);
	struct err err = {0};
	struct space *space = space_new();
	add_param(space, "a", "1", NULL);
	add_param(space, "b", "1", NULL);
	ok(space_add_table(space, names, 2, rows, (size_t)SPACE_ROWS_MAX + 1, &err) != 0, "too many rows: %s", err.what);
	must(space_add_table(space, names, 1, rows, ROWS, &err), &err);
	ok(space_build(space, &err) != 0 && err.code == ERR_USAGE, "too many for some parameters: %s", err.what);
	space_free(space);
	space = space_new();
	add_param(space, "a", "1", NULL);
	add_param(space, "b", "1", NULL);
	must(space_add_table(space, names, 2, rows, ROWS, &err), &err);
	ok(space_valid(built(space)) == 1, "a million duplicates are one configuration");
	space_free(space);
	free(rows);
}

int main(void) {
	test_shapes();
	test_rules();
	test_limits();
	return tap_done();
}
