/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wide tables have a column of times for each value of something: "threads,mutex,spin", "n,1 thread,2 threads", or
 * "run 1,run 2". Decides which columns these are, and what they are values of. */
#include <math.h>
#include <strings.h>

#include "tuner/study/study_impl.h"

/* Copies to and from a device are different work, and nobody chooses between them: the columns of a table that has both
 * are compared for each direction. */
enum { SIDES_LEAST = 2, PRUNED_MOST = 16 };
static const double ROUNDED = 0.03;
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
static const char repeat_words[] = "run trial rep repetition sample measurement attempt try time";

static bool is_numbers(const struct csv *csv, size_t column) {
	double number;
	bool some = false;
	for (size_t r = 0; r < csv->rows; r++) {
		bool own = table_number(csv, csv_cell(csv, r, column), false, &number);
		if (!own && !table_is_missing(csv_cell(csv, r, column)))
			return false;
		some = some || own;
	}
	return some;
}

/* The one value of a header such as "4 threads", "threads=4", "p4", "64x64" or "4": its number, and the word in the
 * singular. */
static bool header_split(const char *header, char word[TABLE_NAME], char number[TABLE_NAME]) {
	char key[TABLE_NAME], *digits;
	size_t length = 0;
	table_words_join(header, key);
	digits = key + strcspn(key, "0123456789");
	size_t count = strspn(digits, "0123456789"), all = count, square;
	if (!count)
		return false;
	snprintf(number, TABLE_NAME, "%.*s", (int)count, digits);
	if (table_side(digits, &square))
		all = square;
	for (const char *at = key; *at; at++)
		if (at < digits || at >= digits + all)
			word[length++] = *at;
	if (all > count && !length)
		length = (size_t)snprintf(word, TABLE_NAME, "size");
	word[length] = '\0';
	while (length && word[length - 1] == '_')
		word[--length] = '\0';
	memmove(word, word + strspn(word, "_"), strlen(word + strspn(word, "_")) + 1);
	length = strlen(word);
	if (length > 2 && word[length - 1] == 's' && word[length - 2] != 's')
		word[length - 1] = '\0';
	return !strpbrk(word, "0123456789");
}

static bool is_same_measure(const struct table_name *a, const struct table_name *b) {
	return a->measure == b->measure && a->scale == b->scale && strcmp(a->per, b->per) == 0;
}

/* Numbers from 1 without a gap count runs; 1, 2, 4, 8 are teams. */
static bool is_counting(const struct wide *wide) {
	for (size_t i = 0; i < wide->count; i++)
		if (strtod(wide->value[i], NULL) != (double)(i + 1))
			return false;
	return true;
}

static const char *name_of_word(const struct csv *csv, const char *word) {
	char plural[TABLE_NAME + 1];
	if (table_is_threads(word) ||
	    table_has_word(word, "thread threads core cores openmp omp openmpi pthread pthreads") ||
	    strcmp(word, "t") == 0 || strcmp(word, "p") == 0)
		return "threads";
	snprintf(plural, sizeof plural, "%ss", word);
	bool known = table_is_parameter(word) || table_is_problem(word);
	return arena_strdup(csv->arena, !known && (table_is_parameter(plural) || table_is_problem(plural)) ? plural : word);
}

/* A letter may be the name of a version; "v1" and "version 2" are words, and so is "O3". */
static bool is_name_of_numbers(const char *word, bool counting) {
	if (strlen(word) == 1)
		return strchr("tpnmkb", *word) && !counting;
	return !table_among(word, strlen(word), "version variant implementation impl ver case test kernel code");
}

/* "-O2" and "-O3" of one compiler beside a column of another are names, not numbers. */
static bool others_timed(const struct csv *csv, const struct wide *wide) {
	struct table_name name;
	size_t timed = 0, own = 0;
	for (size_t c = 0; c < csv->columns; c++) {
		table_name_read(csv->header[c], &name);
		timed += name.measure == MEASURE_TIME && is_numbers(csv, c) && !table_is_statistic(&name);
	}
	for (size_t i = 0; i < wide->count; i++) {
		table_name_read(csv->header[wide->column[i]], &name);
		own += name.measure == MEASURE_TIME;
	}
	return timed > own;
}

/* Serial code beside columns of teams. Its column becomes the last one; false if it fits nowhere. */
static bool serial_add(const struct csv *csv, const struct table_name *one, struct wide *wide) {
	struct table_name name;
	for (size_t c = 0; c < csv->columns; c++) {
		table_name_read(csv->header[c], &name);
		if (!is_numbers(csv, c) || !table_has_word(csv->header[c], table_serial_words))
			continue;
		if (wide->with_serial || !wide->name || strcmp(wide->name, "threads") != 0 ||
		    (name.measure != MEASURE_NONE && !is_same_measure(one, &name)))
			return false;
		wide->with_serial = true;
		wide->column[wide->count] = c;
		wide->value[wide->count++] = "";
	}
	return true;
}

/* Columns whose headers are a number and the same word. */
static bool numbered_find(const struct csv *csv, struct wide *wide) {
	char word[TABLE_NAME], first[TABLE_NAME] = "", number[TABLE_NAME];
	struct table_name one, name;
	for (size_t c = 0; c < csv->columns; c++) {
		table_name_read(csv->header[c], &name);
		if (!is_numbers(csv, c) || !header_split(csv->header[c], word, number) ||
		    (wide->count && (strcmp(word, first) != 0 || !is_same_measure(&one, &name))))
			continue;
		if (wide->count == 0) {
			one = name;
			snprintf(first, sizeof first, "%s", word);
		}
		wide->column[wide->count] = c;
		wide->value[wide->count++] = arena_strdup(csv->arena, number);
	}
	if (wide->count < 2 || others_timed(csv, wide))
		return false;
	bool counting = is_counting(wide);
	if (counting && table_among(first, strlen(first), repeat_words))
		wide->repeats = true;
	else if (*first)
		wide->name = name_of_word(csv, first);
	else
		wide->unnamed = true;
	return (!*first || is_name_of_numbers(first, counting)) && serial_add(csv, &one, wide);
}

/* "N=1024, B=16": two keys, of which each column has both. */
static bool keys_split(const struct csv *csv, const char *header, const char *key[2], const char *value[2]) {
	char *copy = arena_strdup(csv->arena, header), *rest = NULL;
	size_t count = 0;
	for (char *word = strtok_r(copy, ",;/& ", &rest); word; word = strtok_r(NULL, ",;/& ", &rest)) {
		char *equals = strchr(word, '=');
		if (!equals || equals == word || !equals[1] || count == 2)
			return false;
		*equals = '\0';
		key[count] = word;
		value[count++] = equals + 1;
	}
	return count == 2;
}

static bool keyed_find(const struct csv *csv, struct wide *wide) {
	const char *first[2] = {NULL, NULL}, *key[2], *value[2];
	*wide = (struct wide){0};
	for (size_t c = 0; c < csv->columns; c++) {
		if (!is_numbers(csv, c) || !keys_split(csv, csv->header[c], key, value))
			continue;
		if (wide->count && (strcmp(key[0], first[0]) != 0 || strcmp(key[1], first[1]) != 0))
			return false;
		memcpy(first, key, sizeof first);
		wide->column[wide->count] = c;
		wide->value[wide->count] = value[0];
		wide->direction[wide->count++] = value[1];
	}
	wide->name = first[0] ? name_of_word(csv, first[0]) : NULL;
	wide->other = first[1] ? name_of_word(csv, first[1]) : NULL;
	wide->directed = true;
	return wide->count >= 2;
}

/* The columns that the user calls versions. */
static bool asked_find(const struct csv *csv, const struct study_reading *reading, struct wide *wide) {
	struct table_name name;
	*wide = (struct wide){.name = "version"};
	for (size_t c = 0; c < csv->columns; c++)
		for (size_t i = 0; i < reading->version_count; i++)
			if (strcasecmp(csv->header[c], reading->versions[i]) == 0 && wide->count < CSV_COLUMNS_MAX) {
				table_name_read(csv->header[c], &name);
				wide->column[wide->count] = c;
				wide->value[wide->count++] = *name.base ? arena_strdup(csv->arena, name.base) : csv->header[c];
			}
	return wide->count >= 2;
}

/* Numbers that nobody knows are not times: their names say that they are, or which version they are of, or a comment
 * says what all numbers are. */
static const char *noted_unit(const struct csv *csv, struct table_name *unit);
static bool may_be_time(const struct csv *csv, const char *header) {
	static const char versions[] =
		"serial sequential seq parallel openmp omp pthreads pthread mpi cuda hip opencl gpu cpu cilk tbb naive simple "
		"basic baseline reference original tiled blocked unrolled vectorized simd sse avx avx2 avx512 optimized "
		"optimised "
		"static dynamic guided auto mutex spin spinlock atomic critical tas ttas clh mcs lockfree blas openblas mkl "
		"cublas "
		"gcc clang icc icx o0 o1 o2 o3 t ijk ikj jik jki kij kji";
	struct table_name unit;
	char key[TABLE_NAME];
	table_words_join(header, key);
	return table_has_word(key, "time zeit runtime laufzeit walltime elapsed duration") ||
	       table_has_word(key, versions) || noted_unit(csv, &unit);
}

static bool is_candidate(const struct csv *csv, size_t column, enum table_measure measure) {
	struct table_name name;
	table_name_read(csv->header[column], &name);
	if (!is_numbers(csv, column) || table_is_statistic(&name))
		return false;
	if (measure == MEASURE_RATE)
		return name.measure == MEASURE_RATE;
	if (*name.per)
		return false;
	bool serial = name.measure == MEASURE_NONE && table_has_word(csv->header[column], table_serial_words);
	if (measure == MEASURE_TIME)
		return name.measure == MEASURE_TIME || serial;
	return name.measure == MEASURE_NONE && may_be_time(csv, csv->header[column]) &&
	       !table_is_problem(csv->header[column]) && !table_is_parameter(csv->header[column]) &&
	       !table_is_counter(csv->header[column]) && !table_is_figure(csv->header[column]) &&
	       !table_is_count(csv->header[column]);
}

static bool is_time_of_all(const char *header) {
	struct table_name name;
	table_name_read(header, &name);
	return table_time_rank(&name) >= 0 && !table_is_statistic(&name);
}

/* Columns before the times are what the times belong to; nothing is known about other numbers. */
static bool is_key(const struct csv *csv, size_t column, const struct wide *wide) {
	return wide->count == 0 || table_is_problem(csv->header[column]) || table_is_parameter(csv->header[column]) ||
	       !is_numbers(csv, column);
}

/* Adds a column; false if it is not measured as the others are. Serial code may lack the unit that the others have. */
static bool named_add(const struct csv *csv, size_t column, struct wide *wide) {
	struct table_name name;
	table_name_read(csv->header[column], &name);
	bool first = wide->count == 0 || wide->measure.measure == MEASURE_NONE;
	const char *word = *name.base ? name.base : csv->header[column];
	if (strncmp(word, "time ", 5) == 0 && word[5])
		word += 5;
	if (!first && name.measure != MEASURE_NONE && !is_same_measure(&wide->measure, &name))
		return false;
	if (first)
		wide->measure = name;
	wide->parts += table_is_part(word);
	wide->column[wide->count] = column;
	wide->value[wide->count++] = arena_strdup(csv->arena, word);
	return true;
}

static bool all_words(const struct wide *wide, const char *words) {
	for (size_t i = 0; i < wide->count; i++)
		if (!table_among(wide->value[i], strlen(wide->value[i]), words))
			return false;
	return true;
}

/* The operations on a data structure or a memory are part of the problem: nobody chooses to look up instead of
 * inserting. */
static const char operation_words[] =
	"insert insertion lookup find search contains add remove delete erase update get put set push pop enqueue dequeue "
	"read write copy scale triad load store hit miss build query encode decode compress decompress";

static const char *name_of_words(const struct wide *wide) {
	return all_words(wide, "static dynamic guided auto") ? "schedule"
	       : all_words(wide, operation_words)            ? "operation"
	                                                     : "version";
}

/* "kernel" and "host" are parts beside others, and versions alone. */
static void parts_count(struct wide *wide) {
	size_t others = 0;
	for (size_t i = 0; i < wide->count; i++)
		others += !table_is_part(wide->value[i]) && table_among(wide->value[i], strlen(wide->value[i]), beside_words);
	wide->parts += wide->parts ? others : 0;
}

/* How long each request takes is a figure beside how many there are. */
static bool are_latencies(const struct csv *csv, const struct wide *wide) {
	bool rate = false;
	for (size_t c = 0; c < csv->columns; c++)
		rate = rate || is_candidate(csv, c, MEASURE_RATE);
	for (size_t i = 0; i < wide->count; i++)
		rate = rate && table_has_word(wide->value[i], "lat latency latencies");
	return rate;
}

static double cell_of(const struct csv *csv, size_t row, size_t column) {
	double number;
	return table_number(csv, csv_cell(csv, row, column), false, &number) ? number : NAN;
}

/* Is the time in all rows two others together, or, with one column, so many times the others as that says? */
static bool follows_from(const struct csv *csv, const struct wide *wide, size_t own, size_t a, size_t b) {
	bool follows = csv->rows > 1;
	for (size_t r = 0; r < csv->rows && follows; r++) {
		double one = cell_of(csv, r, a), time = cell_of(csv, r, wide->column[own]), rest = -time;
		for (size_t k = 0; k < wide->count; k++)
			rest += cell_of(csv, r, wide->column[k]);
		follows = fabs((a == b ? one * rest : one + cell_of(csv, r, b)) / time - 1) <= ROUNDED;
	}
	return follows;
}

/* "H2D, kernel, D2H, transfer" has a sum, and "CPU, H2D, kernel, D2H, speedup" the time of another version. */
static void parts_prune(const struct csv *csv, struct wide *wide) {
	for (size_t i = 0; i < wide->count && wide->count > 2; i++)
		for (size_t k = 0; k < csv->columns * csv->columns; k++) {
			size_t a = k % csv->columns, b = k / csv->columns;
			if (a == wide->column[i] || b == wide->column[i] || !follows_from(csv, wide, i, a, b))
				continue;
			wide->count--;
			memmove(wide->column + i, wide->column + i + 1, (wide->count - i) * sizeof *wide->column);
			memmove(wide->value + i, wide->value + i + 1, (wide->count - i) * sizeof *wide->value);
			return;
		}
}

/* "sequential_s,parallel_s", or names without a unit beside a column of threads or sizes. */
static bool named_find(const struct csv *csv, struct wide *wide, enum table_measure measure) {
	size_t keys = 0;
	struct table_name name;
	for (size_t c = 0; c < csv->columns; c++) {
		table_name_read(csv->header[c], &name);
		if (is_candidate(csv, c, measure)) {
			if (!named_add(csv, c, wide))
				return false;
			continue;
		}
		keys += is_key(csv, c, wide);
		if (measure == MEASURE_NONE && name.measure != MEASURE_NONE && (name.measure != MEASURE_RATE || *name.per) &&
		    is_numbers(csv, c))
			return false;
	}
	if (measure == MEASURE_TIME && are_latencies(csv, wide))
		return false;
	wide->name = name_of_words(wide);
	parts_count(wide);
	wide_directions_split(csv, wide);
	/* Parts of a time are not alternatives; their sum is the time, if all of them are parts. Rates do not add up. */
	wide->sum = measure == MEASURE_TIME && wide->parts == wide->count;
	if (wide->sum && csv->columns <= PRUNED_MOST)
		parts_prune(csv, wide);
	return wide->count >= 2 && keys > 0 && wide->measure.measure == measure &&
	       (wide->parts == 0 || wide->sum || measure == MEASURE_RATE || strcmp(wide->name, "operation") == 0);
}

/* "# columns: NAME" says that the columns of numbers are values of NAME. */
static bool noted_find(const struct csv *csv, const char *noted, struct wide *wide) {
	struct table_name name;
	for (size_t c = 0; c < csv->columns; c++) {
		char word[TABLE_NAME], number[TABLE_NAME];
		bool split = header_split(csv->header[c], word, number) && (!*word || strcmp(word, noted) == 0);
		table_name_read(csv->header[c], &name);
		if (!is_numbers(csv, c) || (!split && (table_is_problem(csv->header[c]) || table_is_parameter(csv->header[c]))))
			continue;
		wide->column[wide->count] = c;
		wide->value[wide->count++] = split        ? arena_strdup(csv->arena, number)
		                             : *name.base ? arena_strdup(csv->arena, name.base)
		                                          : csv->header[c];
	}
	wide->name = noted;
	return wide->count >= 2;
}

/* Speedups over the first row: it has 1 everywhere. */
static bool are_speedups(const struct csv *csv, const struct wide *wide) {
	double number;
	bool threads = false;
	for (size_t c = 0; c < csv->columns; c++)
		threads = threads || table_is_threads(csv->header[c]);
	for (size_t i = 0; i < wide->count; i++)
		if (csv->rows < 2 || !table_number(csv, csv_cell(csv, 0, wide->column[i]), false, &number) || number != 1)
			return false;
	return threads;
}

static bool has_value(const struct csv *csv) {
	for (size_t c = 0; c < csv->columns; c++)
		if (is_time_of_all(csv->header[c]) && is_numbers(csv, c))
			return true;
	return false;
}

static bool any_find(const struct csv *csv, struct wide *wide) {
	if (has_value(csv))
		return false;
	if (keyed_find(csv, wide))
		return true;
	*wide = (struct wide){0};
	if (numbered_find(csv, wide))
		return true;
	static const enum table_measure kinds[] = {MEASURE_TIME, MEASURE_NONE, MEASURE_RATE};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		*wide = (struct wide){0};
		if (named_find(csv, wide, kinds[i]))
			return true;
	}
	return false;
}

/* A line above the table may say what its numbers are: "# GFLOP/s", "# times in ms". */
static const char *noted_unit(const struct csv *csv, struct table_name *unit) {
	for (size_t i = 0; i < csv->note_count; i++) {
		char *copy = arena_strdup(csv->arena, csv->notes[i]), *rest = NULL;
		for (char *word = strtok_r(copy, " ,;:()[]", &rest); word; word = strtok_r(NULL, " ,;:()[]", &rest)) {
			table_name_read(word, unit);
			if (word[1] && strcasecmp(word, "second") != 0 && unit->measure != MEASURE_NONE && !*unit->base)
				return word;
		}
	}
	return NULL;
}

bool wide_find(const struct csv *csv, const char *noted, const struct study_reading *reading, struct wide *wide) {
	bool asked = reading && reading->version_count;
	*wide = (struct wide){0};
	if (reading && reading->objective)
		return false;
	if (asked             ? !asked_find(csv, reading, wide)
	    : noted && *noted ? !noted_find(csv, noted, wide)
	                      : !any_find(csv, wide))
		return false;
	for (size_t i = 0; i < wide->count && wide->measure.measure == MEASURE_NONE; i++)
		table_name_read(csv->header[wide->column[i]], &wide->measure);
	wide->speedups = wide->measure.measure == MEASURE_NONE && are_speedups(csv, wide);
	struct table_name unit;
	if (wide->measure.measure == MEASURE_NONE && !wide->speedups && (wide->unit = noted_unit(csv, &unit)))
		wide->measure = unit;
	wide->assumed = wide->measure.measure == MEASURE_NONE && !wide->speedups;
	return true;
}
