/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the rows of a producer's file to a table whose columns have a role. */
#include <config.h>

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "tuner/study/producer_impl.h"

struct row {
	const char **cells;
	size_t count, line;
};

struct grid {
	struct csv *csv; /* header and arena only, until the end */
	struct row *rows;
	size_t room;
};

struct grid *grid_new(void) {
	struct grid *grid = mem_alloc(1, sizeof *grid);
	grid->csv = mem_alloc(1, sizeof *grid->csv);
	grid->csv->arena = arena_new();
	grid->csv->delimiter = ',';
	grid->csv->header = arena_alloc(grid->csv->arena, CSV_COLUMNS_MAX, sizeof *grid->csv->header);
	grid->csv->notes = arena_alloc(grid->csv->arena, CSV_NOTES_MAX, sizeof *grid->csv->notes);
	return grid;
}

void grid_row(struct grid *grid, size_t line) {
	if (grid->csv->rows == CSV_ROWS_MAX)
		return;
	if (grid->csv->rows == grid->room) {
		grid->room = grid->room ? 2 * grid->room : 64;
		grid->rows = mem_grow(grid->rows, grid->room, sizeof *grid->rows);
	}
	grid->rows[grid->csv->rows++] = (struct row){.line = line};
}

static size_t column_of(struct grid *grid, const char *name) {
	struct csv *csv = grid->csv;
	size_t c = 0;
	while (c < csv->columns && strcmp(csv->header[c], name) != 0)
		c++;
	if (c == csv->columns && c < CSV_COLUMNS_MAX) {
		char *copy = arena_printf(csv->arena, "%.*s", TABLE_NAME - 1, name);
		text_clean(copy, false);
		csv->header[csv->columns++] = copy;
	}
	return c;
}

/* Where the cell of the last row stands; NULL beyond the limits. */
static const char **cell_of(struct grid *grid, const char *name) {
	size_t c = *name && grid->csv->rows ? column_of(grid, name) : CSV_COLUMNS_MAX;
	if (c == CSV_COLUMNS_MAX)
		return NULL;
	struct row *row = &grid->rows[grid->csv->rows - 1];
	if (c >= row->count) {
		const char **more = arena_alloc(grid->csv->arena, c + 8, sizeof *more);
		if (row->count)
			memcpy(more, row->cells, row->count * sizeof *more);
		row->cells = more;
		row->count = c + 8;
	}
	return &row->cells[c];
}

void grid_put(struct grid *grid, const char *name, const char *cell) {
	const char **at = cell_of(grid, name);
	if (!at)
		return;
	char *copy = arena_printf(grid->csv->arena, "%.*s", CSV_FIELD_MAX, cell);
	text_clean(copy, false);
	*at = copy;
}

void grid_more(struct grid *grid, const char *name, const char *cell) {
	const char **at = cell_of(grid, name);
	if (at)
		*at = *at ? arena_printf(grid->csv->arena, "%s\n%s", *at, cell) : arena_strdup(grid->csv->arena, cell);
}

struct csv *grid_end(struct grid *grid) {
	struct csv *csv = grid->csv;
	csv->cells = mem_alloc(csv->rows * csv->columns + 1, sizeof *csv->cells);
	csv->line = mem_alloc(csv->rows + 1, sizeof *csv->line);
	for (size_t r = 0; r < csv->rows; r++) {
		csv->line[r] = grid->rows[r].line;
		for (size_t c = 0; c < csv->columns; c++) {
			const char *cell = c < grid->rows[r].count ? grid->rows[r].cells[c] : NULL;
			csv->cells[r * csv->columns + c] = cell ? cell : "";
		}
	}
	free(grid->rows);
	free(grid);
	if (csv->rows && csv->columns)
		return csv;
	csv_free(csv);
	return NULL;
}

enum role {
	ROLE_SKIP,
	ROLE_TIME,
	ROLE_SAMPLE,
	ROLE_SCORE,
	ROLE_LESS,
	ROLE_MORE,
	ROLE_UNIT,
	ROLE_PER,
	ROLE_PARAMETER,
	ROLE_PROBLEM,
	ROLE_NAMED,
	ROLE_PATH,
	ROLE_TEST,
	ROLE_PAIRS,
	ROLE_COMMAND,
	ROLE_COUNTER,
	ROLE_AGGREGATE,
	ROLE_STATUS
};
static const char *const roles[] = {"skip", "time",  "sample",    "score",   "less",      "more",
                                    "unit", "per",   "parameter", "problem", "named",     "path",
                                    "test", "pairs", "command",   "counter", "aggregate", "status"};

/* The name of the values while the table is made. */
static const char value_column[] = "(value)";

struct part { /* what a column of the file is */
	enum role role;
	int rank;              /* the place of its rule: of several times the first one is taken */
	char name[TABLE_NAME]; /* in the table; of a time its unit, of a status or an aggregate the word */
	bool any;              /* the rule fits all names */
};

struct making {
	const struct csv *csv;
	const char *path;
	struct part *parts;
	size_t value; /* the column of the times */
	size_t line;  /* of the row */
	bool params;  /* a column is a parameter */
	struct grid *grid;
	int given[CSV_COLUMNS_MAX]; /* the roles of the grid's columns */
	const char *unit;           /* of all values so far; NULL: none yet */
	bool mixed;                 /* the units differ, and all values are in seconds */
	struct err *err;
};

static void trim(const char **at, size_t *length) {
	while (*length && **at == ' ') {
		++*at;
		--*length;
	}
	while (*length && (*at)[*length - 1] == ' ')
		--*length;
}

/* The name without what the pattern has around its "*". */
static void star_name(const char *pattern, const char *header, char name[TABLE_NAME]) {
	const char *star = strchr(pattern, '*');
	size_t before = star && star[1] == '\0' ? (size_t)(star - pattern) : 0;
	const char *dot = strrchr(header, '.');
	if (!star && dot && dot[1])
		before = (size_t)(dot + 1 - header);
	snprintf(name, TABLE_NAME, "%.*s", TABLE_NAME - 1, header + before + (!before && *header == '^'));
}

/* Reads one "pattern=role[:argument]"; false if the pattern does not fit. */
static bool rule_fits(const char *rule, size_t length, const char *header, struct part *part) {
	const char *equals = memrchr(rule, '=', length), *colon;
	char pattern[TABLE_NAME];
	size_t size = (size_t)(equals - rule), rest = length - size - 1;
	trim(&rule, &size);
	snprintf(pattern, sizeof pattern, "%.*s", (int)size, rule);
	if (fnmatch(pattern, header, FNM_CASEFOLD) != 0)
		return false;
	colon = memchr(equals + 1, ':', rest);
	size_t word = colon ? (size_t)(colon - equals - 1) : rest;
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
		if (strlen(roles[i]) == word && strncmp(roles[i], equals + 1, word) == 0)
			part->role = (enum role)i;
	part->any = strcmp(pattern, "*") == 0;
	if (colon)
		snprintf(part->name, TABLE_NAME, "%.*s", (int)(rest - word - 1), colon + 1);
	else if (part->role == ROLE_TIME || part->role == ROLE_SAMPLE)
		part->name[0] = '\0';
	else
		star_name(pattern, header, part->name);
	return true;
}

static void part_find(const char *rules, const char *header, struct part *part) {
	*part = (struct part){.role = ROLE_SKIP};
	for (const char *at = rules + strspn(rules, " "); *at; part->rank++) {
		size_t length = strcspn(at, ";");
		if (rule_fits(at, length, header, part))
			return;
		at += length + (at[length] == ';');
		at += strspn(at, " ");
	}
}

static bool is_value(enum role role) {
	return role == ROLE_TIME || role == ROLE_SAMPLE || role == ROLE_SCORE || role == ROLE_LESS || role == ROLE_MORE;
}

static bool has_cells(const struct csv *csv, size_t column) {
	for (size_t r = 0; r < csv->rows; r++)
		if (!table_is_missing(csv_cell(csv, r, column)))
			return true;
	return false;
}

static bool is_constant(const struct csv *csv, size_t column) {
	for (size_t r = 1; r < csv->rows; r++)
		if (strcmp(csv_cell(csv, r, column), csv_cell(csv, 0, column)) != 0)
			return false;
	return true;
}

static bool is_text(const struct csv *csv, size_t column) {
	double number;
	return csv->rows && !table_number(csv, csv_cell(csv, 0, column), true, &number);
}

/* The roles of all columns; the value is the user's, or the first of the rules that has cells. */
static int parts_find(const struct producer *producer, const struct study_reading *reading, struct making *making) {
	const struct csv *csv = making->csv;
	const char *asked = reading ? reading->objective : NULL;
	making->value = SIZE_MAX;
	for (size_t c = 0; c < csv->columns; c++) {
		struct part *part = &making->parts[c];
		part_find(producer->columns, csv->header[c], part);
		if (part->role != ROLE_PROBLEM && !is_value(part->role) && (part->any || is_text(csv, c)) &&
		    is_constant(csv, c) && csv->rows > 1 && part->role != ROLE_UNIT && part->role != ROLE_PATH)
			part->role = ROLE_SKIP; /* what every run has in common needs no name */
		if (asked && strcmp(asked, csv->header[c]) == 0) {
			part->role = reading->more ? ROLE_MORE : is_value(part->role) ? part->role : ROLE_LESS;
			making->value = c;
		}
		making->params = making->params || part->role == ROLE_PARAMETER || part->role == ROLE_NAMED;
		if (!asked && is_value(part->role) && has_cells(csv, c) &&
		    (making->value == SIZE_MAX || part->rank < making->parts[making->value].rank))
			making->value = c;
	}
	return making->value != SIZE_MAX
	           ? 0
	           : err_set(making->err, ERR_USAGE, "name the column to explain: --minimize COLUMN or --maximize COLUMN",
	                     "%s: no column that is known to be a time of %s has a value", making->path, producer->name);
}

static void put(struct making *making, const char *name, const char *cell, int role) {
	size_t before = making->grid->csv->columns;
	grid_put(making->grid, name, cell);
	if (making->grid->csv->columns > before)
		making->given[before] = role;
}

/* Without marks of thousands, as "1,234.5". */
static void plain_number(char *cell) {
	char *to = cell;
	for (char *at = cell; *at; at++)
		if (*at != ',' || strspn(at + 1, "0123456789") != 3)
			*to++ = *at;
	*to = '\0';
}

/* Arguments follow "/", with or without a name; a few of them say how often was measured. */
static const char path_words[] = "repeats iterations min_time min_warmup_time process_time real_time manual_time";
static const char *const summaries[] = {"_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS", "_min", "_max"};

/* The length of the name without the word that says what its row was made from; sets the word. */
static size_t summary_cut(const char *name, const char **summary) {
	size_t length = strlen(name);
	*summary = NULL;
	for (size_t i = 0; i < sizeof summaries / sizeof *summaries; i++) {
		size_t own = strlen(summaries[i]);
		if (length > own && strcmp(name + length - own, summaries[i]) == 0) {
			*summary = summaries[i];
			return length - own;
		}
	}
	return length;
}

static void path_put(struct making *making, const char *cell) {
	char copy[CSV_FIELD_MAX + 1], *rest = NULL, name[TABLE_NAME];
	const char *summary;
	size_t unnamed = 0, depth = 0;
	snprintf(copy, sizeof copy, "%.*s", (int)summary_cut(cell, &summary), cell);
	for (char *at = copy; *at; at++) { /* "/" in the arguments of a template is part of the name */
		depth += *at == '<';
		depth -= *at == '>' && depth;
		*at = *at == '/' && !depth ? '\n' : *at;
	}
	for (char *word = strtok_r(copy, "\n", &rest); word; word = strtok_r(NULL, "\n", &rest)) {
		char *colon = strchr(word, ':');
		size_t length = strcspn(word, ":");
		double number;
		if (table_among(word, length, path_words))
			continue;
		bool plain = table_number(making->csv, word, true, &number);
		if (colon && colon[1] && colon[1] != ':' && colon != word) {
			*colon = '\0';
			put(making, word, colon + 1, strcmp(word, "threads") == 0 ? TABLE_PARAM : -1);
		} else if (plain) {
			unnamed++;
			snprintf(name, sizeof name, unnamed == 1 ? "n" : "arg%zu", unnamed);
			put(making, name, word, TABLE_PROBLEM);
		} else
			put(making,
			    unnamed                                                 ? "variant"
			    : making->grid->rows[making->grid->csv->rows - 1].count ? "function"
			                                                            : "benchmark",
			    word, TABLE_PARAM);
	}
}

static void pairs_put(struct making *making, const char *cell) {
	char copy[CSV_FIELD_MAX + 1], *rest = NULL;
	snprintf(copy, sizeof copy, "%s", cell);
	for (char *word = strtok_r(copy, "&,; []", &rest); word; word = strtok_r(NULL, "&,; []", &rest)) {
		char *equals = strchr(word, '=');
		if (!equals || equals == word)
			continue;
		*equals = '\0';
		put(making, word, equals + 1, -1);
	}
}

enum { WORDS_MAX = 64 };

/* Splits in place. */
static size_t words_split(char *text, char *words[WORDS_MAX]) {
	size_t count = 0;
	char *rest = NULL;
	for (char *word = strtok_r(text, " ", &rest); word && count < WORDS_MAX; word = strtok_r(NULL, " ", &rest))
		words[count++] = word;
	return count;
}

/* Does the word at this place differ between the commands of a column? True for all if they have not equally many. */
static bool word_differs(const struct csv *csv, size_t column, size_t place, size_t count) {
	char first[CSV_FIELD_MAX + 1], other[CSV_FIELD_MAX + 1], *a[WORDS_MAX], *b[WORDS_MAX];
	snprintf(first, sizeof first, "%s", csv_cell(csv, 0, column));
	if (words_split(first, a) != count)
		return true;
	for (size_t r = 1; r < csv->rows; r++) {
		snprintf(other, sizeof other, "%s", csv_cell(csv, r, column));
		if (words_split(other, b) != count || strcmp(a[place], b[place]) != 0)
			return true;
	}
	return false;
}

/* "--threads=8", "-t 8", "OMP_NUM_THREADS=8 ./a", "./a 8": the name of the word at a place, and its value. */
static const char *word_name(char *const *words, size_t place, char name[TABLE_NAME]) {
	const char *word = words[place], *equals = strchr(word, '='), *before = place ? words[place - 1] : "";
	size_t dashes = strspn(word, "-"), letters = strcspn(word + dashes, "0123456789");
	if (equals && equals != word) {
		snprintf(name, TABLE_NAME, "%.*s", (int)(equals - word - (long)dashes), word + dashes);
		return equals + 1;
	}
	if (dashes == 1 && letters && word[dashes + letters] && !strpbrk(word + dashes + letters, "/.")) {
		snprintf(name, TABLE_NAME, "%.*s", (int)letters, word + dashes);
		return word + dashes + letters;
	}
	if (*before == '-' && !strchr(before, '='))
		snprintf(name, TABLE_NAME, "%s", before + strspn(before, "-"));
	else
		snprintf(name, TABLE_NAME, place ? "argument %zu" : "command", place);
	return word;
}

static void command_put(struct making *making, size_t row, size_t column) {
	char copy[CSV_FIELD_MAX + 1], *words[WORDS_MAX], name[TABLE_NAME];
	const char *cell = csv_cell(making->csv, row, column);
	snprintf(copy, sizeof copy, "%s", cell);
	size_t count = words_split(copy, words), known = 0;
	bool differ[WORDS_MAX] = {false}, aligned = true;
	for (size_t i = 0; i < count; i++) {
		differ[i] = word_differs(making->csv, column, i, count);
		known += differ[i];
	}
	aligned = known < count || count == 1;
	for (size_t i = 0; aligned && i < count; i++)
		if (differ[i]) {
			const char *value = word_name(words, i, name);
			put(making, name, value, -1);
		}
	if (!aligned)
		put(making, "command", cell, TABLE_PARAM);
}

/* A time, or a rate, of the row, with the unit that the rule, the row, the cell or the header has. */
static int value_put(struct making *making, size_t row, char *cell, double per) {
	const struct part *part = &making->parts[making->value];
	const char *unit = part->name;
	struct table_name read, header;
	char *end, header_text[2 * TABLE_NAME], text[48];
	table_name_read(making->csv->header[making->value], &header);
	for (size_t c = 0; c < making->csv->columns && part->role != ROLE_LESS && part->role != ROLE_MORE; c++)
		if (making->parts[c].role == ROLE_UNIT && *csv_cell(making->csv, row, c))
			unit = csv_cell(making->csv, row, c);
	if (table_is_missing(cell)) {
		put(making, value_column, "", -1);
		return 0;
	}
	plain_number(cell);
	double value = strtod(cell, &end), clock;
	if (*end && table_clock(cell, &clock)) {
		value = clock;
		end = cell + strlen(cell);
		unit = "s";
	}
	if (end == cell || (*end && part->role != ROLE_TIME && part->role != ROLE_SAMPLE))
		return err_set(making->err, ERR_USAGE, NULL, "%s:%zu: %.60s \"%.40s\" is not a number", making->path,
		               making->line, making->csv->header[making->value], cell);
	if (*end)
		unit = end + strspn(end, " ");
	if (part->role == ROLE_LESS || part->role == ROLE_MORE) {
		snprintf(text, sizeof text, "%.17g", value);
		put(making, value_column, text, -1);
		return 0;
	}
	table_name_read(*unit ? unit : "s", &read);
	if (!*unit)
		read = header.measure == MEASURE_NONE ? read : header;
	if (read.measure == MEASURE_NONE || (*unit && *read.base))
		return err_set(making->err, ERR_USAGE, "known units are s, ms, us, ns, and rates such as ops/s",
		               "%s:%zu: the unit \"%.40s\" is not known", making->path, making->line, unit);
	if (read.measure == MEASURE_RATE && making->unit && strcmp(making->unit, unit) != 0)
		return err_set(making->err, ERR_USAGE, "split the file by its units",
		               "%s:%zu: \"%.30s\" and \"%.30s\" in one table", making->path, making->line, making->unit, unit);
	snprintf(header_text, sizeof header_text, "%.*s", TABLE_NAME, unit);
	if (read.measure == MEASURE_RATE) {
		making->unit = making->unit ? making->unit : arena_strdup(making->grid->csv->arena, header_text);
		snprintf(text, sizeof text, "%.17g", value / per);
	} else
		snprintf(text, sizeof text, "%.9g", value * read.scale / per);
	put(making, value_column, text, -1);
	return 0;
}

static bool is_failed(const struct making *making, size_t row) {
	for (size_t c = 0; c < making->csv->columns; c++)
		if (making->parts[c].role == ROLE_STATUS && *csv_cell(making->csv, row, c) &&
		    strcasecmp(csv_cell(making->csv, row, c), making->parts[c].name) != 0)
			return true;
	return false;
}

/* Is the row a mean or the like of others? Then the word that says of what; NULL otherwise. */
static const char *summary_of(const struct making *making, size_t row) {
	const char *summary = NULL, *found;
	for (size_t c = 0; c < making->csv->columns; c++) {
		const char *cell = csv_cell(making->csv, row, c);
		if (making->parts[c].role == ROLE_AGGREGATE && *cell && strcmp(cell, making->parts[c].name) != 0)
			summary = summary ? summary : "";
		if (making->parts[c].role == ROLE_PATH && (summary_cut(cell, &found), found))
			summary = found;
	}
	return summary;
}

static void cell_put(struct making *making, size_t row, size_t column) {
	const struct part *part = &making->parts[column];
	const char *cell = csv_cell(making->csv, row, column);
	char number[CSV_FIELD_MAX + 1];
	if (!*cell || (column == making->value))
		return;
	if (part->role == ROLE_PATH)
		path_put(making, cell);
	else if (part->role == ROLE_TEST) {
		snprintf(number, sizeof number, "%s", cell);
		number[making->params ? strcspn(number, "[") : strlen(number)] = '\0';
		put(making, part->name, number, TABLE_PARAM);
	} else if (part->role == ROLE_PAIRS)
		pairs_put(making, cell);
	else if (part->role == ROLE_COMMAND && !making->params)
		command_put(making, row, column);
	else if (part->role == ROLE_PARAMETER || part->role == ROLE_PROBLEM || part->role == ROLE_NAMED)
		put(making, part->name, cell,
		    part->role == ROLE_PARAMETER ? TABLE_PARAM
		    : part->role == ROLE_PROBLEM ? TABLE_PROBLEM
		                                 : -1);
	else if (part->role == ROLE_COUNTER) {
		snprintf(number, sizeof number, "%s", cell);
		plain_number(number);
		number[strcspn(number, " ")] = '\0';
		double value;
		if (table_number(making->csv, number, false, &value))
			put(making, part->name, number, TABLE_COUNTER);
	}
}

/* A row for each number of the value's cell, which is a list if numbers are on lines of their own. */
static int row_make(struct making *making, size_t row) {
	char *list = mem_strdup(csv_cell(making->csv, row, making->value)), *rest = NULL;
	double per = 1;
	int failed = 0;
	bool bad = is_failed(making, row), first = true;
	making->line = making->csv->line[row];
	for (size_t c = 0; c < making->csv->columns; c++)
		if (making->parts[c].role == ROLE_PER && table_number(making->csv, csv_cell(making->csv, row, c), false, &per))
			per = per > 0 ? per : 1;
	for (char *word = strtok_r(list, "\n", &rest); (word || first) && !failed; word = strtok_r(NULL, "\n", &rest)) {
		char none[] = "";
		first = false;
		grid_row(making->grid, making->line);
		for (size_t c = 0; c < making->csv->columns; c++)
			cell_put(making, row, c);
		failed = value_put(making, row, bad || !word ? none : word, per);
	}
	free(list);
	return failed;
}

/* Which summaries stand for their rows where the file has nothing else? */
static const char *summary_wanted(const struct making *making) {
	bool median = false, mean = false;
	for (size_t r = 0; r < making->csv->rows; r++) {
		const char *summary = summary_of(making, r);
		if (!summary)
			return NULL;
		median = median || strcmp(summary, "_median") == 0;
		mean = mean || strcmp(summary, "_mean") == 0;
	}
	return median ? "_median" : mean ? "_mean" : NULL;
}

static int rows_make(struct making *making) {
	const char *wanted = summary_wanted(making);
	for (size_t r = 0; r < making->csv->rows; r++) {
		const char *summary = summary_of(making, r);
		if (summary ? wanted && strcmp(summary, wanted) == 0 : !wanted)
			if (row_make(making, r))
				return -1;
	}
	return 0;
}

/* The value's column gets a name that tells what it is, and is the last one. */
static void value_name(struct making *making, struct produced *produced) {
	enum role role = making->parts[making->value].role;
	struct csv *csv = produced->csv;
	for (size_t c = 0; c < csv->columns; c++) {
		produced->role[c] = making->given[c];
		if (strcmp(csv->header[c], value_column) != 0)
			continue;
		produced->role[c] = role == ROLE_MORE || making->unit ? TABLE_RATE : TABLE_TIME;
		csv->header[c] = role == ROLE_LESS || role == ROLE_MORE
		                     ? arena_strdup(csv->arena, making->csv->header[making->value])
		                 : making->unit ? arena_printf(csv->arena, "score (%s)", making->unit)
		                                : "time_s";
	}
	produced->unitless = role == ROLE_LESS;
	produced->more = role == ROLE_MORE;
}

static size_t column_find(const struct csv *csv, const char *name) {
	for (size_t c = 0; c < csv->columns; c++)
		if (strcasecmp(csv->header[c], name) == 0)
			return c;
	return SIZE_MAX;
}

struct csv *producer_pivot(const struct csv *csv) {
	size_t id = column_find(csv, "ID"), name = column_find(csv, "Metric Name"), unit = column_find(csv, "Metric Unit"),
		   value = column_find(csv, "Metric Value");
	char cell[CSV_FIELD_MAX + 1];
	if (id == SIZE_MAX || name == SIZE_MAX || unit == SIZE_MAX || value == SIZE_MAX)
		return NULL;
	struct grid *grid = grid_new();
	for (size_t r = 0; r < csv->rows; r++) {
		bool first = r == 0 || strcmp(csv_cell(csv, r, id), csv_cell(csv, r - 1, id)) != 0;
		if (first)
			grid_row(grid, csv->line[r]);
		for (size_t c = 0; first && c < csv->columns; c++)
			if (c != name && c != unit && c != value)
				grid_put(grid, csv->header[c], csv_cell(csv, r, c));
		snprintf(cell, sizeof cell, "%.200s %.100s", csv_cell(csv, r, value), csv_cell(csv, r, unit));
		grid_put(grid, csv_cell(csv, r, name), cell);
	}
	return grid_end(grid);
}

int producer_apply(const struct producer *producer, const struct csv *csv, const char *path,
                   const struct study_reading *reading, struct produced *produced, struct err *err) {
	struct making making = {.csv = csv, .path = path, .grid = grid_new(), .err = err};
	making.parts = mem_alloc(csv->columns + 1, sizeof *making.parts);
	int failed = parts_find(producer, reading, &making) || rows_make(&making) ? -1 : 0;
	struct csv *made = grid_end(making.grid);
	*produced = (struct produced){0};
	if (!failed && !made)
		failed = err_set(err, ERR_USAGE, NULL, "%s: no row of it is a measurement", path);
	if (!failed) {
		produced->csv = made;
		produced->role = mem_alloc(made->columns, sizeof *produced->role);
		value_name(&making, produced);
		produced->guessed = (produced->unitless || produced->more) && !(reading && reading->objective);
	} else
		csv_free(made);
	free(making.parts);
	return failed;
}

void produced_free(struct produced *produced) {
	csv_free(produced->csv);
	free(produced->role);
}
