/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wide tables have a column of times for each value of something: "threads,mutex,spin", "n,1 thread,2 threads", or
 * "run 1,run 2". Decides which columns these are, and what they are values of. */
#include <math.h>
#include <strings.h>

#include "tuner/study/study_impl.h"

enum { FRACTIONS_LEAST = 3, RIVALLED = 5, TEAMS_LEAST = 4 };
static const char repeat_words[] = "run trial rep repetition repeat sample measurement attempt try time",
				  member_words[] = "rank process processe proc thread worker core";

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
	const char *open = strchr(header, '(');
	bool noted = open && strchr(open, '=') && !open[strcspn(open, ")") + 1]; /* "MFLOPS (n=512)" */
	table_words_join(noted ? open + 1 : header, key);
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

/* Numbers from 1 without a gap count runs; 1, 2, 4, 8 are teams. From 0 they are the members of one: "rank 0". */
static bool is_counting(const struct wide *wide, size_t first) {
	for (size_t i = 0; i < wide->count; i++)
		if (strtod(wide->value[i], NULL) != (double)(i + first))
			return false;
	return true;
}

static const char *name_of_word(const struct csv *csv, const char *word) {
	char plural[TABLE_NAME + 1];
	if (table_is_threads(word) ||
	    table_has_word(word, "thread threads core cores openmp omp openmpi pthread pthreads parallel") ||
	    strcmp(word, "t") == 0 || strcmp(word, "p") == 0 || strcmp(word, "time_t") == 0) /* "Time 4T" */
		return "threads";
	snprintf(plural, sizeof plural, "%ss", word);
	bool known = table_is_parameter(word) || table_is_problem(word);
	return arena_strdup(csv->arena, !known && (table_is_parameter(plural) || table_is_problem(plural)) ? plural : word);
}

/* A letter may be the name of a version; "v1" and "version 2" are words, and so is "O3". */
static bool is_name_of_numbers(const char *word, bool counting) {
	if (strlen(word) == 1 || table_has_word(word, "parallel"))
		return strchr("tpnmkb", *word) && !counting;
	return !table_among(word, strlen(word), "version variant implementation impl ver case test kernel code");
}

static const char version_words[] =
	"serial sequential seq blocking nonblocking parallel openmp omp pthreads pthread mpi cuda hip ticket ticketlock "
	"rwlock futex anderson backoff opencl gpu cpu cilk tbb naive simple basic baseline reference original tiled "
	"blocked unrolled vectorized simd sse avx avx2 avx512 optimized optimised static dynamic guided auto mutex spin "
	"spinlock atomic critical tas ttas clh mcs lockfree blas openblas mkl cublas padded unpadded privatized touch "
	"coarse fine lazy optimistic gcc clang icc icx o0 o1 o2 o3 t ijk ikj jik jki kij kji sort";

/* A line above the table may say what its numbers are: "# GFLOP/s", "# times in ms". */
static const char *noted_unit(const struct csv *csv, struct table_name *unit) {
	for (size_t i = 0; i < csv->note_count; i++) {
		char *copy = arena_strdup(csv->arena, csv->notes[i]), *rest = NULL;
		for (char *at = copy; (at = strpbrk(at, "kKMG")); at++) /* "M ops/s" */
			if (at[1] == ' ' && (at == copy || strchr(" (", at[-1])))
				memmove(at + 1, at + 2, strlen(at + 1));
		for (char *word = strtok_r(copy, " ,;:()[].*", &rest); word; word = strtok_r(NULL, " ,;:()[].*", &rest)) {
			table_name_read(word, unit);
			if (word[1] && strcasecmp(word, "second") != 0 && unit->measure != MEASURE_NONE && !*unit->base &&
			    strcmp(unit->per, "unit") != 0)
				return word;
		}
	}
	return NULL;
}

/* Are unknown numbers times, by their names, by versions that they are of, or by a comment about all numbers? */
static bool may_be_time(const struct csv *csv, const char *header) {
	struct table_name unit;
	char key[TABLE_NAME];
	table_words_join(header, key);
	return table_has_word(key,
	                      "time zeit runtime laufzeit walltime elapsed duration tseq tser tserial tpar tparallel") ||
	       table_has_word(key, version_words) || noted_unit(csv, &unit);
}

/* Fractions that are never the same twice were not chosen: "first-touch" beside "naive". */
static bool are_fractions(const struct csv *csv, size_t column) {
	size_t whole = 0;
	double number;
	for (size_t r = 0; r < csv->rows; r++) {
		whole += table_number(csv, csv_cell(csv, r, column), false, &number) && number == floor(number);
		for (size_t s = 0; s < r; s++)
			if (strcmp(csv_cell(csv, r, column), csv_cell(csv, s, column)) == 0)
				return false;
	}
	return csv->rows >= FRACTIONS_LEAST && 2 * whole < csv->rows;
}

/* Numbers without a unit that are neither an input nor a figure. */
static bool is_unknown(const struct csv *csv, size_t column) {
	const char *header = csv->header[column];
	struct table_name name;
	table_name_read(header, &name);
	bool fixed = csv->rows > 2 && !table_varies(csv, column) && !may_be_time(csv, header);
	bool other = table_among(header, strlen(header), table_run_words) || strchr(header, '%') ||
	             table_among(header, strlen(header), table_middle_words);
	return !fixed && !other && name.measure == MEASURE_NONE && is_numbers(csv, column) && !table_is_statistic(&name) &&
	       !table_is_problem(header) && (!table_is_parameter(header) || are_fractions(csv, column)) &&
	       !table_is_counter(header) && !table_is_count(header) &&
	       (!table_is_figure(header) || table_has_word(header, "time"));
}

/* "-O2" and "-O3" beside another compiler are names, and so are "blocked 32" and "blocked 64" beside "ikj". */
static bool others_timed(const struct csv *csv, const struct wide *wide) {
	struct table_name name;
	size_t timed = 0, own = 0;
	for (size_t c = 0; c < csv->columns; c++) {
		table_name_read(csv->header[c], &name);
		bool time = name.measure == MEASURE_TIME && is_numbers(csv, c) && !table_is_statistic(&name);
		timed += (time || (is_unknown(csv, c) && may_be_time(csv, csv->header[c]))) &&
		         !table_has_word(name.base, table_middle_words) && !table_has_word(csv->header[c], table_serial_words);
	}
	for (size_t i = 0; i < wide->count; i++) {
		table_name_read(csv->header[wide->column[i]], &name);
		own += name.measure == MEASURE_TIME || may_be_time(csv, csv->header[wide->column[i]]);
	}
	return timed > own;
}

/* Serial code beside columns of teams. Its column becomes the last one; false if it fits nowhere. */
static bool serial_add(const struct csv *csv, const struct table_name *one, struct wide *wide) {
	struct table_name name;
	for (size_t c = 0; c < csv->columns; c++) {
		table_name_read(csv->header[c], &name);
		if (!is_numbers(csv, c) || table_is_figure(csv->header[c]) ||
		    !table_has_word(csv->header[c], table_serial_words))
			continue;
		if (wide->with_serial || !wide->name || strcmp(wide->name, "threads") != 0 ||
		    ((one->measure != MEASURE_NONE || name.measure != MEASURE_TIME) && name.measure != MEASURE_NONE &&
		     !is_same_measure(one, &name)))
			return false;
		wide->with_serial = true;
		wide->column[wide->count] = c;
		wide->value[wide->count++] = "";
	}
	return true;
}

/* Are numbers without a name teams? From 1 on: beside locks, or if the second one gains by each schedule. */
static bool are_teams(const struct csv *csv, const struct wide *wide) {
	bool first = csv->rows > 0 && strcmp(wide->value[0], "1") == 0, many = first && wide->count >= TEAMS_LEAST;
	bool scheduled = first, sized = many && csv->rows > 1 && table_is_problem(csv->header[0]);
	double one, two, members = strtod(wide->value[1], NULL);
	for (size_t r = 0; r < csv->rows && (scheduled || sized); r++) {
		const char *cell = csv_cell(csv, r, 0);
		bool gains = table_number(csv, csv_cell(csv, r, wide->column[0]), false, &one) &&
		             table_number(csv, csv_cell(csv, r, wide->column[1]), false, &two) && two < one;
		scheduled = scheduled && gains && table_among(cell, strcspn(cell, " ,("), "static dynamic guided auto");
		sized = sized && gains && two < 0.8 * one && 0.8 * one < members * two;
	}
	return scheduled || sized || (many && table_has_word(csv->header[0], "lock locks mutex barrier"));
}

/* Is there a version of another name beside "DR1" and "DR2"? */
static bool has_other(const struct csv *csv, const struct wide *wide, const char *word) {
	bool other = false, known = table_is_parameter(word) || table_is_problem(word) || table_is_team(word);
	for (size_t c = 0; c < csv->columns && !known && strlen(word) > 1 && !other; c++) {
		size_t i = 0;
		while (i < wide->count && wide->column[i] != c)
			i++;
		other = i == wide->count && is_unknown(csv, c) && !table_has_word(csv->header[c], table_serial_words) &&
		        !table_is_team(csv->header[c]);
	}
	return other;
}

/* Columns whose headers are a number and the same word. */
static bool numbered_find(const struct csv *csv, struct wide *wide) {
	char word[TABLE_NAME], first[TABLE_NAME] = "", number[TABLE_NAME];
	struct table_name one, name;
	for (size_t c = 0; c < csv->columns; c++) {
		table_name_read(csv->header[c], &name);
		if (!is_numbers(csv, c) || table_is_statistic(&name) || !header_split(csv->header[c], word, number) ||
		    (wide->count && (strcmp(word, first) != 0 || !is_same_measure(&one, &name))))
			continue;
		if (wide->count == 0) {
			one = name;
			snprintf(first, sizeof first, "%s", word);
		}
		wide->column[wide->count] = c;
		wide->value[wide->count++] = arena_strdup(csv->arena, number);
	}
	bool counting = is_counting(wide, 1), members = is_counting(wide, 0) && table_has_word(first, member_words);
	bool runs = counting && (table_among(first, strlen(first), table_run_words) ||
	                         (strcmp(first, "t") == 0 && table_is_team(csv->header[0])));
	if (wide->count < 2 ||
	    (!runs && (others_timed(csv, wide) || ((counting || is_counting(wide, 0)) && has_other(csv, wide, first)))))
		return false;
	if (members || runs || (counting && strcmp(first, "time") == 0))
		wide->repeats = true;
	else if (*first)
		wide->name = name_of_word(csv, first);
	else
		wide->name = are_teams(csv, wide) ? "threads" : NULL;
	wide->numbered = !wide->repeats;
	wide->unnamed = wide->numbered && !wide_kinds(csv, wide, one.measure);
	return (!*first || runs || is_name_of_numbers(first, counting)) && serial_add(csv, &one, wide);
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

/* A version of an unknown name beside known ones is one, too: without it another would be called the fastest. */
static bool most_may_be_times(const struct csv *csv) {
	bool unknown[CSV_COLUMNS_MAX];
	bool without = false;
	size_t known = 0, lawful = 0, all = 0;
	for (size_t c = 0; c < csv->columns; c++) {
		unknown[c] = is_unknown(csv, c);
		known += unknown[c] && may_be_time(csv, csv->header[c]);
		without = without || (unknown[c] && strncasecmp(csv->header[c], "no_", 3) == 0); /* "no_amx" beside "amx0" */
		all += unknown[c];
	}
	for (size_t c = 0; c < csv->columns && all > 1; c++)
		lawful += unknown[c] && wide_law(csv, unknown, c) == MEASURE_TIME;
	return (without && all > 1) || (known && 2 * known >= all) || (lawful && 2 * lawful >= all);
}

/* Are all times those of one operation: "map (ns/op)", "slice (ns/op)"? */
static bool is_of_each(const struct csv *csv) {
	struct table_name name;
	bool each = true;
	for (size_t c = 0; c < csv->columns && each; c++) {
		table_name_read(csv->header[c], &name);
		each = name.measure != MEASURE_TIME || *name.per;
	}
	return each;
}

static bool is_candidate(const struct csv *csv, size_t column, enum table_measure measure) {
	struct table_name name;
	table_name_read(csv->header[column], &name);
	if (!is_numbers(csv, column) || table_is_statistic(&name))
		return false;
	if (measure >= MEASURE_RATE)
		return name.measure == measure;
	if (*name.per && !(measure == MEASURE_TIME && *name.base && is_of_each(csv)))
		return false;
	bool serial = name.measure == MEASURE_NONE && !table_is_figure(csv->header[column]) &&
	              table_has_word(csv->header[column], table_serial_words);
	return measure == MEASURE_TIME ? name.measure == MEASURE_TIME || serial
	                               : is_unknown(csv, column) && !table_is_before_team(csv, column);
}

/* Columns before the times are what the times belong to; nothing is known about other numbers. */
static bool is_key(const struct csv *csv, size_t column, const struct wide *wide) {
	return wide->count == 0 || table_is_problem(csv->header[column]) || table_is_parameter(csv->header[column]) ||
	       !is_numbers(csv, column);
}

/* Adds a column; false if it is measured otherwise. Serial code may lack the unit, and versions have another. */
static bool named_add(const struct csv *csv, size_t column, struct wide *wide) {
	struct table_name name;
	table_name_read(csv->header[column], &name);
	bool first = wide->count == 0 || wide->measure.measure == MEASURE_NONE;
	const char *word = *name.base ? name.base : csv->header[column];
	if (strncmp(word, "time ", 5) == 0 && word[5])
		word += 5;
	bool alike = (table_is_part(word) && wide->parts == wide->count) ||
	             (table_has_word(word, version_words) && !first && table_has_word(wide->value[0], version_words));
	bool times = name.measure == MEASURE_TIME && wide->measure.measure == MEASURE_TIME && alike;
	if (!first && name.measure != MEASURE_NONE && !times && !is_same_measure(&wide->measure, &name))
		return false;
	if (first)
		wide->measure = name;
	bool scheduled = table_has_word(word, "static dynamic guided");            /* "static_calc" is a schedule's */
	wide->parts += !strpbrk(word, ".[<") && !scheduled && table_is_part(word); /* "sync.Map" is a name in code */
	wide->column[wide->count] = column;
	wide->value[wide->count++] = arena_strdup(csv->arena, word);
	return true;
}

/* "sequential_s,parallel_s", or names without a unit beside a column of threads or sizes. */
static bool named_find(const struct csv *csv, struct wide *wide, enum table_measure measure) {
	size_t keys = 0;
	struct table_name name;
	bool may = measure != MEASURE_NONE || most_may_be_times(csv);
	for (size_t c = 0; c < csv->columns; c++) {
		table_name_read(csv->header[c], &name);
		if (may && is_candidate(csv, c, measure)) {
			if (!named_add(csv, c, wide))
				return false;
			continue;
		}
		keys += is_key(csv, c, wide);
		if (measure == MEASURE_NONE && (name.measure == MEASURE_TIME || (name.measure == MEASURE_RATE && *name.per)) &&
		    is_numbers(csv, c))
			return false;
	}
	return wide_kinds(csv, wide, measure) && wide->count >= 2 && (keys > 0 || csv->rows == 1) &&
	       wide->measure.measure == measure &&
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

/* A time below that of a part, in most rows, is another part: "exec" beside "read" and "write". */
static bool is_exceeded(const struct csv *csv, size_t column) {
	size_t most = 0;
	for (size_t c = 0; c < csv->columns; c++) {
		struct table_name name;
		size_t rows = 0;
		table_name_read(csv->header[c], &name);
		for (size_t r = 0; r < csv->rows && c != column && name.measure == MEASURE_TIME && table_is_part(name.base);
		     r++)
			rows += table_positive(csv, r, c) > table_positive(csv, r, column);
		most = rows > most ? rows : most;
	}
	return 2 * most > csv->rows;
}

/* Where "cuBLAS_ms" exceeds a bare "ms" in some rows, it is no part of that: each is the time of a version. */
static bool is_rivalled(const struct csv *csv, size_t column) {
	struct table_name own, name;
	size_t most = 0;
	table_name_read(csv->header[column], &own);
	for (size_t c = 0; c < csv->columns && !*own.base && own.measure == MEASURE_TIME; c++) {
		size_t rows = 0;
		table_name_read(csv->header[c], &name);
		bool named = *name.base && is_same_measure(&own, &name) && table_time_rank(&name) < 0 && is_numbers(csv, c) &&
		             !table_is_statistic(&name) && !table_has_word(name.base, "cpu user sys system");
		for (size_t r = 0; r < csv->rows && named; r++)
			rows += table_positive(csv, r, c) > table_positive(csv, r, column);
		most = rows > most ? rows : most;
	}
	return RIVALLED * most > csv->rows;
}

/* "rep 1,rep 2,mean" has the runs, and what was made of them. */
static bool has_value(const struct csv *csv) {
	char word[TABLE_NAME], number[TABLE_NAME];
	struct table_name name;
	size_t repeats = 0, values = 0;
	for (size_t c = 0; c < csv->columns; c++) {
		table_name_read(csv->header[c], &name);
		bool repeat =
			header_split(*name.base ? name.base : "", word, number) && table_among(word, strlen(word), repeat_words);
		bool value = !repeat && table_time_rank(&name) >= 0 && !table_is_statistic(&name) && is_numbers(csv, c) &&
		             !is_exceeded(csv, c) && !is_rivalled(csv, c);
		repeats += repeat && is_numbers(csv, c);
		values += (value && !table_has_word(name.base, table_middle_words)) || c == table_told(csv) ? csv->columns : value;
	}
	return values >= csv->columns || (values && repeats < 2);
}

/* "Copy, Scale, Add, Triad" are the rates of STREAM, in MB/s as it prints them, or in GB/s. */
static bool stream_find(const struct csv *csv, struct wide *wide) {
	enum { KERNELS_LEAST = 3, MEGABYTES = 3000 };
	double number = 0;
	for (size_t c = 0; c < csv->columns; c++)
		if (is_numbers(csv, c) && table_among(csv->header[c], strlen(csv->header[c]), "copy scale add triad")) {
			wide->column[wide->count] = c;
			wide->value[wide->count++] = csv->header[c];
			table_number(csv, csv_cell(csv, 0, c), false, &number);
		}
	wide->name = "operation";
	table_name_read(wide->unit = number < MEGABYTES ? "GB/s" : "MB/s", &wide->measure);
	return wide->count >= KERNELS_LEAST;
}

static bool any_find(const struct csv *csv, struct wide *wide) {
	static bool (*const finds[])(const struct csv *csv, struct wide *wide) = {stream_find, keyed_find, numbered_find};
	static const enum table_measure kinds[] = {MEASURE_TIME, MEASURE_NONE, MEASURE_RATE, MEASURE_SPEEDUP};
	if (has_value(csv))
		return false;
	for (size_t i = 0; i < sizeof finds / sizeof *finds; i++) {
		*wide = (struct wide){0};
		if (finds[i](csv, wide))
			return true;
	}
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		*wide = (struct wide){0};
		if (named_find(csv, wide, kinds[i]))
			return true;
	}
	return false;
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
	struct table_name unit;
	if (wide->measure.measure == MEASURE_NONE && (wide->unit = noted_unit(csv, &unit)))
		wide->measure = unit;
	return true;
}
