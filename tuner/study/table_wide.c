/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wide tables have a column of times for each value of something: "threads,mutex,spin", "n,1 thread,2 threads", or
 * "run 1,run 2". Decides which columns these are, and what they are values of. */
#include <math.h>
#include <strings.h>

#include "tuner/study/study_impl.h"

enum { RIVALLED = 5 };
static const char repeat_words[] = "run trial rep repetition repeat sample measurement attempt try time";

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
		if (!wide_is_numbers(csv, c) || !keys_split(csv, csv->header[c], key, value))
			continue;
		if (wide->count && (strcmp(key[0], first[0]) != 0 || strcmp(key[1], first[1]) != 0))
			return false;
		memcpy(first, key, sizeof first);
		wide->column[wide->count] = c;
		wide->value[wide->count] = value[0];
		wide->direction[wide->count++] = value[1];
	}
	wide->name = first[0] ? wide_name_of_word(csv, first[0]) : NULL;
	wide->other = first[1] ? wide_name_of_word(csv, first[1]) : NULL;
	wide->directed = true;
	return wide->count >= 2;
}

/* The two columns whose quotient is a speed-up, where one is called just a time. */
static bool told_find(const struct csv *csv, struct wide *wide) {
	struct table_name name;
	*wide = (struct wide){.name = "version", .count = 2};
	wide->column[1] = table_told(csv, &wide->column[0]);
	for (size_t i = 0; i < 2 && wide->column[0] != SIZE_MAX; i++) {
		table_name_read(csv->header[wide->column[i]], &name);
		wide->measure = name.measure == MEASURE_TIME ? name : wide->measure;
		const char *header = csv->header[wide->column[i]], *open = table_bracket(header);
		wide->value[i] =
			arena_printf(csv->arena, "%.*s", open ? (int)(open - header) - 1 : (int)strlen(header), header);
	}
	return wide->column[0] != SIZE_MAX;
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
		unknown[c] = wide_is_unknown(csv, c);
		if (unknown[c] && table_among(csv->header[c], strlen(csv->header[c]), table_total_words))
			return false; /* of the others, which are its parts */
		known += unknown[c] && wide_may_be_time(csv, csv->header[c]);
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

/* "user" and "sys" are what the processors did. */
static bool is_of_processors(const struct csv *csv, size_t column) {
	bool user = false, system = false;
	for (size_t c = 0; c < csv->columns; c++) {
		user = user || table_has_word(csv->header[c], "user usr");
		system = system || table_has_word(csv->header[c], "sys system");
	}
	return user && system && table_has_word(csv->header[column], "user usr sys system");
}

static bool is_candidate(const struct csv *csv, size_t column, enum table_measure measure) {
	struct table_name name;
	table_name_read(csv->header[column], &name);
	if (!wide_is_numbers(csv, column) || table_is_statistic(&name) || is_of_processors(csv, column))
		return false;
	if (measure >= MEASURE_RATE)
		return name.measure == measure;
	if (*name.per && !(measure == MEASURE_TIME && *name.base && is_of_each(csv)))
		return false;
	bool serial = name.measure == MEASURE_NONE && !table_is_figure(csv->header[column]) &&
	              table_has_word(csv->header[column], table_serial_words);
	return measure == MEASURE_TIME ? name.measure == MEASURE_TIME || serial
	                               : wide_is_unknown(csv, column) && !table_is_before_team(csv, column);
}

/* Columns before the times are what the times belong to; nothing is known about other numbers. */
static bool is_key(const struct csv *csv, size_t column, const struct wide *wide) {
	return wide->count == 0 || table_is_problem(csv->header[column]) || table_is_parameter(csv->header[column]) ||
	       !wide_is_numbers(csv, column);
}

/* Adds a column; false if it is measured otherwise. Serial code may lack the unit, and versions have another. */
static bool named_add(const struct csv *csv, size_t column, struct wide *wide) {
	struct table_name name;
	table_name_read(csv->header[column], &name);
	bool first = wide->count == 0 || wide->measure.measure == MEASURE_NONE;
	const char *word = *name.base ? name.base : csv->header[column];
	if (strncmp(word, "time ", 5) == 0 && word[5])
		word += 5;
	bool alike =
		(table_is_part(word) && wide->parts == wide->count) ||
		(table_has_word(word, wide_version_words) && !first && table_has_word(wide->value[0], wide_version_words));
	bool times = name.measure == MEASURE_TIME && wide->measure.measure == MEASURE_TIME && alike;
	if (!first && name.measure != MEASURE_NONE && !times && !wide_is_same_measure(&wide->measure, &name))
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
	size_t keys = 0, other;
	struct table_name name;
	bool may = measure != MEASURE_NONE || most_may_be_times(csv), fractions = true;
	for (size_t c = 0; c < csv->columns; c++) {
		table_name_read(csv->header[c], &name);
		if (may && is_candidate(csv, c, measure)) {
			if (!named_add(csv, c, wide))
				return false;
			fractions = fractions && table_is_real(csv, c);
			continue;
		}
		keys += is_key(csv, c, wide);
		if (measure == MEASURE_NONE && (name.measure == MEASURE_TIME || (name.measure == MEASURE_RATE && *name.per)) &&
		    wide_is_numbers(csv, c))
			return false;
	}
	/* Without anything before them the columns may be what others belong to, but not if they were measured. */
	bool measured = keys > 0 || csv->rows == 1 || fractions || table_told(csv, &other) != SIZE_MAX;
	return measured && wide_kinds(csv, wide, measure) && wide->count >= 2 && wide->measure.measure == measure &&
	       (wide->parts == 0 || wide->sum || measure == MEASURE_RATE || strcmp(wide->name, "operation") == 0);
}

/* "# columns: NAME" says that the columns of numbers are values of NAME. */
static bool noted_find(const struct csv *csv, const char *noted, struct wide *wide) {
	struct table_name name;
	for (size_t c = 0; c < csv->columns; c++) {
		char word[TABLE_NAME], number[TABLE_NAME];
		bool split = wide_header_split(csv->header[c], word, number) && (!*word || strcmp(word, noted) == 0);
		table_name_read(csv->header[c], &name);
		if (!wide_is_numbers(csv, c) ||
		    (!split && (table_is_problem(csv->header[c]) || table_is_parameter(csv->header[c]))))
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

/* Where "cuBLAS_ms" exceeds a bare "ms" in some rows, it is not a part of that: each is the time of a version. */
static bool is_rivalled(const struct csv *csv, size_t column) {
	struct table_name own, name;
	size_t most = 0;
	table_name_read(csv->header[column], &own);
	for (size_t c = 0; c < csv->columns && !*own.base && own.measure == MEASURE_TIME; c++) {
		size_t rows = 0;
		table_name_read(csv->header[c], &name);
		bool named = *name.base && wide_is_same_measure(&own, &name) && table_time_rank(&name) < 0 &&
		             wide_is_numbers(csv, c) && !table_is_statistic(&name) &&
		             !table_has_word(name.base, "cpu user sys system");
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
	size_t repeats = 0, values = 0, other;
	for (size_t c = 0; c < csv->columns; c++) {
		table_name_read(csv->header[c], &name);
		bool repeat = wide_header_split(*name.base ? name.base : "", word, number) &&
		              table_among(word, strlen(word), repeat_words);
		bool value = !repeat && table_time_rank(&name) >= 0 && !table_is_statistic(&name) && wide_is_numbers(csv, c) &&
		             !is_exceeded(csv, c) && !is_rivalled(csv, c);
		repeats += repeat && wide_is_numbers(csv, c);
		bool told = c == table_told(csv, &other) && other == SIZE_MAX;
		values += (value && !table_has_word(name.base, table_middle_words)) || told ? csv->columns : value;
	}
	return values >= csv->columns || (values && repeats < 2);
}

/* "Copy, Scale, Add, Triad" are the rates of STREAM, in MB/s as it prints them, or in GB/s. */
static bool stream_find(const struct csv *csv, struct wide *wide) {
	enum { KERNELS_LEAST = 3, MEGABYTES = 3000 };
	double number = 0;
	for (size_t c = 0; c < csv->columns; c++)
		if (wide_is_numbers(csv, c) && table_among(csv->header[c], strlen(csv->header[c]), "copy scale add triad")) {
			wide->column[wide->count] = c;
			wide->value[wide->count++] = csv->header[c];
			table_number(csv, csv_cell(csv, 0, c), false, &number);
		}
	wide->name = "operation";
	table_name_read(wide->unit = number < MEGABYTES ? "GB/s" : "MB/s", &wide->measure);
	return wide->count >= KERNELS_LEAST;
}

static bool any_find(const struct csv *csv, struct wide *wide) {
	static bool (*const finds[])(const struct csv *csv, struct wide *wide) = {stream_find, keyed_find,
	                                                                          wide_numbered_find};
	static const enum table_measure kinds[] = {MEASURE_TIME, MEASURE_NONE, MEASURE_RATE, MEASURE_SPEEDUP};
	if (has_value(csv))
		return told_find(csv, wide);
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
	if (wide->measure.measure == MEASURE_NONE && (wide->unit = wide_noted_unit(csv, &unit)))
		wide->measure = unit;
	return true;
}
