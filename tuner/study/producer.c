/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the rows of a producer's file to a table whose columns have a role. */
#include <ctype.h>
#include <fnmatch.h>
#include <strings.h>

#include "tuner/study/study_impl.h"

static const struct producer producers[] = {
#include "tuner/study/producers.def"
};

static bool has_name(const struct csv *csv, const char *pattern, size_t length) {
	char one[TABLE_NAME];
	snprintf(one, sizeof one, "%.*s", (int)length, pattern);
	for (size_t c = 0; c < csv->columns; c++)
		if (fnmatch(one, csv->header[c], FNM_CASEFOLD) == 0)
			return true;
	return false;
}

/* Does the text have all of the words, which ";" separates? */
static bool has_all(const struct csv *csv, const char *text, size_t size, const char *words) {
	while (words && *words) {
		size_t length = strcspn(words, ";");
		if (csv ? !has_name(csv, words, length) : !memmem(text, size, words, length))
			return false;
		words += length + (words[length] == ';');
	}
	return true;
}

static const struct producer *of_header(const struct csv *csv) {
	for (size_t i = 0; i < sizeof producers / sizeof *producers; i++)
		if (producers[i].header && has_all(csv, "", 0, producers[i].header))
			return &producers[i];
	return NULL;
}

bool producer_heads(const char *line, size_t length) {
	for (size_t i = 0; i < sizeof producers / sizeof *producers; i++) {
		const char *words = producers[i].header;
		size_t count = 0, all = 0;
		for (const char *at = words; at && *at; at += *at == ';') {
			size_t own = strcspn(at, ";"), plain = strcspn(at, ";*?");
			all++;
			count += plain > 1 && memmem(line, length, at, plain);
			at += own;
		}
		if (all > 3 && count == all)
			return true;
	}
	return false;
}

const struct producer *producer_of_json(const char *text, size_t size) {
	enum { NEAR = 1 << 16 };
	for (size_t i = 0; i < sizeof producers / sizeof *producers; i++)
		if (producers[i].keys && (*producers[i].rows != '[' || *text == '[') &&
		    has_all(NULL, text, size < NEAR ? size : NEAR, producers[i].keys))
			return &producers[i];
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
	char unit[TABLE_NAME]; /* of the values so far */
	bool rates;            /* they are */
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
	before += (!before && *header == '^') || *pattern == '(';
	snprintf(name, TABLE_NAME, "%.*s", (int)(strcspn(header + before, *pattern == '(' ? ")" : "")), header + before);
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

static bool is_text(const struct csv *csv, size_t column) {
	return csv->rows && isnan(table_amount(csv, 0, column));
}

/* A size by its name, also as Java writes it: "numVertices". */
static bool is_size(const char *name) {
	char words[TABLE_NAME];
	table_translate(name, words);
	return table_is_problem(words) && !table_is_parameter(words);
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
		    !table_varies(csv, c) && csv->rows > 1 && part->role != ROLE_UNIT && part->role != ROLE_PATH)
			part->role = ROLE_SKIP; /* what every run has in common needs no name */
		if (asked && strcmp(asked, csv->header[c]) == 0) {
			part->role = reading->more ? ROLE_MORE : is_value(part->role) ? part->role : ROLE_LESS;
			making->value = c;
		}
		making->params = making->params || part->role == ROLE_PARAMETER || part->role == ROLE_NAMED;
		part->role = part->role == ROLE_NAMED && is_size(part->name) ? ROLE_PROBLEM : part->role;
		if (!asked && is_value(part->role) && has_cells(csv, c) &&
		    (making->value == SIZE_MAX || part->rank < making->parts[making->value].rank))
			making->value = c;
	}
	return making->value != SIZE_MAX
	           ? 0
	           : err_set(making->err, ERR_USAGE, "name the column to explain: --minimize COLUMN or --maximize COLUMN",
	                     "%s: no column that is known to be a time of %s has a value", making->path, producer->name);
}

void producer_number(char *cell, enum producer_marks marks) {
	size_t length = strspn(cell, "0123456789.,-' \xc2\xa0\xe2\x80\xaf");
	while (length && !isdigit((unsigned char)cell[length - 1]))
		length--;
	const char *last = NULL;
	size_t points = 0, commas = 0;
	for (size_t i = 0; i < length; i++) {
		points += cell[i] == '.';
		commas += cell[i] == ',';
		last = strchr(".,", cell[i]) ? cell + i : last;
	}
	bool alone = last && (*last == ',' ? commas : points) == 1;
	bool many = last && last - cell > 3 && strspn(cell, "0123456789") == (size_t)(last - cell); /* "1234,567" */
	bool decimal = alone && marks != MARKS_WHOLE &&
	               (*last == '.' || points || many || marks == MARKS_COMMA || strspn(last + 1, "0123456789") != 3);
	char *to = cell;
	for (char *at = cell; at < cell + length; at++)
		if (isdigit((unsigned char)*at) || *at == '-' || (decimal && at == last))
			*to++ = decimal && at == last ? '.' : *at;
	memmove(to, cell + length, strlen(cell + length) + 1);
}

/* A time, or a rate, of the row, with the unit that the rule, the row, the cell or the header has. */
static int value_put(struct making *making, size_t row, char *cell, double per) {
	const struct part *part = &making->parts[making->value];
	const char *unit = part->name;
	struct table_name read, header;
	char *end, text[48], own[16];
	table_name_read(making->csv->header[making->value], &header);
	for (size_t c = 0; c < making->csv->columns && !*unit; c++)
		if (sscanf(making->csv->header[c], "Name (time in %8[a-zµ])", own) == 1)
			unit = own;
	for (size_t c = 0; c < making->csv->columns && part->role != ROLE_LESS && part->role != ROLE_MORE; c++)
		if (making->parts[c].role == ROLE_UNIT && *csv_cell(making->csv, row, c))
			unit = csv_cell(making->csv, row, c);
	if (table_is_missing(cell) || isalpha((unsigned char)*cell)) { /* the name of a failure */
		grid_put(making->grid, value_column, "", -1);
		return 0;
	}
	double value, clock;
	enum producer_marks marks = making->csv->delimiter == ';' ? MARKS_COMMA : MARKS_POINT;
	bool clocked = table_clock(cell, &clock);
	if (!clocked)
		producer_number(cell, marks);
	value = strtod(cell, &end);
	if (clocked) {
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
		grid_put(making->grid, value_column, text, -1);
		return 0;
	}
	table_name_read(*unit ? unit : "s", &read);
	if (!*unit)
		read = header.measure == MEASURE_NONE ? read : header;
	if (read.measure == MEASURE_NONE || (*unit && *read.base))
		return err_set(making->err, ERR_USAGE, "known units are s, ms, us, ns, and rates such as ops/s",
		               "%s:%zu: the unit \"%.40s\" is not known", making->path, making->line, unit);
	bool rate = read.measure == MEASURE_RATE;
	if (*making->unit && (rate || making->rates) && strcmp(making->unit, unit) != 0)
		return err_set(making->err, ERR_USAGE, "split the file by its units",
		               "%s:%zu: \"%.30s\" and \"%.30s\" in one table", making->path, making->line, making->unit, unit);
	snprintf(making->unit, sizeof making->unit, "%s", unit);
	making->rates = rate;
	if (rate)
		snprintf(text, sizeof text, "%.17g", value / per);
	else
		snprintf(text, sizeof text, "%.9g", value * read.scale / per);
	grid_put(making->grid, value_column, text, -1);
	return 0;
}

static bool is_failed(const struct making *making, size_t row) {
	for (size_t c = 0; c < making->csv->columns; c++)
		if (making->parts[c].role == ROLE_STATUS && *csv_cell(making->csv, row, c) &&
		    strcasecmp(csv_cell(making->csv, row, c), making->parts[c].name) != 0)
			return true;
	return false;
}

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
	const char *cell = csv_cell(making->csv, row, column), *summary;
	char number[CSV_FIELD_MAX + 1];
	if (!*cell || (column == making->value))
		return;
	if (part->role == ROLE_PATH)
		grid_split(making->grid, GRID_PATH, making->csv, row, column, summary_cut(cell, &summary));
	else if (part->role == ROLE_TEST) {
		snprintf(number, sizeof number, "%s", cell);
		number[making->params ? strcspn(number, "[") : strlen(number)] = '\0';
		grid_put(making->grid, part->name, number, TABLE_PARAM);
	} else if (part->role == ROLE_PAIRS)
		grid_split(making->grid, GRID_PAIRS, making->csv, row, column, strlen(cell));
	else if (part->role == ROLE_COMMAND && !making->params)
		grid_split(making->grid, GRID_COMMAND, making->csv, row, column, strlen(cell));
	else if (part->role == ROLE_PARAMETER || part->role == ROLE_PROBLEM || part->role == ROLE_NAMED)
		grid_put(making->grid, part->name, cell,
		         part->role == ROLE_PARAMETER ? TABLE_PARAM
		         : part->role == ROLE_PROBLEM ? TABLE_PROBLEM
		                                      : -1);
	else if (part->role == ROLE_COUNTER) {
		snprintf(number, sizeof number, "%s", cell);
		producer_number(number, making->csv->delimiter == ';' ? MARKS_COMMA : MARKS_POINT);
		number[strcspn(number, " ")] = '\0';
		double value;
		if (table_number(making->csv, number, false, &value))
			grid_put(making->grid, part->name, number, TABLE_COUNTER);
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

static size_t part_of(const struct produced *produced, const char *name) {
	size_t c = 0;
	while (c < produced->csv->columns &&
	       (produced->role[c] != TABLE_PARAM || strcmp(produced->csv->header[c], name) != 0))
		c++;
	return c;
}

static bool are_operations(const struct csv *csv, size_t column) {
	size_t r = 0;
	while (r < csv->rows && (!*csv_cell(csv, r, column) || table_is_operation(csv_cell(csv, r, column))))
		r++;
	return r == csv->rows;
}

enum { ROWS_COMPARED = 2000 };

/* "Marshal/json" and "Unmarshal/json": functions that several benchmarks have are compared within each, but of
 * "Map/get" and "Tree/get" those are the work. */
static void benchmark_part(struct produced *produced) {
	const struct csv *csv = produced->csv;
	size_t benchmark = part_of(produced, "benchmark"), function = part_of(produced, "function");
	for (size_t r = 1; r < csv->rows && r < ROWS_COMPARED && benchmark < csv->columns && function < csv->columns; r++)
		for (size_t k = 0; k < r && *csv_cell(csv, r, function); k++)
			if (table_is_same(csv, function, k, r) && !table_is_same(csv, benchmark, k, r)) {
				produced->role[are_operations(csv, function) ? function : benchmark] = TABLE_PROBLEM;
				return;
			}
}

/* The value's column gets a name that tells what it is, and is the last one. */
static void value_name(struct making *making, struct produced *produced) {
	enum role role = making->parts[making->value].role;
	struct csv *csv = produced->csv;
	struct table_name unit = {.per = ""};
	if (making->rates)
		table_name_read(making->unit, &unit);
	for (size_t c = 0; c < csv->columns; c++) {
		if (strcmp(csv->header[c], value_column) != 0)
			continue;
		produced->role[c] = role == ROLE_MORE || making->rates ? TABLE_RATE : TABLE_TIME;
		csv->header[c] =
			role == ROLE_LESS || role == ROLE_MORE ? arena_strdup(csv->arena, making->csv->header[making->value])
			: making->rates ? arena_printf(csv->arena, "%s (%s)", strcmp(unit.per, "byte") == 0 ? "bandwidth" : "score",
		                                   making->unit)
							: "time_s";
	}
	produced->unitless = role == ROLE_LESS;
	produced->more = role == ROLE_MORE;
}

int producer_apply(const struct producer *producer, const struct csv *csv, const char *path,
                   const struct study_reading *reading, struct produced *produced, struct err *err) {
	struct making making = {.csv = csv, .path = path, .err = err};
	*produced = (struct produced){0};
	if (!producer && !(producer = of_header(csv)))
		return 1;
	making.grid = grid_new();
	making.parts = mem_alloc(csv->columns + 1, sizeof *making.parts);
	int failed = parts_find(producer, reading, &making) || rows_make(&making) ? -1 : 0;
	produced->csv = grid_end(making.grid, &produced->role);
	produced->producer = producer->name;
	if (!failed && !produced->csv)
		failed = err_set(err, ERR_USAGE, NULL, "%s: no row of it is a measurement", path);
	if (!failed) {
		value_name(&making, produced);
		benchmark_part(produced);
	} else
		csv_free(produced->csv);
	produced->guessed = (produced->unitless || produced->more) && !(reading && reading->objective);
	free(making.parts);
	return failed;
}
