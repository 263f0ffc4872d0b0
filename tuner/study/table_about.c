/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the notes of a table (lines that begin with '#') and the names of its columns, and describes how it was read.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "tuner/study/table.h"

/* A value that was published without its spread is taken to be right within this. */
static const double ASSUMED_NOISE = 0.05;

const char *table_note(const struct csv *csv, const char *key) {
	size_t length = strlen(key);
	for (size_t i = 0; i < csv->note_count; i++)
		if (strncasecmp(csv->notes[i], key, length) == 0 && csv->notes[i][length] == ':')
			return csv->notes[i] + length + 1 + strspn(csv->notes[i] + length + 1, " ");
	return NULL;
}

/* "/a/b/fw-times.csv" is the kernel fw-times. */
char *table_kernel(const char *path, const struct csv *csv) {
	const char *noted = table_note(csv, "kernel"), *slash = strrchr(path, '/');
	char *name = mem_strdup(noted && *noted ? noted : slash ? slash + 1 : path), *dot = strrchr(name, '.');
	if (!(noted && *noted) && dot && dot != name)
		*dot = '\0';
	text_clean(name, false);
	if (*name)
		return name;
	free(name);
	return mem_strdup("table");
}

/* The columns that a line "# problem: n,m" names. */
size_t table_noted_problem(const struct csv *csv, const char *names[TABLE_PROBLEM_NAMES]) {
	const char *noted = table_note(csv, "problem");
	size_t count = 0;
	char *copy = arena_strdup(csv->arena, noted ? noted : ""), *rest = NULL;
	for (char *word = strtok_r(copy, ", ", &rest); word && count < TABLE_PROBLEM_NAMES;
	     word = strtok_r(NULL, ", ", &rest))
		names[count++] = word;
	return count;
}

json_t *table_machine(const struct csv *csv, struct err *err) {
	const char *noted = table_note(csv, "machine");
	return noted && *noted ? study_machine_words(noted, err) : study_machine_unknown();
}

static bool has_part(const char *text, const char *word) {
	for (; *text; text++)
		if (strncasecmp(text, word, strlen(word)) == 0)
			return true;
	return false;
}

/* A team of threads only makes sense on a CPU; otherwise names of columns and values give a GPU away. */
static const char *device_guess(const struct table *table) {
	static const char *const signs[] = {"gpu", "cuda", "block_size", "warp", "h2d", "d2h", "htod", "dtoh"};
	bool gpu = false;
	for (size_t c = 0; c < table->csv->columns; c++) {
		if (strcmp(table->columns[c].name, "threads") == 0)
			return "cpu";
		for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
			gpu = gpu || has_part(table->columns[c].name, signs[i]);
			for (size_t r = 0; r < table->csv->rows && !table->columns[c].numbers && !gpu; r++)
				gpu = has_part(csv_cell(table->csv, r, c), signs[i]);
		}
	}
	return gpu ? "cuda:0" : "cpu";
}

/* The device that the table or the user names; otherwise the names of its columns tell. */
const char *table_device(const struct table *table) {
	static const char *const kinds[][2] = {{"cuda", "cuda:0"}, {"opencl", "opencl:0"}, {"hip", "hip:0"}};
	const char *noted = table_note(table->csv, "device");
	if (table->reading->device)
		return table->reading->device;
	for (size_t i = 0; noted && i < sizeof kinds / sizeof *kinds; i++)
		if (strncmp(noted, kinds[i][0], strlen(kinds[i][0])) == 0)
			return kinds[i][1];
	return noted ? "cpu" : device_guess(table);
}

static json_t *names_json(const struct table *table, enum table_role role) {
	json_t *list = role == TABLE_COUNTER ? names_json(table, TABLE_FILE) : json_array();
	for (size_t c = 0; c < table->csv->columns; c++)
		if (table->columns[c].role == role)
			json_array_append_new(list, json_string(table->columns[c].name));
	return list;
}

/* Says how the table was read, and how far a value may be off: without repeated rows that is an assumption. */
void table_describe(const struct table *table, struct study_set *set, size_t before) {
	const struct table_column *value = &table->columns[table->value];
	for (size_t i = 0; i < study_set_count(set); i++) {
		struct study_item *item = study_set_at(set, i);
		size_t rows = study_gathered(item->study);
		if (item->table || item->trials == 0 || i < before)
			continue;
		bool thin = item->trials < 2 * rows;
		item->table = json_pack("{s:s,s:I,s:I,s:s,s:s,s:f,s:b,s:o,s:o,s:o,s:o,s:o}", "file", table->path, "rows",
		                        (json_int_t)rows, "values", (json_int_t)item->trials, "value", value->name, "per",
		                        value->read.per, "scale", value->read.scale, "rate", value->role == TABLE_RATE,
		                        "problem", names_json(table, TABLE_PROBLEM), "parameters",
		                        names_json(table, TABLE_PARAM), "figures", names_json(table, TABLE_FIGURE), "counters",
		                        names_json(table, TABLE_COUNTER), "ignored", names_json(table, TABLE_IGNORED));
		if (table->wide)
			json_object_set_new(item->table, "wide", json_string(table->wide));
		if (table->assumed_unit)
			json_object_set_new(item->table, "assumed_unit", json_string("s"));
		if (value->role == TABLE_RATE)
			study_rate(item->study, value->name, value->read.scale);
		if (thin) {
			item->noise = ASSUMED_NOISE;
			json_object_set_new(item->table, "assumed_noise", js_number(ASSUMED_NOISE));
		}
	}
}
