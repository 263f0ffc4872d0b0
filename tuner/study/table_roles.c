/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decides what each column of a table is. Names decide first; a column that was probably measured rather than chosen is
 * recognised by its values. */
#include <ctype.h>
#include <math.h>
#include <strings.h>

#include "base/text.h"
#include "tuner/study/study_impl.h"

enum { MEASURED_ROWS_LEAST = 5, DIFFERENT_MOST = 100, DONE_LEAST = 3, LABELS = 10, HAPHAZARD_LEAST = 8 };
enum { LOOKED_AT = 1000 }; /* rows that may repeat */
static const double MEASURED_DISTINCT = 0.6, SAME = 0.02, ABOUT = 0.05;

static bool all_numbers(const struct csv *csv, size_t column) {
	bool some = false;
	double number;
	struct table_name name;
	table_name_read(csv->header[column], &name);
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column);
		bool missing = !*cell || table_is_dash(cell) || (name.measure != MEASURE_NONE && table_is_missing(cell));
		if (!missing && !table_number(csv, cell, true, &number))
			return false;
		some = some || !missing;
	}
	return some;
}

static bool rarely_repeats(const struct csv *csv, size_t column) {
	size_t distinct = 0;
	for (size_t r = 0; r < csv->rows; r++)
		distinct += r >= LOOKED_AT || !table_seen(csv, column, r, r);
	return csv->rows >= MEASURED_ROWS_LEAST && (double)distinct >= MEASURED_DISTINCT * (double)csv->rows;
}

static const char chosen_words[] = "thread rank worker device gpu cpu node core variant version algo algorithm config "
								   "configuration impl implementation kernel strategy method mode job process";

/* "request number" and "No." number something that nobody chooses. */
static bool is_numbering(const char *name) {
	char key[TABLE_NAME];
	table_words_join(name, key);
	const char *last = strrchr(key, '_') ? strrchr(key, '_') + 1 : key;
	return table_among(last, strlen(last), "index idx num no nr number id row") && !table_is_team(name) &&
	       !table_is_parameter(name) && !table_is_problem(name) && !table_has_word(key, chosen_words);
}

/* The first column of some programs numbers the rows. */
static bool is_index(const struct csv *csv, size_t column) {
	const char *name = csv->header[column];
	if (*name && !is_numbering(name) && strncasecmp(name, "unnamed", 7) != 0)
		return false;
	for (size_t r = 0; r < csv->rows; r++)
		if (table_own(csv, r, column) != table_own(csv, 0, column) + (double)r)
			return false;
	return true;
}

static int names_check(const struct table *table, struct err *err) {
	for (size_t c = 0; c < table->csv->columns; c++) {
		if (!*table->columns[c].name && !is_index(table->csv, c))
			return err_set(err, ERR_USAGE, NULL, "%s: column %zu does not have a name", table->path, c + 1);
		for (size_t d = 0; d < c; d++)
			if (strcmp(table->columns[c].name, table->columns[d].name) == 0)
				return err_set(err, ERR_USAGE, "rename one of them", "%s:1: two columns have the name \"%.60s\"",
				               table->path, table->columns[c].name);
	}
	return 0;
}

static int given_check(const struct table *table, struct err *err) {
	for (size_t i = 0; table->reading && i < table->reading->problem_count; i++) {
		const char *name = table->reading->problem[i], *near;
		bool found = false;
		for (size_t c = 0; c < table->csv->columns; c++)
			found = found || strcmp(table->columns[c].name, name) == 0;
		if (found)
			continue;
		near = near_word(name, table->csv->header, table->csv->columns);
		err_set(err, ERR_USAGE, NULL, "%s does not have a column \"%.60s\"", table->path, name);
		return near ? err_hint(err, "did you mean %s?", near) : -1;
	}
	return 0;
}

/* Laws over threads look for one name. Other names count if no column has this one. */
static void threads_name(struct table *table) {
	size_t found = SIZE_MAX;
	for (size_t c = 0; c < table->csv->columns; c++) {
		if (strcmp(table->columns[c].name, "threads") == 0)
			return;
		if (found == SIZE_MAX && table->columns[c].numbers && table_is_threads(table->columns[c].name) &&
		    !table_is_given_problem(table, table->columns[c].name))
			found = c;
	}
	if (found != SIZE_MAX)
		table->columns[found].name = "threads";
}

/* The rows of a table without a column: are they still different from each other? */
static bool is_determined(const struct table *table, size_t column) {
	const struct csv *csv = table->csv;
	for (size_t r = 0; r < csv->rows; r++)
		for (size_t s = 0; s < r; s++)
			if (table_same_but(table, r, s, column) && !table_is_same(csv, column, r, s))
				return false;
	return true;
}

static bool all_differ(const struct csv *csv, size_t column) {
	size_t r = 0;
	while (r < csv->rows && csv->rows <= DIFFERENT_MOST && !table_seen(csv, column, r, r))
		r++;
	return r == csv->rows && r > 1;
}

static bool some_has(const struct csv *csv, size_t column, const char *words) {
	bool some = false;
	for (size_t r = 0; r < csv->rows; r++)
		some = some || table_has_word(csv_cell(csv, r, column), words);
	return some;
}

/* "naive" and "tiled" are versions of one kernel, "sort" and "scan" are kernels. */
static bool are_versions(const struct csv *csv, size_t column) {
	return some_has(csv, column,
	                "naive simple basic base baseline reference tiled shared coalesced unrolled vectorized "
	                "optimized optimised safe unsafe checked unchecked opt global serial sequential seq parallel "
	                "openmp omp pthreads mpi cuda v1 v2");
}

/* A list is an input unless its values are ways to synchronise one. */
static bool are_lists(const struct csv *csv, size_t column) {
	return some_has(csv, column,
	                "coarse fine optimistic lazy lock lockfree free nonblocking blocking locked skip linked");
}

/* "100 cells" and "500 cells" are amounts of work. */
static bool are_amounts(const struct csv *csv, size_t column) {
	const char *first = csv->rows ? csv_cell(csv, 0, column) : "", *word = first + table_digits(first);
	bool all = word > first && *word == ' ' && isalpha((unsigned char)word[1]) && !strchr(word + 1, ' ') &&
	           !table_is_team(word + 1) && !table_is_parameter(word + 1);
	for (size_t r = 0; r < csv->rows && all; r++) {
		const char *cell = csv_cell(csv, r, column);
		all = table_digits(cell) && strcmp(cell + table_digits(cell), word) == 0;
	}
	return all;
}

static bool all_among(const struct csv *csv, size_t column, const char *words) {
	bool all = csv->rows > 0;
	for (size_t r = 0; r < csv->rows && all; r++)
		all = table_among(csv_cell(csv, r, column), strlen(csv_cell(csv, r, column)), words);
	return all;
}

/* The phases of a program, the kinds of scaling, and sizes: nobody chooses one of them. */
static bool are_given(const struct csv *csv, size_t column) {
	size_t phases = 0;
	for (size_t r = 0; r < csv->rows; r++)
		phases += table_is_part(csv_cell(csv, r, column)) && !strpbrk(csv_cell(csv, r, column), "_ -./:");
	return (csv->rows && phases == csv->rows) || are_amounts(csv, column) ||
	       all_among(csv, column, "strong weak teensy tiny mini small medium mid large big huge giant xs s m l xl");
}

const char table_run_words[] = "run trial itr rep repetition repeat sample attempt measurement try";

/* Are the numbers whole, from 0 or 1 on, and no more than there are rows? */
static bool may_count(const struct csv *csv, size_t column) {
	double least = INFINITY;
	for (size_t r = 0; r < csv->rows; r++) {
		double number = table_own(csv, r, column);
		if (number != floor(number) || number > (double)csv->rows)
			return false;
		least = fmin(least, number);
	}
	return least == 0 || least == 1;
}

static bool is_run(const struct table *table, size_t c) {
	char key[TABLE_NAME];
	table_key(table->columns[c].name, key);
	const char *rest = strncmp(key, "run_", 4) == 0 ? key + 4 : strncmp(key, "trial_", 6) == 0 ? key + 6 : "-";
	return table_among(rest, strlen(rest), "id no nr index idx num") ||
	       (table_is_statistic(&table->columns[c].read) &&
	        !table_varies(table->csv, c)) || /* how many runs a row is of */
	       table_among(key, strlen(key), table_run_words) ||
	       (is_numbering(table->columns[c].name) && !strchr(key, '_') && may_count(table->csv, c));
}

/* Are the words the names of files with data? Those of programs are versions. */
static bool are_files(const struct csv *csv, size_t column) {
	bool named = table_has_word(csv->header[column], "file filename dataset image picture input graph matrix"),
		 all = true;
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column), *dot = strrchr(cell, '.'), *end = dot ? dot + 1 : "";
		if (table_among(end, strlen(end), "exe out x py c cc cpp cu f90 java jar js so sh"))
			return false;
		all =
			all && table_among(end, strlen(end),
		                       "txt csv dat data bin in png jpg jpeg ppm pgm pbm bmp tif tiff gif raw mtx gr graph el "
		                       "json xml gz fa fasta nii obj ply mp4 wav tsp cnf");
	}
	return csv->rows && (named || all);
}

/* "approach" 1, 2, 3 has numbers for names. */
static bool are_labels(const struct csv *csv, size_t column) {
	char key[TABLE_NAME];
	table_key(csv->header[column], key);
	bool labels = table_among(key, strlen(key),
	                          "approach version variant method algorithm strategy implementation impl "
	                          "solution technique mode kind type");
	for (size_t r = 0; r < csv->rows && labels; r++)
		labels = table_own(csv, r, column) == floor(table_own(csv, r, column)) && table_own(csv, r, column) < LABELS;
	return labels;
}

/* Numbers below -1 are results: what is chosen may be -1, if a program is to choose it. */
static bool is_signed(const struct csv *csv, size_t column) {
	size_t r = 0;
	while (r < csv->rows && !(table_own(csv, r, column) < -1))
		r++;
	return r < csv->rows;
}

/* "4.05 s … 4.2 s" behind the times are where they lie. */
static bool are_ranges(const struct table *table, size_t column) {
	static const char *const signs[] = {"\xe2\x80\xa6", "..", "\xe2\x80\x93", " - ", "-", " to ", ", "};
	const struct csv *csv = table->csv;
	size_t ranges = 0;
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column), *sign = NULL;
		for (size_t i = 0; i < sizeof signs / sizeof *signs && !sign; i++)
			sign = strstr(cell, signs[i]);
		ranges += sign && table_digits(cell + strspn(cell, "[(")) && strpbrk(sign, "0123456789");
	}
	return column > table->value && ranges == csv->rows &&
	       table_has_word(csv->header[column], "range interval ci bounds");
}

/* "write" before the time of the whole, which it never exceeds. */
static bool is_part_of(const struct table *table, size_t column) {
	const char *name = table->columns[column].name;
	size_t r = 0;
	while (r < table->csv->rows && table_own(table->csv, r, column) <= table_own(table->csv, r, table->value))
		r++;
	return r == table->csv->rows && table_is_part(name) && !table_is_figure(name) && !strchr(name, '%');
}

/* "scene_id" tells what is worked on, "device_id" on what, and "variant_id" how. */
static bool is_id(const char *name) {
	char key[TABLE_NAME];
	table_key(name, key);
	size_t length = strlen(key);
	bool id = length > 3 && strcmp(key + length - 3, "_id") == 0;
	return id && !table_is_team(key) && !table_has_word(key, chosen_words);
}

static enum table_role role_of(const struct table *table, size_t c) {
	const struct table_column *column = &table->columns[c];
	if (table->given && table->given[c] >= 0)
		return (enum table_role)table->given[c];
	if (c == table->value && table->reading && table->reading->more)
		return TABLE_RATE;
	if (c == table->value)
		return column->read.measure >= MEASURE_RATE || strcasecmp(column->name, "speedup") == 0 ? TABLE_RATE
		                                                                                        : TABLE_TIME;
	if (table_is_given_problem(table, column->name) || (table->over_own && strcmp(column->name, table->wide) == 0) ||
	    (table->over_one && strcmp(column->name, table->wide) != 0))
		return TABLE_PROBLEM;
	if (table->wide && strcmp(table->wide, "run") == 0 && table_has_word(column->read.base, table_middle_words))
		return TABLE_IGNORED; /* what was made of the runs */
	if (strcasecmp(column->name, "kernel") == 0)
		return are_versions(table->csv, c) ? TABLE_PARAM : all_differ(table->csv, c) ? TABLE_PROBLEM : TABLE_IGNORED;
	if (!column->numbers && table_among(column->name, strlen(column->name),
	                                    "program application app stage step filter effect workload benchmark pipeline"))
		return are_versions(table->csv, c) ? TABLE_PARAM : TABLE_PROBLEM;
	if (!column->numbers && strcasecmp(column->name, "list") == 0 && are_lists(table->csv, c))
		return TABLE_PARAM;
	/* "H2D" and "D2H" are work; "top-down" and "bottom-up" are ways to do it. */
	if (!column->numbers && table_has_word(column->name, "direction copy transfer way") &&
	    all_among(table->csv, c, table_direction_words))
		return TABLE_PROBLEM;
	if (is_index(table->csv, c) || (column->numbers && is_run(table, c)))
		return TABLE_IGNORED;
	if (column->numbers && is_id(column->name))
		return all_differ(table->csv, c) ? TABLE_IGNORED : TABLE_PROBLEM;
	if (strcasecmp(column->name, "status") == 0 || strcasecmp(column->name, "result") == 0)
		return column->numbers ? TABLE_IGNORED : TABLE_STATUS;
	if (!column->numbers && table_among(column->name, strlen(column->name), "perf_stat likwid"))
		return TABLE_FILE;
	if (!table_is_measured(column) && table_is_parameter(column->name))
		return TABLE_PARAM;
	if (!column->numbers &&
	    (are_ranges(table, c) || (table_has_word(column->name, "output out log") && are_files(table->csv, c)) ||
	     all_among(table->csv, c, "ok pass passed correct valid yes success")))
		return TABLE_IGNORED;
	bool work = c == 0 && table->wide && strcmp(table->wide, "version") == 0; /* which each version does */
	if (!column->numbers && (work || are_given(table->csv, c) || are_files(table->csv, c)))
		return TABLE_PROBLEM;
	bool result = (c > table->value || is_part_of(table, c)) && column->numbers && table_is_real(table->csv, c) &&
	              rarely_repeats(table->csv, c);
	if (!table_is_measured(column) && table_is_problem(column->name) && !result) /* not the time of a part, "density" */
		return TABLE_PROBLEM;
	if (column->numbers && table_is_statistic(&column->read))
		return TABLE_IGNORED;
	if (column->numbers && column->read.measure != MEASURE_NONE)
		return TABLE_FIGURE;
	if (column->numbers && table_is_counter(column->name))
		return TABLE_COUNTER;
	bool time = column->numbers && table_has_word(column->read.base, "time runtime walltime duration tseq tpar");
	if (time || table_is_figure(column->name))
		return column->numbers ? TABLE_FIGURE : TABLE_IGNORED;
	bool measured = is_signed(table->csv, c) || (table_is_real(table->csv, c) && rarely_repeats(table->csv, c));
	return column->numbers && measured ? TABLE_FIGURE : TABLE_PARAM;
}

/* Was anything chosen that stands before the value? Otherwise a place behind it says nothing. */
static bool is_value_last(const struct table *table) {
	size_t c = 0;
	while (c < table->value && (!table_varies(table->csv, c) || !table_is_set(&table->columns[c])))
		c++;
	return c < table->value;
}

/* Loops over what is chosen leave each value equally often, or in an order; a result comes as it comes. */
static bool is_haphazard(const struct csv *csv, size_t column) {
	size_t turns = 0, unequal = 0;
	double number[3] = {0};
	for (size_t r = 0; r < csv->rows; r++) {
		number[0] = number[1];
		number[1] = number[2];
		number[2] = table_own(csv, r, column);
		if (isnan(number[2]))
			return false;
		turns += r > 1 && (number[1] - number[0]) * (number[2] - number[1]) < 0;
		unequal += table_seen(csv, column, r, csv->rows) != table_seen(csv, column, 0, csv->rows);
	}
	return csv->rows >= HAPHAZARD_LEAST && unequal && 3 * turns >= csv->rows;
}

static void haphazard_decide(struct table *table) {
	for (size_t c = table->value + 1; c < table->csv->columns && table->csv->rows <= TABLE_PAIRS_ROWS; c++) {
		struct table_column *column = &table->columns[c];
		if (column->role == TABLE_PARAM && column->numbers && !table_is_parameter(column->name) &&
		    !table_is_team(column->name) && is_haphazard(table->csv, c))
			column->role = TABLE_FIGURE;
	}
}

/* A number of iterations is an input if rows differ in nothing else, and a result if it follows from the other
 * columns. */
static void counts_decide(struct table *table) {
	for (size_t c = 0; c < table->csv->columns; c++) {
		struct table_column *column = &table->columns[c];
		if (!table_is_count(column->name) || table_is_given_problem(table, column->name) || !column->numbers ||
		    c == table->value)
			continue;
		bool of_one = *table->columns[table->value].read.per; /* then the count is how often a benchmark ran it */
		bool result = table_varies(table->csv, c) && table->csv->rows < 5000 && is_determined(table, c);
		bool again = !result && table->csv->rows < 5000 && table_number_kind(table, c, true) == NUMBER_RUN;
		column->role = of_one || again ? TABLE_IGNORED : result ? TABLE_FIGURE : TABLE_PROBLEM;
	}
}

/* Is a number as many times as large as a rate in all rows, or as the inverse of a time of one? */
static bool is_done(const struct table *table, size_t column, size_t measured, double same) {
	const struct csv *csv = table->csv;
	double first = NAN;
	bool rate = table->columns[measured].read.measure == MEASURE_RATE;
	size_t r = 0;
	for (; r < csv->rows; r++) {
		double number = table_own(csv, r, column), each = table_own(csv, r, measured);
		double seconds = rate ? number / each : number * each;
		first = r ? first : seconds;
		if (!(fabs(seconds / first - 1) <= same))
			break;
	}
	return r == csv->rows && r >= DONE_LEAST;
}

/* "n" behind a rate that is as many times as large in all rows is how much was done in the same time; so is one before
 * it that differs in nearly all rows, which others tell apart. */
static void done_ignore(struct table *table) {
	for (size_t i = 0; i < table->csv->columns * table->csv->columns; i++) {
		size_t c = i / table->csv->columns, m = i % table->csv->columns;
		struct table_column *column = &table->columns[c], *measured = &table->columns[m];
		bool behind = c > m && m == table->value && measured->role == TABLE_RATE;
		bool rate = measured->role <= TABLE_FIGURE && measured->numbers &&
		            (measured->read.measure == MEASURE_RATE || *measured->read.per);
		if (table_is_set(column) && c != m && column->numbers &&
		    (behind ? is_done(table, c, m, SAME)
		            : rate && is_done(table, c, m, ABOUT) && rarely_repeats(table->csv, c) && is_determined(table, c)))
			column->role = TABLE_IGNORED;
	}
}

/* So were whole numbers that are rarely the same twice, percentages and fractions, if the other columns tell all rows
 * apart. What was chosen comes before what was measured, and words behind the times are remarks. */
static void results_decide(struct table *table) {
	for (size_t c = table->csv->columns; c-- > 0 && table->csv->rows <= TABLE_PAIRS_ROWS;) {
		struct table_column *column = &table->columns[c];
		bool share = strchr(column->name, '%') || table_is_real(table->csv, c);
		bool behind = c > table->value && is_value_last(table);
		if (column->role == TABLE_PARAM && !table_is_parameter(column->name) && !table_is_team(column->name) &&
		    (share || behind || (column->numbers && rarely_repeats(table->csv, c))) && is_determined(table, c))
			column->role = column->numbers                                   ? TABLE_FIGURE
			               : some_has(table->csv, c, "timeout timed failed") ? TABLE_STATUS
			                                                                 : TABLE_IGNORED;
	}
}

/* Is a column with the unit of a time a grid of values that were chosen, such as the length of a critical section? Each
 * occurs equally often, rows that differ in nothing else have several, and they are far apart. */
static bool is_chosen(const struct table *table, size_t column) {
	const struct csv *csv = table->csv;
	size_t all = table_seen(csv, column, 0, csv->rows);
	double least = INFINITY, most = 0;
	for (size_t r = 0; r < csv->rows; r++) {
		double number = table_own(csv, r, column);
		if (isnan(number) || table_seen(csv, column, r, csv->rows) != all)
			return false;
		least = fmin(least, number);
		most = fmax(most, number);
	}
	return all >= 2 && all < csv->rows && most >= 2 * least && !is_determined(table, column);
}

static void chosen_decide(struct table *table) {
	for (size_t c = 0; c < table->csv->columns && table->csv->rows <= TABLE_PAIRS_ROWS; c++) {
		struct table_column *column = &table->columns[c];
		if (column->role == TABLE_FIGURE && column->read.measure == MEASURE_TIME && is_chosen(table, c))
			column->role = TABLE_PROBLEM;
	}
}

/* Where no column tells the rows apart, numbers that look measured, such as frequencies, were chosen: the first. */
static void only_chosen_decide(struct table *table) {
	size_t found = SIZE_MAX;
	for (size_t c = table->csv->columns; c-- > 0;) {
		const struct table_column *column = &table->columns[c];
		if (table_is_set(column) && table_varies(table->csv, c))
			return;
		if (column->role == TABLE_FIGURE && column->read.measure == MEASURE_NONE && !table_is_figure(column->name) &&
		    !table_is_count(column->name) && c < table->value)
			found = c;
	}
	if (found != SIZE_MAX)
		table->columns[found].role = TABLE_PARAM;
}

int table_roles(struct table *table, struct err *err) {
	const struct csv *csv = table->csv;
	for (size_t c = 0; c < csv->columns; c++) {
		table->columns[c].name = csv->header[c];
		table->columns[c].numbers = all_numbers(csv, c) && !are_labels(csv, c);
		table_name_read(table->columns[c].name, &table->columns[c].read);
	}
	threads_name(table);
	if (names_check(table, err) || given_check(table, err) || table_value_find(table, err))
		return -1;
	for (size_t c = 0; c < csv->columns; c++)
		table->columns[c].role = role_of(table, c);
	done_ignore(table);
	haphazard_decide(table);
	counts_decide(table);
	chosen_decide(table);
	only_chosen_decide(table);
	results_decide(table);
	return table_roles_follow(table, err);
}
