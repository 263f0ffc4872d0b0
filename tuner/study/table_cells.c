/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as people write them become numbers: marks of thousands, minutes and seconds, the sides of a square, and the
 * word "serial" among numbers of threads. */
#include <ctype.h>
#include <math.h>
#include <strings.h>

#include "tuner/study/study_impl.h"

enum { GROUP = 3 };
static const double WHOLE_NEAR = 0.03;

const char table_serial_words[] = "serial sequential seq tseq tser tserial seriell sequentiell sequenziell";

/* The words of "4 threads (ns)" in the singular: where they begin, and how long they are; 0: it is no such header. */
static size_t counted_words(const char *header, const char **words) {
	size_t number = table_digits(header), length = strcspn(header, "([");
	*words = header + number;
	while (length > number && strchr(" s", header[length - 1]))
		length--;
	return number && header[number] == ' ' ? length - number : 0;
}

/* "1 thread (ns)", "2", "4": a number alone continues the name before it, and a unit counts for all of its kind. */
static void headers_continue(struct csv *csv) {
	const char *words, *own, *unit;
	for (size_t c = 1; c < csv->columns; c++)
		if (counted_words(csv->header[c - 1], &words) && table_digits(csv->header[c]) &&
		    !csv->header[c][table_digits(csv->header[c])])
			csv->header[c] = arena_printf(csv->arena, "%s%s", csv->header[c], words);
	for (size_t c = 0; c < csv->columns; c++) {
		size_t length = counted_words(csv->header[c], &words);
		unit = strpbrk(csv->header[c], "([");
		for (size_t d = 0; d < csv->columns && length && unit; d++)
			if (counted_words(csv->header[d], &own) == length && strncmp(own, words, length) == 0 &&
			    !strpbrk(csv->header[d], "(["))
				csv->header[d] = arena_printf(csv->arena, "%s %s", csv->header[d], unit);
	}
}

/* A comma that cannot be a mark of thousands begins a fraction: "10,2", "0,123" and "1234,567", where no cell of the
 * table has a point in it but as a mark of thousands: "1.000". In one column, somebody may have typed both. usual: it
 * does in a time, in the language of the headers. */
static bool has_decimal_commas(const struct csv *csv, size_t first, size_t step, bool usual) {
	bool some = false;
	for (size_t i = first; i < csv->rows * csv->columns; i += step) {
		const char *cell = csv->cells[i], *comma = cell + table_digits(cell);
		size_t fraction = *comma == ',' ? table_digits(comma + 1) : 0;
		if (table_digits(cell) && *comma == '.' && table_digits(comma + 1) &&
		    (table_digits(comma + 1) != GROUP || *cell == '0') && (step == 1 || strchr(cell, ',')))
			return false;
		some = some || (comma > cell && fraction && comma[1 + fraction] != ',' &&
		                (fraction != GROUP || *cell == '0' || comma - cell > GROUP ||
		                 (usual && table_has_word(csv->header[i % csv->columns], "time runtime duration"))));
	}
	return some;
}

/* "metric,padded,packed": a column for each version. */
static bool is_of_metrics(const struct csv *csv) {
	return table_among(csv->header[0], strlen(csv->header[0]), "metric metrics measure measurement quantity");
}

/* Is this the name of something that was measured of a run? */
static bool is_measure(const char *theirs, bool *timed) {
	struct table_name read;
	char name[TABLE_NAME];
	table_translate(theirs, name);
	table_name_read(name, &read);
	bool time = table_time_rank(&read) >= 0 || (read.measure == MEASURE_TIME && table_has_word(read.base, "time")) ||
	            read.measure == MEASURE_RATE;
	*timed = *timed || time;
	return time || read.measure != MEASURE_NONE || table_is_figure(name) || table_is_statistic(&read);
}

static bool are_numbers(const struct csv *csv, size_t row) {
	bool all = true;
	for (size_t c = 1; c < csv->columns && all; c++)
		all = table_is_missing(csv_cell(csv, row, c)) || strspn(csv_cell(csv, row, c), "+-~.0123456789");
	return all;
}

/* "threads,1,2,4,8" with a row of times below it: what is measured is the name of a row. The first row has numbers, or
 * names of anything if all others are measures: ",1 thread,2 threads". */
static bool is_transposed(const struct csv *csv) {
	double number;
	bool timed = false, numbers = true, measures = csv->rows > 0, named = false;
	for (size_t c = 1; c < csv->columns; c++) {
		numbers = numbers && table_number(csv, csv->header[c], true, &number);
		named = named || is_measure(csv->header[c], &named) || table_is_parameter(csv->header[c]) || !*csv->header[c];
	}
	for (size_t r = 0; r < csv->rows; r++) {
		measures = is_measure(csv_cell(csv, r, 0), &timed) && measures;
		if (!are_numbers(csv, r))
			return false;
	}
	return timed && csv->columns > 2 &&
	       (is_of_metrics(csv) || (measures && !named) ||
	        (numbers && (table_is_parameter(csv->header[0]) || table_is_problem(csv->header[0]))));
}

/* The name of what a turned table has across: "threads" of "1 thread" and "2 threads". */
static const char *across_name(struct csv *csv) {
	const char *first = csv->header[csv->columns - 1] + table_digits(csv->header[csv->columns - 1]);
	double number;
	size_t counted = 0, numbers = 0, length = *first == ' ' ? strlen(first) - (first[strlen(first) - 1] == 's') : 0;
	for (size_t c = 1; c < csv->columns; c++) {
		counted += length && strncmp(csv->header[c] + table_digits(csv->header[c]), first, length) == 0;
		numbers += table_number(csv, csv->header[c], true, &number);
	}
	if (counted + 1 == csv->columns)
		return first + 1;
	bool name = *csv->header[0] && (numbers || table_is_parameter(csv->header[0]) || table_is_problem(csv->header[0]));
	return name && !is_of_metrics(csv) ? csv->header[0] : "version";
}

static bool is_whole(const char *cell) {
	char ours[TABLE_NAME];
	table_translate(cell, ours);
	return table_among(ours, strcspn(ours, " "), "total sum all overall whole");
}

/* The unit behind the number of a cell such as "~2,1 s"; NULL: it has none. */
static const char *number_read(const struct csv *csv, size_t row, size_t column, double *number) {
	const char *cell = csv_cell(csv, row, column);
	char *plain = arena_strdup(csv->arena, cell + (*cell == '~')), *comma = strchr(plain, ','), *end;
	if (comma && !strchr(plain, '.'))
		*comma = '.';
	*number = strtod(plain, &end);
	return end > plain ? end + strspn(end, " ") : NULL;
}

/* The phases of one run below each other, whose times the row "Total" adds up: the column of times, or 0. */
static size_t phases_find(const struct csv *csv) {
	struct table_name name;
	for (size_t c = 1; c < csv->columns && csv->rows > 3; c++) {
		double whole = NAN, sum = 0, number;
		const char *unit = number_read(csv, 0, c, &number), *own;
		table_name_read(csv->header[c], &name);
		for (size_t r = 0; r < csv->rows && unit; r++) {
			own = number_read(csv, r, c, &number);
			number = own && strcmp(own, unit) == 0 ? number : NAN;
			whole = is_whole(csv_cell(csv, r, 0)) ? number : whole;
			sum += is_whole(csv_cell(csv, r, 0)) ? 0 : number;
		}
		bool words = isnan(table_amount(csv, 0, 0)) && !table_is_parameter(csv->header[0]);
		if (words && table_time_rank(&name) >= 0 && fabs(whole / sum - 1) <= WHOLE_NEAR)
			return c;
	}
	return 0;
}

/* Its phases become columns of one row, with the unit of their times. */
static void phases_turn(struct csv *csv, size_t times) {
	double number;
	struct table_name time;
	table_name_read(csv->header[times], &time);
	const char *unit = time.scale != 1 ? arena_printf(csv->arena, "(%s)", table_time_unit(time.scale)) : NULL,
			   *behind = number_read(csv, 0, times, &number);
	const char **header = arena_alloc(csv->arena, csv->rows, sizeof *header);
	const char **cells = mem_alloc(csv->rows, sizeof *cells);
	unit = *behind ? arena_printf(csv->arena, "(%s)", behind) : unit;
	for (size_t c = 0; c < csv->rows; c++) {
		const char *name = csv_cell(csv, c, 0);
		number_read(csv, c, times, &number);
		header[c] = arena_printf(csv->arena, "%s%s %s", is_whole(name) ? "total" : name, unit ? "" : " time",
		                         unit ? unit : "(s)");
		cells[c] = arena_printf(csv->arena, "%.9g", number);
	}
	free(csv->cells);
	csv->cells = cells;
	csv->header = header;
	csv->columns = csv->rows;
	csv->rows = 1;
}

static void turn(struct csv *csv) {
	size_t phases = phases_find(csv);
	if (phases && csv->rows <= CSV_COLUMNS_MAX)
		phases_turn(csv, phases);
	if (!is_transposed(csv) || csv->rows + 1 > CSV_COLUMNS_MAX)
		return;
	struct csv out = *csv;
	out.columns = csv->rows + 1;
	out.rows = csv->columns - 1;
	out.header = arena_alloc(csv->arena, out.columns, sizeof *out.header);
	out.cells = mem_alloc(out.rows * out.columns + 1, sizeof *out.cells);
	out.line = mem_alloc(out.rows + 1, sizeof *out.line);
	for (size_t c = 0; c < out.columns; c++) {
		char name[TABLE_NAME];
		table_translate(c ? csv_cell(csv, c - 1, 0) : across_name(csv), name);
		out.header[c] = arena_strdup(csv->arena, name);
	}
	for (size_t r = 0; r < out.rows; r++) {
		out.line[r] = csv->line[0];
		for (size_t c = 0; c < out.columns; c++)
			out.cells[r * out.columns + c] = c ? csv_cell(csv, c - 1, r + 1) : csv->header[r + 1];
	}
	free(csv->cells);
	free(csv->line);
	*csv = out;
}

/* Appends an empty column. */
static void column_append(struct csv *csv, const char *name) {
	size_t columns = csv->columns;
	const char **header = arena_alloc(csv->arena, columns + 1, sizeof *header);
	const char **cells = mem_alloc(csv->rows * (columns + 1) + 1, sizeof *cells);
	memcpy(header, csv->header, columns * sizeof *header);
	header[columns] = name;
	for (size_t r = 0; r < csv->rows; r++) {
		memcpy(cells + r * (columns + 1), csv->cells + r * columns, columns * sizeof *cells);
		cells[r * (columns + 1) + columns] = "";
	}
	free(csv->cells);
	csv->header = header;
	csv->cells = cells;
	csv->columns = columns + 1;
}

/* Returns where the sign of a pair such as "4 x 12" stands, and sets its length with the blanks around it; NULL if the
 * text is not a pair. */
static const char *pair_sign(const char *text, size_t *sign) {
	static const char *const signs[] = {" x ", "x", " \xc3\x97 ", "\xc3\x97", " * "};
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		const char *at = strstr(text, signs[i]);
		*sign = strlen(signs[i]);
		if (at && at > text && at[*sign])
			return at;
	}
	return NULL;
}

/* "ranks x threads" above "4 x 12" are two columns, unless all rows share out the same number. */
static void pairs_split(struct csv *csv, size_t column) {
	double members = NAN, first = NAN;
	bool shared = true;
	size_t length, own;
	const char *header = csv->header[column], *sign = pair_sign(header, &length), *at;
	if (!sign || *sign != ' ' || csv->columns == CSV_COLUMNS_MAX || !table_is_team(sign + length))
		return;
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column);
		if (!(at = pair_sign(cell, &own)) || cell + table_digits(cell) != at || at[own + table_digits(at + own)] ||
		    !table_digits(at + own))
			return;
		members = strtod(cell, NULL) * strtod(at + own, NULL);
		first = r ? first : members;
		shared = shared && members == first;
	}
	if (shared)
		return;
	column_append(csv, sign + length);
	csv->header[column] = arena_printf(csv->arena, "%.*s", (int)(sign - header), header);
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column);
		at = pair_sign(cell, &own);
		table_cell_set(csv, r, csv->columns - 1, at + own);
		table_cell_set(csv, r, column, arena_printf(csv->arena, "%.*s", (int)(at - cell), cell));
	}
}

/* A row with nothing but the first cell names the rows below it, and an empty first cell is the one above. */
static void groups_fill(struct csv *csv) {
	size_t kept = 0, empty = 0, groups = 0;
	for (size_t r = 0; r < csv->rows; r++) {
		size_t others = 0;
		for (size_t c = 1; c < csv->columns; c++)
			others += *csv_cell(csv, r, c) != '\0';
		groups += *csv_cell(csv, r, 0) && !others;
		empty += !*csv_cell(csv, r, 0) && others;
	}
	if (csv->columns < 3 || !empty || 2 * empty < csv->rows || !*csv_cell(csv, 0, 0) || !*csv->header[0])
		return;
	const char *group = "";
	for (size_t r = 0; r < csv->rows; r++) {
		bool others = false;
		for (size_t c = 1; c < csv->columns; c++)
			others = others || *csv_cell(csv, r, c);
		group = *csv_cell(csv, r, 0) ? csv_cell(csv, r, 0) : group;
		if (!others && groups)
			continue;
		memmove(csv->cells + kept * csv->columns, csv->cells + r * csv->columns, csv->columns * sizeof *csv->cells);
		csv->line[kept] = csv->line[r];
		table_cell_set(csv, kept++, 0, group);
	}
	csv->rows = kept;
}

/* The sign of typographers is a minus. */
static void minus_rewrite(struct csv *csv) {
	static const char sign[] = "\xe2\x88\x92";
	for (size_t i = 0; i < csv->rows * csv->columns; i++)
		if (strncmp(csv->cells[i], sign, strlen(sign)) == 0 && table_digits(csv->cells[i] + strlen(sign)))
			csv->cells[i] = arena_printf(csv->arena, "-%s", csv->cells[i] + strlen(sign));
}

/* "1 (serial)" is one thread where no other row has that. */
static bool is_one_twice(const struct csv *csv, size_t column) {
	bool one = false;
	for (size_t r = 0; r < csv->rows; r++)
		one = one || strcmp(csv_cell(csv, r, column), "1") == 0;
	return one;
}

/* Is it a column of teams in which serial code has a word instead of a number? */
static bool has_serial_cells(const struct csv *csv, size_t column) {
	double number;
	size_t words = 0, numbers = 0;
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column);
		words += table_is_serial(cell) && (*cell != '1' || is_one_twice(csv, column));
		numbers += table_number(csv, cell, false, &number);
	}
	return words && numbers && words + numbers == csv->rows && table_is_team(csv->header[column]);
}

/* The team's number in "4 threads", "OpenMP-4T" or "MPI (8 procs)", whose name it sets; NULL: it is something else. */
static const char *team_of(const char *cell, char name[TABLE_NAME]) {
	const char *number = cell + strcspn(cell, "0123456789"), *behind = number + table_digits(number);
	char word[TABLE_NAME];
	behind += strspn(behind, " -_");
	snprintf(word, sizeof word, "%.*s", (int)strcspn(behind, ")]"), behind);
	table_translate(word, name);
	if (strcasecmp(name, "t") == 0 || strncasecmp(name, "thread", 6) == 0)
		snprintf(name, TABLE_NAME, "threads");
	return table_digits(number) && table_is_team(name) && !strpbrk(behind, "0123456789") ? number : NULL;
}

/* A column of such words, all of one code besides serial code, is a column of teams. */
static void teams_strip(struct csv *csv, size_t column) {
	char name[TABLE_NAME];
	const char *code = NULL, *number;
	for (size_t c = 0; c < csv->columns; c++)
		if (table_is_team(csv->header[c]))
			return;
	for (size_t i = 0; i < 2 * csv->rows; i++) {
		size_t row = i % csv->rows;
		const char *cell = csv_cell(csv, row, column);
		if (table_is_serial(cell))
			continue;
		if (!(number = team_of(cell, name)) || (code && strncmp(cell, code, (size_t)(number - cell)) != 0))
			return;
		code = code ? code : cell;
		if (i >= csv->rows)
			table_cell_set(csv, row, column, arena_printf(csv->arena, "%.*s", (int)table_digits(number), number));
	}
	csv->header[column] = code ? arena_strdup(csv->arena, name) : csv->header[column];
}

/* Where a name ends with the number of a team, "mutex_8t" beside 8 threads: without it; NULL: it does not. */
static const char *name_alone(const struct csv *csv, const char *cell, const char *team) {
	size_t length = strlen(cell), own = strlen(team);
	length -= length && strchr("tTp", cell[length - 1]);
	bool ends =
		length > own + 1 && strncmp(cell + length - own, team, own) == 0 && strchr("_-", cell[length - own - 1]);
	return ends ? arena_printf(csv->arena, "%.*s", (int)(length - own) - 1, cell) : NULL;
}

/* The names of each team's rows are one name. */
static void names_strip(struct csv *csv, size_t column) {
	for (size_t c = 0; c < csv->columns; c++) {
		size_t named = 0;
		while (named < csv->rows && name_alone(csv, csv_cell(csv, named, column), csv_cell(csv, named, c)))
			named++;
		for (size_t r = 0; r < csv->rows && table_is_team(csv->header[c]) && named == csv->rows; r++)
			table_cell_set(csv, r, column, name_alone(csv, csv_cell(csv, r, column), csv_cell(csv, r, c)));
	}
}

/* The word moves to a column of its own, so that the numbers are numbers. */
static void serial_split(struct csv *csv, size_t column) {
	static const char *const names[] = {"code", "program"};
	size_t columns = csv->columns, name = 0;
	for (size_t c = 0; c < columns; c++)
		name += name < 2 && strcasecmp(csv->header[c], names[name]) == 0;
	if (name == 2 || columns == CSV_COLUMNS_MAX)
		return;
	column_append(csv, names[name]);
	for (size_t r = 0; r < csv->rows; r++) {
		bool serial = table_is_serial(csv_cell(csv, r, column));
		table_cell_set(csv, r, columns, serial ? "serial" : "parallel");
		if (serial)
			table_cell_set(csv, r, column, "");
	}
}

/* "N\\threads,1,2,4": the corner names the rows and the columns, or the columns alone if these are teams and the rows
 * words. NULL: it does not. */
static const char *corner_split(struct csv *csv) {
	const char *slash = strpbrk(csv->header[0], "\\/"), *team = table_is_team(csv->header[0]) ? csv->header[0] : NULL;
	double number;
	for (size_t c = 1; c < csv->columns; c++)
		if (!table_number(csv, csv->header[c], true, &number)) {
			if (slash && slash > csv->header[0] && *slash == '\\') /* "Processes \\ Threads" above "4 threads" */
				csv->header[0] = arena_printf(csv->arena, "%.*s", (int)(slash - csv->header[0]) - (slash[-1] == ' '),
				                              csv->header[0]);
			return NULL;
		}
	for (size_t r = 0; r < csv->rows && team; r++)
		if (isfinite(table_amount(csv, r, 0)) || table_is_figure(csv_cell(csv, r, 0)))
			team = NULL;
	if (csv->columns > 2 && team) {
		csv->header[0] = CORNER_SERIES;
		return table_is_threads(team) ? "threads" : team;
	}
	if (!slash || slash == csv->header[0] || !slash[1] || csv->columns < 3)
		return NULL;
	csv->header[0] =
		arena_printf(csv->arena, "%.*s", (int)(slash - csv->header[0]) - (slash[-1] == ' '), csv->header[0]);
	return slash + 1 + strspn(slash + 1, " ");
}

/* Words in a column without a name, as in a table of versions by what was measured of each. */
static void words_name(struct csv *csv) {
	bool words = !*csv->header[0];
	for (size_t c = 1; c < csv->columns; c++)
		words = words && strcasecmp(csv->header[c], "version") != 0;
	for (size_t r = 0; r < csv->rows; r++)
		words = words && *csv_cell(csv, r, 0) && isnan(table_amount(csv, r, 0));
	bool measures = csv->columns < 3, timed = false;
	for (size_t c = 1; c < csv->columns; c++)
		measures = measures || is_measure(csv->header[c], &timed);
	if (words)
		csv->header[0] = measures ? "version" : "row";
}

/* "Average,4.2" and "Speedup,3.8" below numbered rows are left out, and a speed-up where a column has times. */
static void summaries_drop(struct csv *csv) {
	static const char words[] = "average avg mean median total sum min max std stddev mittelwert summe moyenne media "
								"promedio totale speedup efficiency 平均 合计 总计";
	struct table_name name;
	size_t kept = 0;
	double number;
	bool numbered = csv->rows > 0 && table_number(csv, csv_cell(csv, 0, 0), true, &number), timed = false;
	for (size_t c = 1; c < csv->columns && !timed; c++) {
		table_name_read(csv->header[c], &name);
		timed = table_time_rank(&name) >= 0;
	}
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, 0);
		if (table_among(cell, strlen(cell), numbered ? words : timed ? "speedup speed-up" : ""))
			continue;
		memmove(csv->cells + kept * csv->columns, csv->cells + r * csv->columns, csv->columns * sizeof *csv->cells);
		csv->line[kept++] = csv->line[r];
	}
	csv->rows = kept;
}

/* Words among the numbers of a time, a rate or a speed-up say why there is none: "did not finish", "needs a fix". */
static void words_blank(struct csv *csv, size_t column) {
	struct table_name name;
	size_t numbers = 0, words = 0;
	table_name_read(csv->header[column], &name);
	if (name.measure == MEASURE_NONE && table_time_rank(&name) < 0 && strcasecmp(csv->header[column], "speedup") != 0)
		return;
	for (int pass = 0; pass < 2; pass++)
		for (size_t r = 0; r < csv->rows && (!pass || numbers > 2 * words); r++) {
			const char *cell = csv_cell(csv, r, column);
			bool word = !table_is_missing(cell) && !strpbrk(cell, "0123456789") &&
			            strncmp(csv->header[column], cell, strlen(cell)) != 0;
			if (pass && word)
				table_cell_set(csv, r, column, "-");
			words += !pass && word;
			numbers += !pass && table_digits(cell);
		}
}

void table_cells_rewrite(struct csv *csv, bool usual, const char **noted) {
	summaries_drop(csv);
	turn(csv);
	*noted = corner_split(csv);
	groups_fill(csv);
	minus_rewrite(csv);
	bool commas = has_decimal_commas(csv, 0, 1, usual);
	words_name(csv);
	for (size_t c = 0; c < csv->columns; c++) {
		pairs_split(csv, c);
		teams_strip(csv, c);
		names_strip(csv, c);
		words_blank(csv, c);
		table_units_rewrite(csv, c,
		                    csv->delimiter != ';' && (commas || has_decimal_commas(csv, c, csv->columns, false)));
	}
	headers_continue(csv);
	for (size_t c = 0; c < csv->columns; c++)
		if (has_serial_cells(csv, c)) {
			serial_split(csv, c);
			break;
		}
}
