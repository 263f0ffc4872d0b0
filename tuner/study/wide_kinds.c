/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds of columns that a wide table has: teams, sizes, versions, schedules, operations, directions of copies, or
 * parts of a time. */
#include <math.h>

#include "tuner/study/study_impl.h"

/* Copies to and from a device are different work, and nobody chooses between them: the columns of a table that has both
 * are compared for each direction. */
enum { SIDES_LEAST = 2 };
static const char separators[] = "_ -./:";

/* Splits "pinned h2d" into the one of the words and the rest. False: it lacks one of them, or has two of the words. */
static bool name_split(const struct csv *csv, const char *name, const char *words, const char **direction,
                       const char **rest) {
	char left[TABLE_NAME] = "", *copy = arena_strdup(csv->arena, name), *next = NULL;
	*direction = NULL;
	for (char *word = strtok_r(copy, separators, &next); word; word = strtok_r(NULL, separators, &next)) {
		size_t length = strlen(left);
		bool is = table_among(word, strlen(word), words);
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
 * each; of "cpu update, cpu extract, gpu update, gpu extract" what both do. */
static bool both_split(const struct csv *csv, struct wide *wide, const char *words, bool keep) {
	struct wide split = *wide;
	const char **word = keep ? split.value : split.direction, **rest = keep ? split.direction : split.value;
	for (size_t i = 0; i < wide->count; i++)
		if (!name_split(csv, wide->value[i], words, &word[i], &rest[i]))
			return false;
	size_t values = distinct(split.value, wide->count), directions = distinct(split.direction, wide->count);
	if (values < SIDES_LEAST || directions < SIDES_LEAST || values * directions != wide->count ||
	    is_pair_twice(&split, wide->count))
		return false;
	split.directed = true;
	split.parts = 0;
	*wide = split;
	return true;
}

/* Called parts only where other columns are. */
static const char beside_words[] = "kernel kernels exec execution t gpu cpu host device calculation calc rest other";

static bool is_of_words(const char *name, const char *words) {
	for (const char *at = name; *at;) {
		size_t length = strcspn(at, separators);
		if (!table_among(at, length, words))
			return false;
		at += length + (at[length] != '\0');
	}
	return true;
}

static bool all_words(const struct wide *wide, const char *words) {
	bool all = true;
	for (size_t i = 0; i < wide->count && all; i++)
		all = is_of_words(wide->value[i], words);
	return all;
}

/* The operations on a data structure or a memory are part of the problem: nobody chooses to look up instead of
 * inserting. */
static const char operation_words[] =
	"insert insertion lookup find search contains add remove delete erase update get put set push pop enqueue dequeue "
	"read write copy scale triad load store hit miss build query encode decode compress decompress compression "
	"decompression encoding decoding forward backward fwd bwd training train inference predict prediction fit prefill "
	"prompt eval evaluation "
	"generation generate time";

bool table_is_operation(const char *name) {
	return is_of_words(name, operation_words);
}

/* Well-known programs: nobody chooses one instead of another. */
static const char program_words[] =
	"mandelbrot julia convolution convolucion convolucao matmul gemm matrix multiplication multiply product transpose "
	"nbody n body fft sort heat jacobi stencil life pi primes sieve queens knapsack histogram scan fibonacci lu blur "
	"sobel";

static const char *name_of_words(const struct wide *wide) {
	return all_words(wide, "static dynamic guided auto")         ? "schedule"
	       : all_words(wide, "strong weak scaling time runtime") ? "test"
	       : all_words(wide, operation_words)                    ? "operation"
	       : all_words(wide, program_words)                      ? "program"
	                                                             : "version";
}

/* "kernel" and "host" are parts beside others, and versions alone. */
static void parts_count(struct wide *wide) {
	size_t others = 0;
	for (size_t i = 0; i < wide->count; i++)
		others += !table_is_part(wide->value[i]) && is_of_words(wide->value[i], beside_words);
	wide->parts += wide->parts ? others : 0;
}

/* How long each request takes is a figure beside how many there are, but not that of each of two machines. */
static bool are_latencies(const struct csv *csv, const struct wide *wide) {
	bool rate = false;
	struct table_name name;
	for (size_t c = 0; c < csv->columns && !rate; c++) {
		table_name_read(csv->header[c], &name);
		rate =
			name.measure == MEASURE_RATE && !table_is_statistic(&name) && csv->rows && isfinite(table_own(csv, 0, c));
	}
	for (size_t i = 0; i < wide->count; i++)
		rate = rate && table_has_word(wide->value[i], "lat latency latencies") &&
		       !table_has_word(wide->value[i], "cpu gpu serial parallel");
	return rate;
}

/* The version that a time is a part of, as "omp scan" is of "omp total", which no row exceeds. SIZE_MAX: it is a part
 * of none; the number of columns: of one that nothing names. */
static size_t whole_of(const struct csv *csv, const struct wide *wide, size_t at) {
	size_t found = SIZE_MAX;
	const char *name = wide->value[at];
	for (size_t i = 0; i < wide->count; i++) {
		const char *other = arena_strdup(csv->arena, wide->value[i]);
		size_t rows = 0;
		for (size_t r = 0; r < csv->rows && table_has_word(other, "total all"); r++)
			rows += table_own(csv, r, wide->column[at]) <= table_own(csv, r, wide->column[i]);
		if (!rows || rows < csv->rows || table_has_word(name, "total all") || table_has_word(name, table_serial_words))
			continue;
		found = found == SIZE_MAX ? wide->count : found;
		char *rest = NULL;
		for (char *word = strtok_r(arena_strdup(csv->arena, other), separators, &rest); word;
		     word = strtok_r(NULL, separators, &rest))
			found =
				!table_among(word, strlen(word), "total all mean avg time t") && table_has_word(name, word) ? i : found;
	}
	return found;
}

/* Takes the parts of versions out of these. */
static void parts_take(const struct csv *csv, struct wide *wide) {
	size_t whole[CSV_COLUMNS_MAX], kept = 0;
	for (size_t i = 0; i < wide->count; i++)
		whole[i] = whole_of(csv, wide, i);
	for (size_t i = 0; i < wide->count; i++) {
		size_t before = 0;
		for (size_t w = 0; w < whole[i] && whole[i] < wide->count; w++)
			before += whole[w] == SIZE_MAX;
		if (whole[i] != SIZE_MAX) {
			wide->part_of[wide->column[i]] = whole[i] < wide->count ? before + 1 : SIZE_MAX;
			wide->parts -= wide->parts && table_is_part(wide->value[i]);
			continue;
		}
		wide->column[kept] = wide->column[i];
		wide->value[kept++] = wide->value[i];
	}
	wide->count = kept;
}

static const char *last_word(const char *name) {
	const char *last = name;
	for (const char *at = name; *at; at++)
		last = strchr(separators, *at) ? at + 1 : last;
	return last;
}

/* "seq_mean" and "omp_mean" are the versions seq and omp. */
static void middles_cut(const struct csv *csv, struct wide *wide) {
	bool all = wide->count > 1;
	for (size_t i = 0; i < wide->count && all; i++) {
		const char *last = last_word(wide->value[i]);
		all = last > wide->value[i] + 1 && table_among(last, strlen(last), table_middle_words);
	}
	for (size_t i = 0; i < wide->count && all; i++)
		wide->value[i] =
			arena_printf(csv->arena, "%.*s", (int)(last_word(wide->value[i]) - wide->value[i]) - 1, wide->value[i]);
}

/* How much less a time is that falls; sizes whose values grow by more than this power are none of a team's rates. */
enum { TEAMS_LEAST = 3, TEAM_MOST = 1024, SIZE_LEAST = 8, ROWS_LEAST = 3 };
static const double FALLEN = 1.5, POWER_LEAST = 1.2, QUOTIENT = 0.02;

/* The column of one member: the first, or that of serial code. */
static size_t first_of(const struct csv *csv, const struct wide *wide) {
	size_t found = wide->column[0];
	for (size_t c = 0; c < csv->columns && strcmp(wide->value[0], "1") != 0; c++)
		found = table_has_word(csv->header[c], table_serial_words) ? c : found;
	return found;
}

/* Do the times of a row fall from one member on as those of a team may? */
static bool row_falls(const struct csv *csv, const struct wide *wide, size_t row) {
	double first = table_positive(csv, row, first_of(csv, wide)), least = first;
	for (size_t i = 0; i < wide->count; i++) {
		double own = table_positive(csv, row, wide->column[i]), members = strtod(wide->value[i], NULL);
		if (table_exceeds_team(first / own, members))
			return false;
		least = fmin(least, own);
	}
	return first >= FALLEN * least;
}

static const char *name_by_law(const struct csv *csv, const struct wide *wide) {
	double before = 0, last = strtod(wide->value[wide->count - 1], NULL), first = strtod(wide->value[0], NULL);
	size_t fall = 0, grow = 0;
	for (size_t i = 0; i < wide->count; i++) {
		double own = strtod(wide->value[i], NULL);
		if (!(own > before))
			return NULL;
		before = own;
	}
	for (size_t r = 0; r < csv->rows; r++) {
		size_t small = wide->column[0], large = wide->column[wide->count - 1];
		fall += row_falls(csv, wide, r);
		grow += table_positive(csv, r, large) / table_positive(csv, r, small) >= pow(last / first, POWER_LEAST);
	}
	bool enough = wide->count >= TEAMS_LEAST && csv->rows > 0;
	return enough && (first == 1 || first_of(csv, wide) != wide->column[0]) && last <= TEAM_MOST && fall == csv->rows
	           ? "threads"
	       : enough && first >= SIZE_LEAST && grow == csv->rows ? "size"
	                                                            : NULL;
}

/* Times or rates, if a column is the speed-up of one over another. */
static enum table_measure told_by_speedup(const struct csv *csv, const struct wide *wide) {
	for (size_t c = 0; c < csv->columns && csv->rows >= ROWS_LEAST; c++)
		for (size_t i = 0; i < wide->count * wide->count && table_has_word(csv->header[c], "speedup"); i++) {
			size_t over = i / wide->count, under = i % wide->count;
			if (wide->column[over] == c || wide->column[under] == c || over == under ||
			    !table_is_quotient(csv, c, wide->column[over], wide->column[under], QUOTIENT))
				continue;
			/* The time that is improved on stands first, and so does the smaller team. Versions stand in any order. */
			bool teams = wide->name && (table_is_team(wide->name) || table_has_word(wide->name, "node nodes"));
			return over < under ? MEASURE_TIME : teams ? MEASURE_RATE : MEASURE_NONE;
		}
	return MEASURE_NONE;
}

bool wide_kinds(const struct csv *csv, struct wide *wide, enum table_measure measure) {
	wide->told = measure == MEASURE_NONE ? told_by_speedup(csv, wide) : MEASURE_NONE;
	if (wide->numbered) {
		wide->name = wide->name ? wide->name : name_by_law(csv, wide);
		return wide->name;
	}
	if (measure == MEASURE_TIME && are_latencies(csv, wide))
		return false;
	parts_take(csv, wide);
	middles_cut(csv, wide);
	wide->name = name_of_words(wide);
	parts_count(wide);
	if (!both_split(csv, wide, table_direction_words, false))
		both_split(csv, wide, "cpu gpu", true);
	/* Parts of a time are not alternatives; their sum is the time, if all of them are parts. Rates do not add up. */
	wide->sum = measure == MEASURE_TIME && wide->parts == wide->count;
	return true;
}
