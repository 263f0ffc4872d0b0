/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns that follow from others: pairs of parameters that change together, results that belong to the problem, and
 * numbers that were taken for a size of the problem. */
#include <ctype.h>
#include <math.h>
#include <strings.h>

#include "tuner/study/study_impl.h"

enum { TOGETHER_LEAST = 3, SIZE_ROWS_LEAST = 3 };
/* A time that is so much shorter at a larger value does not belong to a larger problem. */
static const double SHORTER = 2, VALLEY = 1.5, GROWTH = 8, POWER_LEAST = 0.8, NEAR = 1.5, TEAM_NEVER = 1000,
					GAINED = 0.6, THINGS_LEAST = 100, MOST = 0.7, WHOLE = 1.02, SIDE_LEAST = 32;

static const char grid_words[] = "grid griddim gridsize";

static bool is_place(const char *header) {
	char key[TABLE_NAME];
	table_key(header, key);
	return table_has_word(key, "nodes hosts machines servers sockets packages racks");
}

/* How much a column is worth keeping of two that say the same. */
static int worth(const struct table *table, size_t c) {
	return 2 * (strcmp(table->columns[c].name, "threads") == 0) + table_is_parameter(table->columns[c].name);
}

/* Do two columns change together, each value of one beside one value of the other? */
static bool go_together(const struct csv *csv, size_t a, size_t b) {
	size_t distinct = 0;
	for (size_t r = 0; r < csv->rows; r++) {
		for (size_t s = 0; s < r; s++)
			if (table_is_same(csv, a, r, s) != table_is_same(csv, b, r, s))
				return false;
		distinct += !table_seen(csv, a, r, r);
	}
	return distinct >= TOGETHER_LEAST;
}

/* "run --parallel=8" beside 8 processes says nothing new; one process may go unsaid. */
static bool repeats(const struct csv *csv, size_t words, size_t team) {
	bool all = true;
	for (size_t r = 0; r < csv->rows && all; r++)
		all = strstr(csv_cell(csv, r, words), csv_cell(csv, r, team)) || strcmp(csv_cell(csv, r, team), "1") == 0;
	return all && go_together(csv, words, team);
}

/* "producers" and "consumers", or a block and the grid that follows from it: as two parameters nothing would change
 * alone. */
static void together_ignore(struct table *table) {
	const struct csv *csv = table->csv;
	for (size_t a = 0; a < csv->columns && csv->rows <= TABLE_PAIRS_ROWS; a++)
		for (size_t b = a + 1; b < csv->columns; b++) {
			struct table_column *one = &table->columns[a], *other = &table->columns[b];
			if (one->role != TABLE_PARAM || other->role != TABLE_PARAM)
				continue;
			if (one->numbers == other->numbers ? !go_together(csv, a, b)
			    : one->numbers                 ? !table_is_team(one->name) || !repeats(csv, b, a)
			                                   : !table_is_team(other->name) || !repeats(csv, a, b))
				continue;
			(worth(table, b) > worth(table, a) ? one : other)->role = TABLE_IGNORED;
		}
}

/* Does each value of `fine` occur beside one value of `coarse`, and each of these beside several? */
static bool is_finer(const struct csv *csv, size_t fine, size_t coarse) {
	bool several = false;
	for (size_t r = 0; r < csv->rows; r++)
		for (size_t s = 0; s < r; s++) {
			bool same = table_is_same(csv, coarse, r, s);
			bool own = table_is_same(csv, fine, r, s);
			if (own && !same)
				return false;
			several = several || (same && !own);
		}
	return several;
}

static bool is_same_problem(const struct table *table, size_t a, size_t b) {
	for (size_t c = 0; c < table->csv->columns; c++)
		if (table->columns[c].role == TABLE_PROBLEM && !table_is_same(table->csv, c, a, b))
			return false;
	return true;
}

/* 64 ranks need 8 nodes: a scheduler fills them in turn, and a column of nodes would cut the series over ranks. */
static void places_ignore(struct table *table) {
	const struct csv *csv = table->csv;
	for (size_t a = 0; a < csv->columns && csv->rows <= TABLE_PAIRS_ROWS; a++)
		for (size_t b = 0; b < csv->columns; b++) {
			struct table_column *fine = &table->columns[a], *coarse = &table->columns[b];
			if (a != b && fine->role == TABLE_PARAM && coarse->role == TABLE_PARAM && fine->numbers &&
			    coarse->numbers && table_is_team(fine->name) && is_place(coarse->name) && is_finer(csv, a, b))
				coarse->role = TABLE_IGNORED;
		}
}

/* The depth of a recursion that follows from the number of threads: every team has one, which other teams have, too. */
static void depths_ignore(struct table *table) {
	const struct csv *csv = table->csv;
	for (size_t a = 0; a < csv->columns && csv->rows <= TABLE_PAIRS_ROWS; a++)
		for (size_t b = 0; b < csv->columns; b++) {
			struct table_column *fine = &table->columns[a], *coarse = &table->columns[b];
			if (fine->role == TABLE_PARAM && coarse->role == TABLE_PROBLEM && fine->numbers && coarse->numbers &&
			    table_is_team(fine->name) && table_has_word(coarse->name, "depth density degree scale limit range") &&
			    is_finer(csv, a, b))
				coarse->role = TABLE_IGNORED;
		}
}

/* Does a column have one value for each problem, of which some have several rows, and is it not always the same? */
static bool is_of_problem(const struct table *table, size_t column) {
	const struct csv *csv = table->csv;
	bool several = false, varies = false;
	for (size_t r = 0; r < csv->rows; r++)
		for (size_t s = 0; s < r; s++) {
			bool same = table_is_same(csv, column, r, s);
			bool problem = is_same_problem(table, r, s);
			if (problem && !same)
				return false;
			several = several || problem;
			varies = varies || !same;
		}
	return several && varies;
}

/* The number of components of a graph, beside its name: nobody chose it. */
static void results_ignore(struct table *table) {
	for (size_t c = 0; c < table->csv->columns && table->csv->rows <= TABLE_PAIRS_ROWS; c++) {
		struct table_column *column = &table->columns[c];
		if (column->role == TABLE_PARAM && column->numbers && !table_is_parameter(column->name) &&
		    !table_is_team(column->name) && is_of_problem(table, c))
			column->role = TABLE_IGNORED;
	}
}

/* The only column that varies, if it is a number, perhaps beside teams; SIZE_MAX otherwise. */
static size_t only_size(const struct table *table, bool beside_teams) {
	size_t found = SIZE_MAX;
	for (size_t c = 0; c < table->csv->columns; c++) {
		const struct table_column *column = &table->columns[c];
		if (!table_varies(table->csv, c) || (beside_teams && table_is_team(column->name)) || !table_is_set(column))
			continue;
		if (found != SIZE_MAX || !column->numbers)
			return SIZE_MAX;
		found = c;
	}
	return found;
}

/* Do all times lie near a power of the column, which is a power of work? */
static bool is_power(const struct table *table, size_t column, double size, double time, double power) {
	for (size_t r = 0; r < table->csv->rows && power >= POWER_LEAST; r++) {
		double x = table_amount(table->csv, r, column), y = table_own(table->csv, r, table->value);
		if (!isnan(x + y) && !(fabs(log(y / time / pow(x / size, power))) <= log(NEAR)))
			return false;
	}
	return power >= POWER_LEAST;
}

/* The depth of a recursion, where tasks end, is not a size: times fall as it grows, or have a least value within. What
 * times grow with, by about the same power throughout, is one whatever its name: nobody chooses the shortest input. */
static void sizes_decide(struct table *table) {
	const struct csv *csv = table->csv;
	size_t column = only_size(table, false);
	if (column == SIZE_MAX || csv->rows < SIZE_ROWS_LEAST || table->columns[table->value].role != TABLE_TIME ||
	    *table->columns[table->value].read.per)
		return;
	bool team = table_is_team(table->columns[column].name);
	struct table_ends ends = table_ends(table, column);
	/* Processes that a program starts by the thousand are its work, and no team. */
	if (team ? !(ends.small >= TEAM_NEVER && ends.at_large > ends.at_small)
	         : table_is_parameter(table->columns[column].name))
		return;
	if (ends.at_small > SHORTER * ends.at_large ||
	    (ends.at_small > VALLEY * ends.least && ends.at_large > VALLEY * ends.least))
		table->columns[column].role = TABLE_PARAM;
	else if (ends.large >= GROWTH * ends.small && ends.small > 0 &&
	         is_power(table, column, ends.small, ends.at_small,
	                  log(ends.at_large / ends.at_small) / log(ends.large / ends.small)))
		table->columns[column].role = TABLE_PROBLEM;
}

static void numbers_decide(struct table *table) {
	for (size_t c = 0; c < table->csv->columns && table->csv->rows <= TABLE_PAIRS_ROWS; c++) {
		struct table_column *column = &table->columns[c];
		bool listed = column->role == TABLE_PROBLEM && table_has_word(column->name, "test case experiment");
		if ((column->role != TABLE_PARAM && !listed) || table_is_parameter(column->name) || table_is_team(column->name))
			continue;
		enum table_number kind = table_number_kind(table, c, false);
		column->role = kind == NUMBER_SIZE ? TABLE_PROBLEM : kind == NUMBER_RUN ? TABLE_IGNORED : column->role;
	}
}

/* The only column that varies is a number of things, "rays" or "pods", and times do not fall with it: nobody chooses
 * fewer of them. */
static void things_decide(struct table *table) {
	const struct csv *csv = table->csv;
	bool rate = table->columns[table->value].role == TABLE_RATE;
	size_t column = only_size(table, rate), length = column == SIZE_MAX ? 0 : strlen(csv->header[column]);
	if (length < 4 || csv->rows < SIZE_ROWS_LEAST || tolower((unsigned char)csv->header[column][length - 1]) != 's' ||
	    table_is_team(csv->header[column]) || table_is_parameter(csv->header[column]) ||
	    strpbrk(csv->header[column], " _"))
		return;
	struct table_ends ends = table_ends(table, column);
	if (ends.small >= THINGS_LEAST && (rate || ends.at_large >= ends.at_small))
		table->columns[column].role = TABLE_PROBLEM;
}

/* The cells of a column over those of the team are the same in all rows, of which there are several; power: those of
 * their square or cube, of a side that is longer than a team. */
static bool grows_with(const struct csv *csv, size_t column, size_t team, int power) {
	double first = NAN;
	for (size_t r = 0; r < csv->rows; r++) {
		double size = table_amount(csv, r, column), each = pow(size, power) / table_own(csv, r, team);
		first = r ? first : each;
		if (size != floor(size) || (power > 1 && size < SIDE_LEAST) || !(fabs(each - first) <= first * 1e-9))
			return false;
	}
	return csv->rows >= TOGETHER_LEAST && go_together(csv, column, team);
}

/* Is the time of the largest team so much shorter than that of the smallest one as no weak scaling makes it? */
static bool falls_with(const struct table *table, size_t team) {
	struct table_ends ends = table_ends(table, team);
	return table->columns[table->value].role == TABLE_TIME && ends.at_large < GAINED * ends.at_small;
}

/* A number of any name that is proportional to the team is the size of weak scaling: "records", 5M for each thread.
 * Where teams gain, it is another name of the team: "resources". */
static void weak_decide(struct table *table) {
	for (size_t a = 0; a < table->csv->columns && table->csv->rows <= TABLE_PAIRS_ROWS; a++)
		for (size_t b = 0; b < table->csv->columns; b++) {
			struct table_column *size = &table->columns[a];
			bool given = table_is_set(size) || (size->role == TABLE_FIGURE && !table_is_figure(size->name));
			bool behind = a > table->value && size->role != TABLE_PROBLEM && !table_is_count(size->name);
			if (a != b && given && !behind && size->read.measure == MEASURE_NONE && size->numbers &&
			    table->columns[b].role == TABLE_PARAM && table_is_team(table->columns[b].name) &&
			    !table_is_parameter(size->name) && !table_is_team(size->name) && !is_place(size->name) &&
			    (grows_with(table->csv, a, b, 1) || grows_with(table->csv, a, b, 2) || grows_with(table->csv, a, b, 3)))
				size->role = falls_with(table, b) ? TABLE_IGNORED : TABLE_PROBLEM;
		}
}

/* Is the product of two columns that vary proportional to the team? */
static bool are_sides(const struct csv *csv, size_t one, size_t other, size_t team) {
	double first = NAN;
	bool sides = csv->rows >= TOGETHER_LEAST && table_is_team(csv->header[team]) && !table_is_team(csv->header[one]) &&
	             !table_is_team(csv->header[other]) && table_varies(csv, one) && table_varies(csv, other);
	for (size_t r = 0; r < csv->rows && sides; r++) {
		double each = table_amount(csv, r, one) * table_amount(csv, r, other) / table_amount(csv, r, team);
		first = r ? first : each;
		sides = fabs(each / first - 1) < 1e-9;
	}
	return sides && first > 1 && table_varies(csv, team);
}

/* "nxg" and "nyg", of which the product alone is proportional to the team, are sides of what grows with it. */
static void weak_sides_decide(struct table *table) {
	const struct csv *csv = table->csv;
	for (size_t i = 0; i < csv->columns * csv->columns && csv->rows <= TABLE_PAIRS_ROWS; i++) {
		size_t one = i / csv->columns, other = i % csv->columns, team = 0;
		while (team < csv->columns && (one >= other || table->columns[one].role != TABLE_PARAM ||
		                               table->columns[other].role != TABLE_PARAM || !are_sides(csv, one, other, team)))
			team++;
		if (team < csv->columns)
			table->columns[one].role = table->columns[other].role = TABLE_PROBLEM;
	}
}

/* "cells/rank" that are the same in all rows are the work of each member: weak scaling. */
static void each_decide(struct table *table) {
	static const char members[] = "rank process proc thread core worker gpu node";
	for (size_t c = 0; c < table->csv->columns; c++) {
		const char *name = table->columns[c].name, *slash = strchr(name, '/');
		bool each = slash && table->csv->rows > 1 && !table_varies(table->csv, c) &&
		            table_among(slash + 1, strlen(slash + 1), members) &&
		            table_is_problem(arena_printf(table->csv->arena, "%.*s", (int)(slash - name), name));
		table->columns[c].role = each ? TABLE_PROBLEM : table->columns[c].role;
	}
}

static const double MUCH = 4, PROPORTION[] = {0.6, 1.5};

/* Do pairs of rows in which this number, and nothing else, is at least MUCH times as large look like rates? Times grow
 * with the problem, and rarely in proportion to the team. */
static bool is_rate_over(const struct table *table, size_t column) {
	const struct csv *csv = table->csv;
	bool team = table_is_team(table->columns[column].name);
	size_t all = 0, odd = 0;
	for (size_t i = 0; i < csv->rows * csv->rows; i++) {
		size_t a = i / csv->rows, b = i % csv->rows;
		double x = table_amount(csv, a, column), y = table_amount(csv, b, column);
		if (!(x > 0) || !(y >= MUCH * x) || !table_same_but(table, a, b, column))
			continue;
		double s = table_own(csv, a, table->value), t = table_own(csv, b, table->value);
		all += !isnan(s + t);
		odd += team ? t > PROPORTION[0] * y / x * s && t < PROPORTION[1] * y / x * s : t <= s;
	}
	return (team ? 2 : 3) * odd > all;
}

/* The version that has 1 in all rows of a table with a column for each: others are given as ratios to it. */
static const char *ratio_to(const struct table *table) {
	const struct csv *csv = table->csv;
	size_t version = 0;
	while (version < csv->columns && (!table->wide || strcmp(csv->header[version], table->wide) != 0))
		version++;
	for (size_t r = 0; r < csv->rows && version < csv->columns; r++) {
		size_t rows = 0, ones = 0, all = 0;
		for (size_t s = 0; s < csv->rows; s++) {
			bool own = table_is_same(csv, version, s, r);
			bool one = table_own(csv, s, table->value) == 1;
			rows += own;
			ones += own && one;
			all += one;
		}
		if (rows > 1 && ones == rows && all < csv->rows)
			return csv_cell(csv, r, version);
	}
	return NULL;
}

/* Numbers without a unit are taken for times unless they are ratios, or behave as rates do and no header calls them
 * times. */
static int value_check(const struct table *table, struct err *err) {
	bool named = !table->wide && table_has_word(table->columns[table->value].read.base,
	                                            "time runtime walltime duration exectime elapsed");
	const char *base = table->assumed_unit && table->csv->rows <= TABLE_PAIRS_ROWS ? ratio_to(table) : NULL;
	if (base)
		return err_set(
			err, ERR_USAGE, "give the times, or call it speedup if more is better",
			"%s: %.60s is 1 everywhere, so that the numbers are ratios, and nothing says whether more is better",
			table->path, base);
	bool asked = table->assumed_unit && !named && !table->told_times && table->csv->rows <= TABLE_PAIRS_ROWS;
	for (size_t c = 0; c < table->csv->columns && asked; c++)
		if (table->columns[c].numbers &&
		    (table->columns[c].role == TABLE_PROBLEM || table_is_team(table->columns[c].name)) &&
		    is_rate_over(table, c))
			return err_set(err, ERR_USAGE,
			               "name the unit above the table, as in \"# times in ms\" or \"# GB/s\", or with --unit",
			               "%s: nothing says what the numbers are, and times would not change so with %.60s",
			               table->path, table->columns[c].name);
	return 0;
}

/* A grid of blocks is how a kernel is launched, not what it works on. */
static void launches_decide(struct table *table) {
	bool blocks = false;
	for (size_t c = 0; c < table->csv->columns; c++)
		blocks = blocks || table_has_word(table->columns[c].name, "block blocks blockdim blocksize");
	for (size_t c = 0; c < table->csv->columns && blocks; c++)
		if (table->columns[c].role == TABLE_PROBLEM && table_has_word(table->columns[c].name, grid_words))
			table->columns[c].role = TABLE_PARAM;
}

static bool may_be_part(const struct table *table, size_t column) {
	const struct table_column *own = &table->columns[column];
	return own->role == TABLE_FIGURE && own->numbers && own->read.measure == MEASURE_NONE &&
	       !table_is_figure(own->name) && !table_is_counter(own->name) && !table_is_count(own->name);
}

/* Numbers without a unit that make up most of the time in each row, and never more, are its parts. */
static void parts_decide(struct table *table) {
	const struct csv *csv = table->csv;
	struct table_column *value = &table->columns[table->value];
	bool parts = value->role == TABLE_TIME && !*value->read.per;
	size_t found = 0;
	for (size_t r = 0; r < csv->rows && parts; r++) {
		double sum = 0, whole = table_own(csv, r, table->value);
		found = 0;
		for (size_t c = 0; c < csv->columns; c++)
			if (may_be_part(table, c) && isfinite(table_own(csv, r, c))) {
				sum += table_own(csv, r, c);
				found++;
			}
		parts = sum >= MOST * whole && sum <= WHOLE * whole;
	}
	for (size_t c = 0; c < csv->columns && parts && found > 1; c++)
		if (may_be_part(table, c)) {
			table->columns[c].read.measure = MEASURE_TIME;
			table->columns[c].read.scale = value->read.scale;
		}
}

static void derived_ignore(struct table *table) {
	for (size_t c = 0; c < table->csv->columns; c++)
		if (table_is_set(&table->columns[c]) && table_is_derived(table, c))
			table->columns[c].role = TABLE_IGNORED;
}

int table_roles_follow(struct table *table, struct err *err) {
	bool given = table->reading && table->reading->problem_count;
	parts_decide(table);
	table_labels_ignore(table);
	derived_ignore(table);
	if (!given) {
		launches_decide(table);
		each_decide(table);
		weak_decide(table);
		weak_sides_decide(table);
	}
	together_ignore(table);
	places_ignore(table);
	if (!given)
		depths_ignore(table);
	results_ignore(table);
	if (!given) {
		sizes_decide(table);
		numbers_decide(table);
		things_decide(table);
	}
	return value_check(table, err);
}
