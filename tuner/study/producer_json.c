/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Documents with a row for each run become tables: members of members are "a.b", those of what a row stands in "^a", a
 * list of numbers is one cell with a line for each, and a list of things with names has a column for each name. */

#include "base/json/js.h"
#include "base/text.h"
#include "tuner/study/study_impl.h"

/* A table under construction, and names that hold several things: paths, pairs and commands. */

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
	grid->rows = mem_room(grid->rows, grid->csv->rows, &grid->room, sizeof *grid->rows);
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
			snprintf(name, sizeof name, "%.*s", (int)(word - copy) - 1, cell);
			if (!unnamed && later && !strchr(name, ':')) /* the last one of several names is the function */
				grid_put(grid, "benchmark", name, TABLE_PARAM);
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

enum { DEPTH_MAX = 8, SAMPLES_MAX = 10000 };

static bool scalar_text(const json_t *value, char text[CSV_FIELD_MAX + 1]) {
	if (json_is_string(value))
		snprintf(text, CSV_FIELD_MAX + 1, "%s", json_string_value(value));
	else if (json_is_integer(value))
		snprintf(text, CSV_FIELD_MAX + 1, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		snprintf(text, CSV_FIELD_MAX + 1, "%.17g", json_real_value(value));
	else if (json_is_boolean(value))
		snprintf(text, CSV_FIELD_MAX + 1, "%s", json_is_true(value) ? "true" : "false");
	else
		return false;
	return true;
}

/* The numbers in a list, which may be a list of lists. */
static void numbers_put(struct grid *grid, const char *name, const json_t *list, int depth, size_t *count) {
	char text[CSV_FIELD_MAX + 1];
	js_each (one, list)
		if (json_is_array(one) && depth < DEPTH_MAX)
			numbers_put(grid, name, one, depth + 1, count);
		else if (json_is_number(one) && scalar_text(one, text) && (*count)++ < SAMPLES_MAX)
			grid_put(grid, name, text, GRID_MORE);
}

/* "name" or "tag" of a thing in a list; NULL if it has none. */
static const char *thing_name(const json_t *thing) {
	return js_string_or(thing, "tag", js_string_or(thing, "name", NULL));
}

/* Its value, which nvbench puts into a list of one. */
static const json_t *thing_value(const json_t *thing) {
	const json_t *value = json_object_get(thing, "value"), *data = json_object_get(thing, "data");
	return value ? value : json_object_get(json_array_get(data, 0), "value");
}

static void value_put(struct grid *grid, const char *name, const json_t *value, int depth);

static void list_put(struct grid *grid, const char *name, const json_t *list, int depth) {
	char text[CSV_FIELD_MAX + 1], joined[CSV_FIELD_MAX + 1] = "", path[TABLE_NAME];
	size_t count = 0;
	if (json_is_number(json_array_get(list, 0)) || json_is_array(json_array_get(list, 0))) {
		numbers_put(grid, name, list, depth, &count);
		return;
	}
	js_each (one, list) {
		size_t length = strlen(joined);
		if (json_is_object(one) && thing_name(one)) {
			snprintf(path, sizeof path, "%s.%s", name, thing_name(one));
			value_put(grid, path, thing_value(one), depth + 1);
		} else if (scalar_text(one, text))
			snprintf(joined + length, sizeof joined - length, length ? " %.100s" : "%.100s", text);
	}
	if (*joined)
		grid_put(grid, name, joined, -1);
}

static void value_put(struct grid *grid, const char *name, const json_t *value, int depth) {
	char text[CSV_FIELD_MAX + 1], path[TABLE_NAME];
	if (scalar_text(value, text))
		grid_put(grid, name, text, -1);
	else if (depth < DEPTH_MAX && json_is_array(value))
		list_put(grid, name, value, depth);
	else if (depth < DEPTH_MAX && json_is_object(value))
		js_members (key, member, value) {
			snprintf(path, sizeof path, "%.70s%s%.80s", name, *name && strcmp(name, "^") != 0 ? "." : "", key);
			value_put(grid, path, member, depth + 1);
		}
}

/* The objects that a row stands in, from outside to inside. */
struct around {
	const json_t *objects[DEPTH_MAX];
	size_t count;
	const char *within[DEPTH_MAX]; /* the member that has the rows */
};

static void around_put(struct grid *grid, const struct around *around) {
	for (size_t i = 0; i < around->count; i++)
		js_members (key, member, around->objects[i]) {
			char path[TABLE_NAME];
			snprintf(path, sizeof path, "^%s", key);
			if (strncmp(key, around->within[i], strlen(key)) != 0 &&
			    (!json_is_object(member) || json_object_size(member) < 40))
				value_put(grid, path, member, DEPTH_MAX - 1);
			if (json_is_array(member) && strcmp(key, "key") == 0) /* Triton's, of words and numbers */
				list_put(grid, path, member, 1);
		}
}

static void row_put(struct grid *grid, const json_t *row, const struct around *around, size_t line) {
	char name[24];
	grid_row(grid, line);
	around_put(grid, around);
	if (json_is_object(row))
		value_put(grid, "", row, 0);
	js_each (part, row) { /* a row that is a list has its parts by number */
		snprintf(name, sizeof name, "%zu", part_at);
		value_put(grid, name, part, 1);
	}
}

/* Follows "benchmarks.states" to the rows. */
static void rows_put(struct grid *grid, const json_t *value, const char *path, struct around *around, size_t line) {
	size_t length = strcspn(path, ".");
	char key[TABLE_NAME];
	snprintf(key, sizeof key, "%.*s", (int)length, path);
	if (!*path && !json_is_array(value)) {
		row_put(grid, value, around, line);
	} else if (!*path) {
		js_each (one, value)
			row_put(grid, one, around, line ? line : one_at + 1);
	} else if (json_is_array(value)) {
		js_each (one, value)
			rows_put(grid, one, path, around, line);
	} else if (around->count < DEPTH_MAX) {
		around->objects[around->count] = value;
		around->within[around->count++] = path;
		rows_put(grid, json_object_get(value, key), path + length + (path[length] == '.'), around, line);
		around->count--;
	}
}

/* A document in each line. */
static void lines_put(struct grid *grid, const char *text, size_t size, const char *path) {
	size_t line = 1;
	for (const char *at = text, *end = text + size; at < end; line++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((newline ? newline : end) - at);
		js_auto json_t *json = *at == '{' ? js_parse(at, length, "", NULL) : NULL;
		struct around around = {.count = 0};
		if (json)
			rows_put(grid, json, path, &around, line);
		at += length + 1;
	}
}

/* {"threads": [1, 2], "time_s": [8.1, 4.2]}: each list is a column. */
static bool lists_put(struct grid *grid, const json_t *json) {
	size_t rows = json_array_size(json_object_iter_value(json_object_iter((json_t *)json)));
	char text[CSV_FIELD_MAX + 1];
	js_members (key, list, json)
		if (json_array_size(list) != rows)
			return false;
	for (size_t r = 0; r < rows; r++) {
		grid_row(grid, 0);
		js_members (key, list, json)
			if (scalar_text(json_array_get(list, r), text))
				grid_put(grid, key, text, -1);
	}
	return rows > 0;
}

/* The longest list of objects within a document, and the member that it is. */
static const json_t *longest_find(const json_t *json, int depth, const char **name) {
	const json_t *longest = NULL;
	js_members (key, member, json) {
		const char *own = key;
		const json_t *list = json_is_object(json_array_get(member, 0)) ? member : NULL;
		if (json_is_object(member) && depth < DEPTH_MAX)
			list = longest_find(member, depth + 1, &own);
		if (json_array_size(list) > json_array_size(longest)) {
			longest = list;
			*name = own;
		}
	}
	return longest;
}

/* Rows that stand in a document of other things. */
static struct csv *longest_rows(struct grid *grid, const json_t *json) {
	const char *name = "";
	const json_t *longest = longest_find(json, 0, &name);
	struct around around = {.count = 0};
	if (json_array_size(longest) > 1)
		rows_put(grid, longest, "", &around, 0);
	struct csv *csv = grid_end(grid, NULL);
	if (csv) {
		char *note = arena_printf(csv->arena, "left out: all but the list \"%.40s\"", name);
		text_clean(note, false);
		csv->notes[csv->note_count++] = note;
	}
	return csv;
}

struct csv *producer_json_rows(const struct producer *producer, const char *text, size_t size) {
	struct grid *grid = grid_new();
	struct around around = {.count = 0};
	js_auto json_t *json = js_parse(text, size, "", NULL);
	const char *rows = producer && *producer->rows != '[' ? producer->rows : "";
	if (json && (producer || json_is_array(json)))
		rows_put(grid, json, rows, &around, 0);
	else if (json && !lists_put(grid, json))
		return longest_rows(grid, json);
	else if (!json)
		lines_put(grid, text, size, rows);
	return grid_end(grid, NULL);
}
