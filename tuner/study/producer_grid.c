/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table under construction, and names that hold several things: paths, pairs and commands. */
#include <strings.h>

#include "base/text.h"
#include "tuner/study/study_impl.h"

struct row {
	const char **cells;
	size_t count, line;
};

struct grid {
	struct csv *csv; /* header and arena only, until the end */
	struct row *rows;
	size_t room;
	int *role; /* of each column */
};

struct grid *grid_new(void) {
	struct grid *grid = mem_alloc(1, sizeof *grid);
	grid->csv = mem_alloc(1, sizeof *grid->csv);
	grid->csv->arena = arena_new();
	grid->csv->delimiter = ',';
	grid->csv->header = arena_alloc(grid->csv->arena, CSV_COLUMNS_MAX, sizeof *grid->csv->header);
	grid->role = arena_alloc(grid->csv->arena, CSV_COLUMNS_MAX, sizeof *grid->role);
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

static size_t column_of(struct grid *grid, const char *name, int role) {
	struct csv *csv = grid->csv;
	size_t c = 0;
	while (c < csv->columns && strcmp(csv->header[c], name) != 0)
		c++;
	if (c == csv->columns && c < CSV_COLUMNS_MAX) {
		char *copy = arena_printf(csv->arena, "%.*s", TABLE_NAME - 1, name);
		text_clean(copy, false);
		grid->role[csv->columns] = role;
		csv->header[csv->columns++] = copy;
	}
	return c;
}

/* Where the cell of the last row stands; NULL beyond the limits. */
static const char **cell_of(struct grid *grid, const char *name, int role) {
	size_t c = *name && grid->csv->rows ? column_of(grid, name, role) : CSV_COLUMNS_MAX;
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

void grid_put(struct grid *grid, const char *name, const char *cell, int role) {
	const char **at = cell_of(grid, name, role);
	if (!at)
		return;
	if (role == GRID_MORE) { /* a list of numbers may be long */
		*at = *at ? arena_printf(grid->csv->arena, "%s\n%s", *at, cell) : arena_strdup(grid->csv->arena, cell);
		return;
	}
	char *copy = arena_printf(grid->csv->arena, "%.*s", CSV_FIELD_MAX, cell);
	text_clean(copy, false);
	*at = copy;
}

struct csv *grid_end(struct grid *grid, int **role) {
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
	if (role)
		*role = grid->role;
	free(grid->rows);
	free(grid);
	if (csv->rows && csv->columns)
		return csv;
	csv_free(csv);
	return NULL;
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
				grid_put(grid, csv->header[c], csv_cell(csv, r, c), -1);
		snprintf(cell, sizeof cell, "%.200s %.100s", csv_cell(csv, r, value), csv_cell(csv, r, unit));
		grid_put(grid, csv_cell(csv, r, name), cell, -1);
	}
	return grid_end(grid, NULL);
}

/* Arguments follow "/", with or without a name; a few of them say how often was measured. */
static const char path_words[] = "repeats iterations min_time min_warmup_time process_time real_time manual_time";
static void path_put(struct grid *grid, const char *cell) {
	static const struct csv plain_csv = {.delimiter = ','};
	char copy[CSV_FIELD_MAX + 1], *rest = NULL, name[TABLE_NAME];
	size_t unnamed = 0, depth = 0;
	snprintf(copy, sizeof copy, "%s", cell);
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
		bool plain = table_number(&plain_csv, word, true, &number);
		if (colon && colon[1] && colon[1] != ':' && colon != word) {
			*colon = '\0';
			grid_put(grid, word, colon + 1, strcmp(word, "threads") == 0 ? TABLE_PARAM : -1);
		} else if (plain) {
			unnamed++;
			snprintf(name, sizeof name, unnamed == 1 ? "n" : "arg%zu", unnamed);
			grid_put(grid, name, word, TABLE_PROBLEM);
		} else {
			bool later = grid->rows[grid->csv->rows - 1].count > 0;
			grid_put(grid, unnamed ? "variant" : later ? "function" : "benchmark", word, TABLE_PARAM);
		}
	}
}

static void pairs_put(struct grid *grid, const char *cell) {
	char copy[CSV_FIELD_MAX + 1], *rest = NULL;
	snprintf(copy, sizeof copy, "%s", cell);
	for (char *word = strtok_r(copy, "&,; []", &rest); word; word = strtok_r(NULL, "&,; []", &rest)) {
		char *equals = strchr(word, '=');
		if (!equals || equals == word)
			continue;
		*equals = '\0';
		grid_put(grid, word, equals + 1, -1);
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

static void command_put(struct grid *grid, const struct csv *csv, size_t row, size_t column) {
	char copy[CSV_FIELD_MAX + 1], *words[WORDS_MAX], name[TABLE_NAME];
	const char *cell = csv_cell(csv, row, column);
	snprintf(copy, sizeof copy, "%s", cell);
	size_t count = words_split(copy, words), known = 0;
	bool differ[WORDS_MAX] = {false}, aligned = true;
	for (size_t i = 0; i < count; i++) {
		differ[i] = word_differs(csv, column, i, count);
		known += differ[i];
	}
	aligned = known < count || count == 1;
	for (size_t i = 0; aligned && i < count; i++)
		if (differ[i]) {
			const char *value = word_name(words, i, name);
			grid_put(grid, name, value, -1);
		}
	if (!aligned)
		grid_put(grid, "command", cell, TABLE_PARAM);
}

void grid_split(struct grid *grid, enum grid_names kind, const struct csv *csv, size_t row, size_t column,
                size_t length) {
	char cell[CSV_FIELD_MAX + 1];
	snprintf(cell, sizeof cell, "%.*s", (int)length, csv_cell(csv, row, column));
	if (kind == GRID_PATH)
		path_put(grid, cell);
	else if (kind == GRID_PAIRS)
		pairs_put(grid, cell);
	else
		command_put(grid, csv, row, column);
}
