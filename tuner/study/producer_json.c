/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Documents with a row for each run become tables: members of members are "a.b", those of what a row stands in "^a", a
 * list of numbers is one cell with a line for each, and a list of things with names has a column for each name. */
#include "base/json/js.h"
#include "tuner/study/study_impl.h"

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
	size_t i;
	json_t *one;
	json_array_foreach(list, i, one) {
		if (json_is_array(one) && depth < DEPTH_MAX)
			numbers_put(grid, name, one, depth + 1, count);
		else if (json_is_number(one) && scalar_text(one, text) && (*count)++ < SAMPLES_MAX)
			grid_put(grid, name, text, GRID_MORE);
	}
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
	size_t i, count = 0;
	json_t *one;
	if (json_is_number(json_array_get(list, 0)) || json_is_array(json_array_get(list, 0))) {
		numbers_put(grid, name, list, depth, &count);
		return;
	}
	json_array_foreach(list, i, one) {
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
	const char *key;
	json_t *member;
	if (scalar_text(value, text))
		grid_put(grid, name, text, -1);
	else if (depth < DEPTH_MAX && json_is_array(value))
		list_put(grid, name, value, depth);
	else if (depth < DEPTH_MAX && json_is_object(value))
		json_object_foreach((json_t *)value, key, member) {
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
	const char *key;
	json_t *member;
	for (size_t i = 0; i < around->count; i++)
		json_object_foreach((json_t *)around->objects[i], key, member) {
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
	size_t i;
	json_t *part;
	grid_row(grid, line);
	around_put(grid, around);
	if (json_is_object(row))
		value_put(grid, "", row, 0);
	json_array_foreach(row, i, part) { /* a row that is a list has its parts by number */
		snprintf(name, sizeof name, "%zu", i);
		value_put(grid, name, part, 1);
	}
}

/* Follows "benchmarks.states" to the rows. */
static void rows_put(struct grid *grid, const json_t *value, const char *path, struct around *around, size_t line) {
	size_t i, length = strcspn(path, ".");
	json_t *one;
	char key[TABLE_NAME];
	snprintf(key, sizeof key, "%.*s", (int)length, path);
	if (!*path && !json_is_array(value)) {
		row_put(grid, value, around, line);
	} else if (!*path) {
		json_array_foreach(value, i, one) row_put(grid, one, around, line ? line : i + 1);
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, one) rows_put(grid, one, path, around, line);
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
	const char *key;
	json_t *list;
	json_object_foreach((json_t *)json, key, list) if (json_array_size(list) != rows) return false;
	for (size_t r = 0; r < rows; r++) {
		grid_row(grid, 0);
		json_object_foreach((json_t *)json, key, list) if (scalar_text(json_array_get(list, r), text))
			grid_put(grid, key, text, -1);
	}
	return rows > 0;
}

/* The length of a value: up to a blank, or up to a comma or semicolon with a blank behind it. */
static size_t value_length(const char *value, bool blank) {
	size_t length = 0;
	while (value[length] && !strchr(blank ? "\t\r " : "\t\r", value[length]) &&
	       !(strchr(",;", value[length]) && strchr(" \r", value[length + 1])))
		length++;
	return length;
}

/* A line of pairs, "threads=4 time=8.1 s" or "Threads: 4, Time: 8.1 s"; returns how many it has, 0 if it is not so. */
static size_t pairs_read(struct grid *grid, const char *line, char keys[CSV_FIELD_MAX + 1]) {
	size_t count = 0, used = 0;
	for (const char *at = line + strspn(line, " \t"); *at && *at != '\r'; count++) {
		size_t name = strcspn(at, "=:,;\t\r"), own = name;
		if (!name || !at[name] || !strchr("=:", at[name]) || strspn(at, "0123456789. ") == name)
			return 0;
		const char *value = at + name + 1 + strspn(at + name + 1, " ");
		bool listed = at[name] == ':' || strstr(value, ", ") || strstr(value, "; ");
		char cell[CSV_FIELD_MAX + 1], key[TABLE_NAME];
		size_t length = value_length(value, !listed);
		while (own && at[own - 1] == ' ')
			own--;
		snprintf(key, sizeof key, "%.*s", (int)own, at);
		snprintf(cell, sizeof cell, "%.*s", (int)length, value);
		used += (size_t)snprintf(keys + used, used < CSV_FIELD_MAX ? CSV_FIELD_MAX - used : 0, "%s=", key);
		if (grid)
			grid_put(grid, key, cell, -1);
		at = value + length + strspn(value + length, " ,;\t");
	}
	return count;
}

/* Lines of the same pairs are a table. NULL: a line is not so. */
static struct csv *paired_read(const char *text, size_t size) {
	struct grid *grid = grid_new();
	char *copy = mem_printf("%.*s", (int)size, text), *rest = copy;
	char first[CSV_FIELD_MAX + 1] = "", keys[CSV_FIELD_MAX + 1] = "";
	size_t number = 0, rows = 0;
	bool fine = true;
	for (char *line = strsep(&rest, "\n"); line && fine; line = strsep(&rest, "\n")) {
		number++;
		if (!line[strspn(line, " \t\r")] || *line == '#')
			continue;
		fine = pairs_read(NULL, line, rows ? keys : first) > 1 && (!rows || strcmp(keys, first) == 0);
		if (!fine)
			break;
		grid_row(grid, number);
		pairs_read(grid, line, keys);
		rows++;
	}
	free(copy);
	struct csv *csv = grid_end(grid, NULL);
	if (fine && rows > 1)
		return csv;
	csv_free(csv);
	return NULL;
}

struct csv *producer_json_rows(const struct producer *producer, const char *text, size_t size) {
	if (*text != '{' && *text != '[')
		return paired_read(text, size);
	struct grid *grid = grid_new();
	struct around around = {.count = 0};
	json_t *json = js_parse(text, size, "", NULL);
	const char *rows = producer && *producer->rows != '[' ? producer->rows : "";
	if (json && (producer || json_is_array(json)))
		rows_put(grid, json, rows, &around, 0);
	else if (json)
		lists_put(grid, json);
	else
		lines_put(grid, text, size, rows);
	json_decref(json);
	return grid_end(grid, NULL);
}
