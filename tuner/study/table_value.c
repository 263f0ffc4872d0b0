/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the column that a table is about: its times or its rates, where it has both, and their unit. */
#include <math.h>
#include <strings.h>

#include "base/text.h"
#include "tuner/study/study_impl.h"

enum { RATE_RANK = 100, RANKS = 20, LAWFUL_LEAST = 3 };
static const double STOPPED = 1.15, STOPPED_LEAST = 0.75, WORKED = 1.4, LAWFUL = 0.3, SUM_NEAR = 0.15, SUM_LEAST = 0.75,
					WEEKS = 1e6;

const char table_total_words[] = "total overall gesamt";

/* Did nearly all rows run for the same time? */
static bool are_stopped(const struct csv *csv, size_t time) {
	size_t rows = csv->rows < TABLE_PAIRS_ROWS ? csv->rows : TABLE_PAIRS_ROWS, most = 0;
	for (size_t r = 0; r < rows; r++) {
		size_t alike = 0;
		double one = table_positive(csv, r, time);
		for (size_t s = 0; s < rows; s++)
			alike += table_own(csv, s, time) >= one && table_own(csv, s, time) <= STOPPED * one;
		most = alike > most ? alike : most;
	}
	return rows && (double)most >= STOPPED_LEAST * (double)rows;
}

/* Is a time only what a load makes of a rate? By Little's law the clients in a service are its rate times how long a
 * request takes. */
static bool is_of_load(const struct table *table, size_t time, size_t rate, size_t clients) {
	const struct csv *csv = table->csv;
	double scale = table->columns[time].read.scale * table->columns[rate].read.scale;
	size_t lawful = 0, numbers = 0;
	for (size_t row = 0; row < csv->rows; row++) {
		double t = table_own(csv, row, time), r = table_own(csv, row, rate), n = table_own(csv, row, clients);
		if (isnan(t + r) || !(n >= 1))
			continue;
		numbers++;
		lawful += fabs(log(scale * t * r / n)) < LAWFUL;
	}
	return numbers >= LAWFUL_LEAST && lawful == numbers && table_span(csv, clients) >= 2;
}

/* Are the rows of some number of clients with this rate? */
static bool is_load(const struct table *table, size_t time, size_t rate) {
	bool load = false;
	for (size_t c = 0; c < table->csv->columns && !load; c++)
		load = c != time && c != rate && table->columns[c].numbers && table->columns[c].read.measure == MEASURE_NONE &&
		       is_of_load(table, time, rate, c);
	return load;
}

/* Do rates come before this time? Where all rows ran for the same time they are what differs, and of services that tell
 * both, how long a request takes is not what they do. */
static bool is_behind_rates(const struct table *table, size_t time) {
	bool latency = table_has_word(table->columns[time].read.base, "latency latencies lat");
	double most = 0;
	for (size_t c = 0; c < table->csv->columns; c++) {
		if (table->columns[c].read.measure != MEASURE_RATE || !*table->columns[c].read.per)
			continue;
		latency = latency || is_load(table, time, c);
		most = fmax(most, table_span(table->csv, c));
	}
	return latency ? most > 0 : are_stopped(table->csv, time) && most >= WORKED;
}

static bool is_parameter_or_problem(const struct table *table, size_t c) {
	const struct table_column *column = &table->columns[c];
	return table_is_given_problem(table, column->name) ||
	       (!table_is_measured(column) &&
	        (table_is_parameter(column->name) || (table_is_problem(column->name) && !table_is_count(column->name))));
}

/* As the file or as its reader writes a name, in any case of letters. */
static bool is_called(const struct table *table, size_t column, const char *name) {
	bool called = strcasecmp(table->columns[column].name, name) == 0;
	for (size_t i = 0; i < table->said_count && !called; i++)
		called =
			strcasecmp(table->said[i][0], name) == 0 && strcmp(table->said[i][1], table->columns[column].name) == 0;
	return called;
}

/* The column that the user names. */
static int value_asked(struct table *table, struct err *err) {
	const struct study_reading *reading = table->reading;
	const char *near;
	for (size_t c = 0; c < table->csv->columns; c++) {
		if (!is_called(table, c, reading->objective))
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
	       !table_is_statistic(&column->read) && strlen(column->name) <= 60 && table_varies(table->csv, c) &&
	       !table_is_before_team(table->csv, c) && !table_is_derived(table, c);
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

/* "wall time of the solver" is the time where nothing else is, and so is "MaxTime", a statistic. */
static bool only_time(struct table *table, bool statistic) {
	size_t found = SIZE_MAX;
	for (size_t c = 0; c < table->csv->columns; c++) {
		const struct table_column *column = &table->columns[c];
		bool time = table_has_word(column->read.base, "time zeit runtime walltime laufzeit duration elapsed t");
		if (!column->numbers || (table->csv->rows > 1 && !table_varies(table->csv, c)) ||
		    statistic != table_is_statistic(&column->read) ||
		    (!time && !(statistic && column->read.measure == MEASURE_TIME)))
			continue;
		if (found != SIZE_MAX)
			return false;
		found = c;
	}
	table->value = found != SIZE_MAX ? found : table->value;
	if (found != SIZE_MAX && table_is_figure(table->columns[found].name)) /* "relative time" has no unit */
		table->unitless = true;
	return found != SIZE_MAX;
}

/* The only number that nothing names, or the only one called a median or a mean, if it changes as times or speed-ups
 * do. */
static bool lawful_time(struct table *table) {
	static const char *const middles[] = {"", "median med", "mean avg average"};
	bool unknown[CSV_COLUMNS_MAX];
	size_t count = 0, found = 0;
	for (size_t c = 0; c < table->csv->columns; c++)
		unknown[c] = may_be_value(table, c) && !table_is_figure(table->columns[c].name);
	for (size_t i = 0; i < 3 && count != 1; i++) {
		count = 0;
		for (size_t c = 0; c < table->csv->columns; c++)
			if (unknown[c] && (!*middles[i] || table_has_word(table->columns[c].name, middles[i]))) {
				found = c;
				count++;
			}
	}
	enum table_measure law = count == 1 ? wide_law(table->csv, unknown, found) : MEASURE_NONE;
	table->value = law != MEASURE_NONE ? found : table->value;
	table->columns[found].read.measure = law == MEASURE_SPEEDUP ? law : table->columns[found].read.measure;
	return law != MEASURE_NONE;
}

/* A part stands behind the total, or has the name of one, or fractions that nobody chose. */
static bool may_be_part(const struct table *table, size_t c, size_t total) {
	const struct table_column *column = &table->columns[c];
	return column->numbers && column->read.measure == MEASURE_NONE && !table_is_statistic(&column->read) &&
	       !table_is_figure(column->name) && !table_is_team(column->name) && table_varies(table->csv, c) &&
	       c != total && (c > total || table_is_part(column->name) || table_is_real(table->csv, c));
}

/* Is a column what others, its parts, add up to, or nearly so? In some rows they may overlap, but none exceeds it. */
static bool is_total(const struct table *table, size_t column) {
	const struct csv *csv = table->csv;
	size_t within = 0;
	for (size_t r = 0; r < csv->rows; r++) {
		double sum = 0, most = 0, total = table_own(csv, r, column);
		for (size_t c = 0; c < csv->columns; c++)
			if (may_be_part(table, c, column) && isfinite(table_own(csv, r, c))) {
				sum += table_own(csv, r, c);
				most = fmax(most, table_own(csv, r, c));
			}
		bool lines = sum == 0 && csv->columns > column + 2; /* to fill in: the parts are empty */
		if (!(most <= (1 + SUM_NEAR) * total) || !(lines || sum >= SUM_LEAST * total))
			return false;
		within += sum <= (1 + SUM_NEAR) * total;
	}
	return 2 * within > csv->rows;
}

/* A total of parts, all without a unit. */
static bool total_of_parts(struct table *table) {
	const struct csv *csv = table->csv;
	size_t found = 0;
	while (found < csv->columns &&
	       !(table->columns[found].numbers &&
	         table_among(table->columns[found].read.base, strlen(table->columns[found].read.base), table_total_words)))
		found++;
	if (found == csv->columns || !is_total(table, found))
		return false;
	table->value = found;
	for (size_t c = 0; c < csv->columns; c++)
		if (may_be_part(table, c, found))
			table->columns[c].read.measure = MEASURE_TIME;
	table->columns[found].read.measure = MEASURE_TIME;
	table->assumed_unit = true;
	return true;
}

/* Whole numbers so large that they would be weeks are not seconds. */
static bool are_nanoseconds(const struct table *table) {
	size_t large = 0;
	for (size_t r = 0; r < table->csv->rows; r++) {
		double own = table_positive(table->csv, r, table->value);
		if (own != floor(own) && !isnan(own))
			return false;
		large += own >= WEEKS;
	}
	return 2 * large > table->csv->rows;
}

/* The only time, or the only number that is not a statistic, with one of the words. */
static bool only_named(struct table *table, bool times, const char *words) {
	size_t count = 0, found = 0;
	for (size_t c = 0; c < table->csv->columns; c++)
		if (table->columns[c].numbers && table_has_word(table->columns[c].read.base, words) &&
		    (times ? table->columns[c].read.measure == MEASURE_TIME : !table_is_statistic(&table->columns[c].read))) {
			found = c;
			count++;
		}
	table->value = count == 1 ? found : table->value;
	return count == 1;
}

/* The result of a search whose goal nobody names: less is assumed to be better, which the output says. */
static bool objective_find(struct table *table) {
	size_t found = 0;
	for (size_t c = 0; c < table->csv->columns; c++)
		if (table->columns[c].numbers &&
		    table_among(table->columns[c].name, strlen(table->columns[c].name), "value objective cost best") &&
		    found++ == 0)
			table->value = c;
	table->unitless = table->guessed = found == 1;
	return found == 1;
}

/* Cycles of a processor where nothing else is a time. */
static bool cycles_find(struct table *table) {
	table->unitless = only_named(table, false, "cycles");
	return table->unitless;
}

/* The unit that the user names for values without one. */
static int unit_set(struct table *table, struct err *err) {
	struct table_column *column = &table->columns[table->value];
	struct table_name unit;
	bool time = column->read.measure == MEASURE_NONE && !table->unitless && strcasecmp(column->name, "speedup") != 0 &&
	            !(table->reading && table->reading->objective);
	if (!table->reading || !table->reading->unit) {
		table->assumed_unit = table->assumed_unit || (time && !table->given);
		if (table->assumed_unit && are_nanoseconds(table)) {
			column->read.scale = 1e-9;
			column->name = table->wide ? "time_ns" : column->name;
		}
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

/* "runtime" may be the name of an interpreter. */
static bool has_number(const struct csv *csv, size_t column) {
	size_t r = 0;
	while (r < csv->rows && isnan(table_own(csv, r, column)))
		r++;
	return r < csv->rows || !csv->rows;
}

static double sum_of(const struct csv *csv, size_t column) {
	double sum = 0;
	for (size_t r = 0; r < csv->rows; r++)
		sum += fmax(0, table_positive(csv, r, column));
	return sum;
}

/* Takes the longest of several times that nothing tells apart, or the first of several rates, which the output says. */
static void longest_choose(struct table *table, const int *ranks, int rank, size_t tied) {
	table->among = tied;
	for (size_t c = 0; c < table->csv->columns; c++) {
		const struct table_name *own = &table->columns[c].read, *most = &table->columns[table->value].read;
		if (ranks[c] == rank && own->measure == MEASURE_TIME &&
		    own->scale * sum_of(table->csv, c) > most->scale * sum_of(table->csv, table->value))
			table->value = c;
	}
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
	int best = 1000, ranks[CSV_COLUMNS_MAX];
	size_t other, tied = 0;
	for (size_t c = 0; c < table->csv->columns; c++) {
		const struct table_name *name = &table->columns[c].read;
		ranks[c] = -1;
		int rank = c == table_told(table->csv, &other) && other == SIZE_MAX          ? 0
		           : is_parameter_or_problem(table, c) || !has_number(table->csv, c) ? -1
		                                                                             : table_time_rank(name);
		if (rank >= 0 && is_behind_rates(table, c))
			rank += 2 * RATE_RANK - RANKS;
		else if (rank == 0 && !table->columns[c].name[1]) /* "s" or "h" beside "time" may be anything */
			rank = RANKS / 2 - 1;
		else if (rank < 0 && name->measure != MEASURE_NONE && !is_parameter_or_problem(table, c) &&
		         !table_is_statistic(name))
			rank = RATE_RANK + (name->measure == MEASURE_TIME ? !*name->per
			                    : !*name->per                 ? RATE_RANK
			                                  : 2 * table_among(name->per, strlen(name->per), "byte bit"));
		if (rank < 0 && strcasecmp(table->columns[c].name, "speedup") == 0)
			rank = 2 * RATE_RANK;
		bool varies = table_varies(table->csv, c), empty = !*csv_cell(table->csv, 0, c) && !varies;
		rank += rank >= 0 && rank < RANKS / 2 && !varies && table->csv->rows > 1 ? RANKS / 2 : 0;
		if (rank < 0 || table_is_statistic(name) || (empty && table->csv->rows))
			continue;
		ranks[c] = rank;
		tied = rank < best ? 1 : tied + (rank == best);
		table->value = rank < best ? c : table->value;
		best = rank < best ? rank : best;
	}
	/* A time under any name comes before a ratio of times, "cg_time" before "cg_speedup", and before a constant. */
	bool constant = best >= RANKS / 2 && best < RANKS;
	if ((best >= 2 * RATE_RANK || constant) && only_time(table, false))
		return 0;
	if (best >= RATE_RANK && best < 1000 && total_of_parts(table))
		return 0;
	if (best == 1000)
		return only_named(table, true, "p50 median") || only_time(table, true) || total_of_parts(table) ||
		               lawful_time(table) || cycles_find(table) || objective_find(table)
		           ? 0
		           : value_refuse(table, err);
	if (tied > 1 && best >= RATE_RANK && !only_named(table, true, table_total_words)) /* what the others add up to */
		longest_choose(table, ranks, best, tied);
	return 0;
}

int table_value_find(struct table *table, struct err *err) {
	return value_choose(table, err) || unit_set(table, err) ? -1 : 0;
}
