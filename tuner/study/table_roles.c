/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decides what each column of a table is. Names decide first; a column that was probably measured rather than chosen is
 * recognised by its values. */
#include <ctype.h>
#include <math.h>
#include <strings.h>

#include "base/text.h"
#include "tuner/study/study_impl.h"

enum { MEASURED_ROWS_LEAST = 5, RATE_RANK = 100, RANKS = 20, DIFFERENT_MOST = 100 };
static const double MEASURED_DISTINCT = 0.6;

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
	for (size_t r = 0; r < csv->rows; r++) {
		bool again = false;
		for (size_t s = 0; s < r && !again && r < 1000; s++)
			again = strcmp(csv_cell(csv, r, column), csv_cell(csv, s, column)) == 0;
		distinct += !again;
	}
	return csv->rows >= MEASURED_ROWS_LEAST && (double)distinct >= MEASURED_DISTINCT * (double)csv->rows;
}

/* Real numbers that are rarely the same twice were measured. */
static bool is_real(const struct csv *csv, size_t column) {
	double number;
	size_t r = 0;
	while (r < csv->rows && !(table_number(csv, csv_cell(csv, r, column), false, &number) && number != floor(number)))
		r++;
	return r < csv->rows;
}

/* How often the value of a row occurs in its column. */
static size_t times_seen(const struct csv *csv, size_t column, size_t row) {
	size_t seen = 0;
	for (size_t r = 0; r < csv->rows; r++)
		seen += strcmp(csv_cell(csv, r, column), csv_cell(csv, row, column)) == 0;
	return seen;
}

static bool varies(const struct csv *csv, size_t column) {
	return csv->rows && times_seen(csv, column, 0) < csv->rows;
}

/* The first column of some programs numbers the rows. */
static bool is_index(const struct csv *csv, size_t column) {
	const char *name = csv->header[column];
	double number, first = 0;
	if (*name && strcasecmp(name, "index") != 0 && strncasecmp(name, "unnamed", 7) != 0)
		return false;
	for (size_t r = 0; r < csv->rows; r++) {
		if (!table_number(csv, csv_cell(csv, r, column), false, &number) || (r && number != first + (double)r))
			return false;
		first = r ? first : number;
	}
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

static bool is_given_problem(const struct table *table, const char *name) {
	bool given = false;
	for (size_t i = 0; table->reading && i < table->reading->problem_count && !given; i++)
		given = strcmp(table->reading->problem[i], name) == 0;
	return given;
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

/* A column of numbers with the unit of a time or a rate was measured: "read (ms)" is not an input. */
static bool is_measured(const struct table_column *column) {
	return column->numbers && column->read.measure != MEASURE_NONE;
}

static bool is_parameter_or_problem(const struct table *table, size_t c) {
	const struct table_column *column = &table->columns[c];
	return is_given_problem(table, column->name) ||
	       (!is_measured(column) &&
	        (table_is_parameter(column->name) || (table_is_problem(column->name) && !table_is_count(column->name))));
}

/* "p" is the number of processors if it counts from 1: probabilities and percentages don't. Beside "q" it is a side of
 * a grid of processes. */
static bool is_letter_of_team(const struct table *table, size_t column) {
	const struct csv *csv = table->csv;
	double number, least = INFINITY;
	if (strcasecmp(table->columns[column].name, "p") != 0)
		return false;
	for (size_t r = 0; r < csv->rows; r++) {
		if (!table_number(csv, csv_cell(csv, r, column), false, &number) || number != floor(number))
			return false;
		least = fmin(least, number);
	}
	for (size_t c = 0; c < csv->columns; c++)
		if (strcasecmp(csv->header[c], "q") == 0)
			return false;
	return least == 1;
}

/* Laws over threads look for one name. Other names count if no column has this one. */
static void threads_name(struct table *table) {
	size_t found = SIZE_MAX;
	for (size_t c = 0; c < table->csv->columns; c++) {
		if (strcmp(table->columns[c].name, "threads") == 0)
			return;
		if (found == SIZE_MAX && table->columns[c].numbers &&
		    (table_is_threads(table->columns[c].name) || is_letter_of_team(table, c)) &&
		    !is_given_problem(table, table->columns[c].name))
			found = c;
	}
	if (found != SIZE_MAX)
		table->columns[found].name = "threads";
}

/* The column that the user names, in any case of letters. */
static int value_asked(struct table *table, struct err *err) {
	const struct study_reading *reading = table->reading;
	const char *near;
	for (size_t c = 0; c < table->csv->columns; c++) {
		if (strcasecmp(table->columns[c].name, reading->objective) != 0)
			continue;
		table->value = c;
		table->unitless = !reading->more && table->columns[c].read.measure == MEASURE_NONE && !reading->unit;
		return table->columns[c].numbers
		           ? 0
		           : err_set(err, ERR_USAGE, NULL, "%s: the column \"%.60s\" does not hold numbers", table->path,
		                     table->columns[c].name);
	}
	near = near_word(reading->objective, table->csv->header, table->csv->columns);
	err_set(err, ERR_USAGE, NULL, "%s does not have a column \"%.60s\"", table->path, reading->objective);
	return near ? err_hint(err, "did you mean %s?", near) : -1;
}

/* Might a column whose header does not say so be what was measured? A rate is no time of a version. */
static bool may_be_value(const struct table *table, size_t c) {
	const struct table_column *column = &table->columns[c];
	return c > 0 && column->numbers && !is_parameter_or_problem(table, c) && !table_is_team(column->name) &&
	       !table_is_statistic(&column->read) && strlen(column->name) <= 60 && varies(table->csv, c) &&
	       (c + 1 == table->csv->columns || is_real(table->csv, c) || rarely_repeats(table->csv, c));
}

/* Tells which columns might be the times, and how to say so. */
static int value_refuse(const struct table *table, struct err *err) {
	char names[3 * TABLE_NAME] = "";
	size_t count = 0, length;
	const char *first = "COLUMN";
	err_set(err, ERR_USAGE, NULL, "%s:1: the header does not name a column of times", table->path);
	for (size_t c = 0; c < table->csv->columns && count < 3; c++) {
		const char *name = table->columns[c].name;
		if (!may_be_value(table, c))
			continue;
		if (table_has_word(name, "throughput bandwidth rate"))
			return err_hint(err, "use --maximize '%s'", name);
		length = strlen(names);
		snprintf(names + length, sizeof names - length, "%s%s", count ? "," : "", name);
		first = count++ ? first : name;
	}
	return err_hint(err, "write time_s, time_ms or GB/s there, or use --minimize '%s' or --maximize '%s'%s%s%s", first,
	                first, count > 1 ? ", or --versions '" : "", count > 1 ? names : "",
	                count > 1 ? "' if each is the time of a version" : "");
}

/* "wall time of the solver" is the time where nothing else is. */
static bool only_time(struct table *table) {
	size_t found = SIZE_MAX;
	for (size_t c = 0; c < table->csv->columns; c++) {
		const struct table_column *column = &table->columns[c];
		if (!column->numbers || !table_has_word(column->read.base, "time zeit runtime walltime laufzeit") ||
		    table_is_statistic(&column->read))
			continue;
		if (found != SIZE_MAX)
			return false;
		found = c;
	}
	table->value = found != SIZE_MAX ? found : table->value;
	return found != SIZE_MAX;
}

/* The unit that the user names for values without one. */
static int unit_set(struct table *table, struct err *err) {
	struct table_column *column = &table->columns[table->value];
	struct table_name unit;
	bool time = column->read.measure == MEASURE_NONE && strcasecmp(column->name, "speedup") != 0 &&
	            !(table->reading && table->reading->objective);
	if (!table->reading || !table->reading->unit) {
		table->assumed_unit = table->assumed_unit || (time && !table->given);
		return 0;
	}
	table_name_read(table->reading->unit, &unit);
	if (unit.measure == MEASURE_NONE || *unit.base)
		return err_set(err, ERR_USAGE, "--unit takes s, ms, us, ns, GB/s, Kops/s and the like",
		               "the unit \"%.40s\" is not known", table->reading->unit);
	if (unit.measure == MEASURE_RATE)
		column->name = arena_printf(table->csv->arena, "%s (%s)", column->name, table->reading->unit);
	snprintf(unit.base, sizeof unit.base, "%s", column->read.base);
	column->read = unit;
	table->assumed_unit = false;
	return 0;
}

/* Finds by its name the one of several times that the others add up to. */
static bool total_find(struct table *table) {
	size_t found = 0;
	for (size_t c = 0; c < table->csv->columns; c++)
		if (table->columns[c].read.measure == MEASURE_TIME && table->columns[c].numbers &&
		    table_has_word(table->columns[c].read.base, "total overall gesamt") && found++ == 0)
			table->value = c;
	return found == 1;
}

/* The column with the rows' times; without one, a rate. */
static int value_choose(struct table *table, struct err *err) {
	if (table->given) {
		while (table->given[table->value] != TABLE_TIME && table->given[table->value] != TABLE_RATE)
			table->value++;
		return 0;
	}
	if (table->reading && table->reading->objective)
		return value_asked(table, err);
	if (table->wide && !table_among(table->wide, strlen(table->wide), "part")) { /* the last column was made for it */
		table->value = table->csv->columns - 1;
		return 0;
	}
	int best = 1000;
	bool twice = false;
	for (size_t c = 0; c < table->csv->columns; c++) {
		const struct table_name *name = &table->columns[c].read;
		int rank = is_parameter_or_problem(table, c) ? -1 : table_time_rank(name);
		if (rank >= 0 && table_is_behind_rates(table, c))
			rank += 2 * RATE_RANK - RANKS;
		else if (rank < 0 && name->measure != MEASURE_NONE && !is_parameter_or_problem(table, c) &&
		         !table_is_statistic(name))
			rank = RATE_RANK + (name->measure == MEASURE_TIME ? !*name->per
			                    : !*name->per                 ? RATE_RANK
			                                                  : 2 * (strcmp(name->per, "byte") == 0));
		if (rank < 0 && strcasecmp(table->columns[c].name, "speedup") == 0)
			rank = 2 * RATE_RANK;
		bool empty = !*csv_cell(table->csv, 0, c) && !varies(table->csv, c);
		if (rank < 0 || table_is_statistic(name) || (empty && table->csv->rows))
			continue;
		twice = rank == best || (twice && rank > best);
		table->value = rank < best ? c : table->value;
		best = rank < best ? rank : best;
	}
	if (best == 1000)
		return only_time(table) ? 0 : value_refuse(table, err);
	if (twice && best >= RATE_RANK && !total_find(table))
		return err_set(err, ERR_USAGE, "name the one to explain time_s, time_ms or time_us",
		               "%s: more than one column could be the time", table->path);
	return 0;
}

/* The rows of a table without a column: are they still different from each other? */
static bool is_determined(const struct table *table, size_t column) {
	const struct csv *csv = table->csv;
	for (size_t r = 0; r < csv->rows; r++)
		for (size_t s = 0; s < r; s++) {
			bool same = true;
			for (size_t c = 0; c < csv->columns && same; c++)
				same = c == column ||
				       (table->columns[c].role != TABLE_PARAM && table->columns[c].role != TABLE_PROBLEM) ||
				       strcmp(csv_cell(csv, r, c), csv_cell(csv, s, c)) == 0;
			if (same && strcmp(csv_cell(csv, r, column), csv_cell(csv, s, column)) != 0)
				return false;
		}
	return true;
}

static bool all_differ(const struct csv *csv, size_t column) {
	size_t r = 0;
	while (r < csv->rows && csv->rows <= DIFFERENT_MOST && times_seen(csv, column, r) == 1)
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
	                "optimized optimised opt global serial sequential seq parallel openmp omp pthreads mpi cuda v1 v2");
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

static bool is_run(const struct table *table, size_t c) {
	char key[TABLE_NAME];
	table_key(table->columns[c].name, key);
	return (table_is_statistic(&table->columns[c].read) && !varies(table->csv, c)) || /* how many runs a row is of */
	       table_among(key, strlen(key),
	                   "run trial rep repetition repeat sample attempt measurement try run_id run_no run_nr trial_id");
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
	if (is_given_problem(table, column->name))
		return TABLE_PROBLEM;
	if (strcasecmp(column->name, "kernel") == 0)
		return are_versions(table->csv, c) ? TABLE_PARAM : all_differ(table->csv, c) ? TABLE_PROBLEM : TABLE_IGNORED;
	if (!column->numbers && table_among(column->name, strlen(column->name), "program application app"))
		return are_versions(table->csv, c) ? TABLE_PARAM : TABLE_PROBLEM;
	if (!column->numbers && strcasecmp(column->name, "list") == 0 && are_lists(table->csv, c))
		return TABLE_PARAM;
	/* "H2D" and "D2H" are work; "top-down" and "bottom-up" are ways to do it. */
	if (!column->numbers && table_has_word(column->name, "direction copy transfer way") &&
	    all_among(table->csv, c, table_direction_words))
		return TABLE_PROBLEM;
	if (is_index(table->csv, c) || (column->numbers && is_run(table, c)))
		return TABLE_IGNORED;
	if (strcasecmp(column->name, "status") == 0 || strcasecmp(column->name, "result") == 0)
		return column->numbers ? TABLE_IGNORED : TABLE_STATUS;
	if (!column->numbers && table_among(column->name, strlen(column->name), "perf_stat likwid"))
		return TABLE_FILE;
	if (!is_measured(column) && table_is_parameter(column->name))
		return TABLE_PARAM;
	bool work = c == 0 && table->wide && strcmp(table->wide, "version") == 0; /* which each version does */
	if (!column->numbers && (work || are_given(table->csv, c)))
		return TABLE_PROBLEM;
	if (!is_measured(column) && table_is_problem(column->name))
		return TABLE_PROBLEM;
	if (column->numbers && table_is_statistic(&column->read))
		return TABLE_IGNORED;
	if (column->numbers && column->read.measure != MEASURE_NONE)
		return TABLE_FIGURE;
	if (column->numbers && table_is_counter(column->name))
		return TABLE_COUNTER;
	if (table_is_figure(column->name))
		return column->numbers ? TABLE_FIGURE : TABLE_IGNORED;
	return column->numbers && is_real(table->csv, c) && rarely_repeats(table->csv, c) ? TABLE_FIGURE : TABLE_PARAM;
}

/* A number of iterations is an input if rows differ in nothing else, and a result if it follows from the other
 * columns. */
static void counts_decide(struct table *table) {
	for (size_t c = 0; c < table->csv->columns; c++) {
		struct table_column *column = &table->columns[c];
		if (!table_is_count(column->name) || is_given_problem(table, column->name) || !column->numbers ||
		    c == table->value)
			continue;
		bool of_one = *table->columns[table->value].read.per; /* then the count is how often a benchmark ran it */
		bool result = varies(table->csv, c) && table->csv->rows < 5000 && is_determined(table, c);
		column->role = of_one ? TABLE_IGNORED : result ? TABLE_FIGURE : TABLE_PROBLEM;
	}
}

/* So were whole numbers that are rarely the same twice, percentages and fractions, if the other columns tell all rows
 * apart. What was chosen comes before what was measured, and words behind the times are remarks. */
static void results_decide(struct table *table) {
	for (size_t c = table->csv->columns; c-- > 0 && table->csv->rows <= TABLE_PAIRS_ROWS;) {
		struct table_column *column = &table->columns[c];
		bool share = strchr(column->name, '%') || is_real(table->csv, c), behind = c > table->value;
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
	size_t all = csv->rows ? times_seen(csv, column, 0) : 0;
	double number, least = INFINITY, most = 0;
	for (size_t r = 0; r < csv->rows; r++) {
		if (!table_number(csv, csv_cell(csv, r, column), false, &number) || times_seen(csv, column, r) != all)
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
		if ((column->role == TABLE_PARAM || column->role == TABLE_PROBLEM) && varies(table->csv, c))
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
		table->columns[c].numbers = all_numbers(csv, c);
		table_name_read(csv->header[c], &table->columns[c].read);
	}
	threads_name(table);
	if (names_check(table, err) || given_check(table, err) || value_choose(table, err) || unit_set(table, err))
		return -1;
	for (size_t c = 0; c < csv->columns; c++)
		table->columns[c].role = role_of(table, c);
	counts_decide(table);
	chosen_decide(table);
	only_chosen_decide(table);
	results_decide(table);
	return table_roles_follow(table, err);
}
