/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>
#include <strings.h>

#include "base/json/js.h"
#include "base/text.h"
#include "tuner/study/study_impl.h"

/* "KEY: VALUE" among the lines that begin with '#'; NULL if none has this key. */
static const char *table_note(const struct csv *csv, const char *key) {
	size_t length = strlen(key);
	for (size_t i = 0; i < csv->note_count; i++)
		if (strncasecmp(csv->notes[i], key, length) == 0 && csv->notes[i][length] == ':')
			return csv->notes[i] + length + 1 + strspn(csv->notes[i] + length + 1, " ");
	return NULL;
}

/* "/a/b/fw-times.csv" is the kernel fw-times. The caller frees it. */
static char *table_kernel(const char *path, const struct csv *csv) {
	const char *noted = table_note(csv, "kernel"), *slash = strrchr(path, '/');
	char *name = mem_strdup(noted && *noted ? noted : slash ? slash + 1 : path), *dot = strrchr(name, '.');
	if (!(noted && *noted) && dot && dot != name && table_among(dot + 1, strlen(dot + 1), "gz bz2 xz zst zip")) {
		*dot = '\0';
		dot = strrchr(name, '.');
	}
	if (!(noted && *noted) && dot && dot != name)
		*dot = '\0';
	text_clean(name, false);
	if (*name)
		return name;
	free(name);
	return mem_strdup("table");
}

/* The columns that a line "# problem: n,m" names. */
static size_t table_noted_problem(const struct csv *csv, const char *names[TABLE_PROBLEM_NAMES]) {
	const char *noted = table_note(csv, "problem");
	size_t count = 0;
	char *copy = arena_strdup(csv->arena, noted ? noted : ""), *rest = NULL;
	for (char *word = strtok_r(copy, ", ", &rest); word && count < TABLE_PROBLEM_NAMES;
	     word = strtok_r(NULL, ", ", &rest))
		names[count++] = word;
	return count;
}

static json_t *table_machine(const struct csv *csv, struct err *err) { /* new reference; NULL: an error */
	const char *noted = table_note(csv, "machine");
	return noted && *noted ? study_machine_words(noted, err) : study_machine_unknown();
}

/* A team of threads only makes sense on a CPU, and so do rows of one; otherwise names of columns and values give a GPU
 * away. */
static const char *device_guess(const struct table *table) {
	static const char *const signs[] = {"gpu", "cuda", "block_size", "warp", "h2d", "d2h", "htod", "dtoh"};
	bool gpu = table->on_device;
	for (size_t c = 0; c < table->csv->columns && !table->on_device; c++) {
		if (strcmp(table->columns[c].name, "threads") == 0)
			return "cpu";
		for (size_t r = 0; r < table->csv->rows && !table->columns[c].numbers; r++)
			if (strcasestr(csv_cell(table->csv, r, c), "cpu"))
				return "cpu";
		for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
			gpu = gpu || strcasestr(table->columns[c].name, signs[i]);
			for (size_t r = 0; r < table->csv->rows && !table->columns[c].numbers && !gpu; r++)
				gpu = strcasestr(csv_cell(table->csv, r, c), signs[i]);
		}
	}
	return gpu ? "cuda:0" : "cpu";
}

/* The device that the table or the user names; otherwise the names of its columns tell. */
static const char *table_device(struct table *table) {
	static const char *const kinds[][2] = {{"cuda", "cuda:0"}, {"opencl", "opencl:0"}, {"hip", "hip:0"}};
	const char *noted = table_note(table->csv, "device");
	if (table->reading->device)
		return table->reading->device;
	for (size_t i = 0; noted && i < sizeof kinds / sizeof *kinds; i++)
		if (strncmp(noted, kinds[i][0], strlen(kinds[i][0])) == 0)
			return kinds[i][1];
	const char *guess = noted ? "cpu" : device_guess(table);
	table->on_guess = strcmp(guess, "cpu") != 0;
	return guess;
}

static int table_read(struct study_set *set, struct table *table, struct err *err) {
	struct study_reading reading = table->reading ? *table->reading : (struct study_reading){0};
	const char *names[TABLE_PROBLEM_NAMES];
	js_auto json_t *machine = table_machine(table->csv, err);
	mem_auto char *kernel = table_kernel(table->path, table->csv);
	if (reading.problem_count == 0) {
		reading.problem = names;
		reading.problem_count = table_noted_problem(table->csv, names);
	}
	table->reading = &reading;
	int failed = machine ? table_roles(table, err) : -1;
	failed = failed || table_fill(set, table, kernel, table_device(table), machine, err) ? -1 : 0;
	table->reading = NULL;
	return failed;
}

enum { FAR_EAST = 0xe3 /* of Chinese, Japanese and Korean in UTF-8 */, CLUSTER = 20000 };

static int hint_add(struct err *err) {
	return err && !*err->hint
	           ? err_hint(err, "write a line of names, and below it a line for each measurement (doc/tables.md)")
	           : -1;
}

/* "p" and "T" are the numbers of processors and threads if they count from 1, or from 2 or 4 beside serial code
 * or speed-ups: probabilities and percentages don't. Beside "q" it is a side of a grid of processes. */
static bool is_letter_of_team(const struct csv *csv, size_t column) {
	const char *name = csv->header[column];
	bool processors = strcasecmp(name, "p") == 0, compared = false, timed = processors;
	double least = INFINITY;
	if (!processors && strcmp(name, "T") != 0)
		return false;
	for (size_t r = 0; r < csv->rows; r++) {
		double number = table_own(csv, r, column);
		if (number != floor(number) && *csv_cell(csv, r, column)) /* serial code has none */
			return false;
		least = fmin(least, number);
	}
	for (size_t c = 0; c < csv->columns; c++) {
		if (strcasecmp(csv->header[c], "q") == 0)
			return false;
		compared = compared || table_has_word(csv->header[c], "speedup efficiency") ||
		           table_has_word(csv->header[c], table_serial_words);
		timed = timed || table_has_word(csv->header[c], "time tseq tpar t");
	}
	return timed && (least == 1 || (least <= 4 && compared));
}

/* "S" and "E" of textbooks, and two columns of one name, such as the speed-ups behind the times of two codes: the
 * second gets a number. */
static void names_number(struct csv *csv) {
	struct table_name name;
	static const char *const letters[][2] = {{"S", "speedup"}, {"E", "efficiency"}};
	bool both[2] = {false, false};
	for (size_t c = 0; c < csv->columns; c++)
		for (size_t i = 0; i < 2; i++)
			both[i] = both[i] || strcmp(csv->header[c], letters[i][0]) == 0;
	for (size_t i = 0; i < 2 * csv->columns && both[0] && both[1]; i++)
		if (strcmp(csv->header[i / 2], letters[i % 2][0]) == 0)
			csv->header[i / 2] = letters[i % 2][1];
	for (size_t c = 1; c < csv->columns; c++)
		for (size_t d = 0; d < c; d++) {
			table_name_read(csv->header[c], &name);
			if (*csv->header[c] && strcmp(csv->header[c], csv->header[d]) == 0 && name.measure == MEASURE_NONE &&
			    table_time_rank(&name) < 0 && !table_is_parameter(csv->header[c]) && !table_is_problem(csv->header[c]))
				csv->header[c] = arena_printf(csv->arena, "%s (%zu)", csv->header[c], c + 1);
		}
}

/* Nodes beside edges are those of a graph, and more than a cluster has were counted. */
static void nodes_name(struct csv *csv, size_t column) {
	if (strcasecmp(csv->header[column], "nodes") != 0)
		return;
	for (size_t r = 0; r < csv->rows; r++)
		if (table_amount(csv, r, column) > CLUSTER)
			csv->header[column] = "nodes visited";
	for (size_t c = 0; c < csv->columns; c++)
		if (strcasecmp(csv->header[c], "edges") == 0)
			csv->header[column] = "graph nodes";
}

/* "M el /s" */
static void slash_join(struct csv *csv, size_t column) {
	const char *slash = strstr(csv->header[column], " /");
	if (slash && isalpha((unsigned char)slash[2]))
		csv->header[column] =
			arena_printf(csv->arena, "%.*s%s", (int)(slash - csv->header[column]), csv->header[column], slash + 1);
}

/* Is "T_min" beside "T_max" or "T_avg"? */
static bool is_minimum(const struct csv *csv, const char *header) {
	size_t stem = strlen(header) > 3 ? strlen(header) - 3 : 0;
	bool minimum = stem == 0;
	for (size_t c = 0; c < csv->columns && !minimum; c++)
		minimum = strncasecmp(csv->header[c], header, stem) == 0 &&
		          table_among(csv->header[c] + stem, strlen(csv->header[c] + stem), "max avg mean median med std");
	return minimum && strcasecmp(header + stem, "min") == 0 && (!stem || strchr("_ -", header[stem - 1]));
}

/* "min" alone or beside a maximum is not a minute, and "rank" is a team unless its numbers are places of a ranking. */
static void name_expand(struct csv *csv, size_t column) {
	const char *header = csv->header[column];
	double number;
	bool team = false;
	for (size_t r = 0; r < csv->rows; r++)
		team = team || (table_number(csv, csv_cell(csv, r, column), true, &number) && number != (double)(r + 1));
	if (team && strcasecmp(header, "rank") == 0)
		csv->header[column] = "ranks";
	else if (is_minimum(csv, header))
		csv->header[column] = arena_printf(csv->arena, "%simum", header);
}

/* "# Weak scaling" above the table. */
static bool is_noted_weak(const struct csv *csv) {
	bool weak = false, strong = false;
	for (size_t i = 0; i < csv->note_count; i++) {
		weak = weak || strcasestr(csv->notes[i], "weak scaling");
		strong = strong || strcasestr(csv->notes[i], "strong");
	}
	return weak && !strong;
}

/* "w" and "h" are sides, where "h" alone would be hours. */
static const char *side_of(const struct csv *csv, size_t column) {
	static const char *const sides[][2] = {{"w", "width"}, {"h", "height"}};
	for (size_t i = 0; i < 2; i++)
		for (size_t c = 0; c < csv->columns && strcasecmp(csv->header[column], sides[i][0]) == 0; c++)
			if (strcasecmp(csv->header[c], sides[1 - i][0]) == 0)
				return sides[i][1];
	return csv->header[column];
}

static void names_expand(struct csv *csv, const struct study_reading *reading) {
	names_number(csv);
	for (size_t c = 0; c < csv->columns; c++) {
		const char *comma = strchr(csv->header[c], ','), *letter = comma ? comma + 1 + strspn(comma + 1, " ") : "";
		const char *before = arena_printf(csv->arena, "%.*s", (int)strcspn(csv->header[c], ","), csv->header[c]);
		if (isalpha((unsigned char)*letter) && !letter[1] && table_is_team(before)) /* "Threads, p" */
			csv->header[c] = before;
		name_expand(csv, c);
		slash_join(csv, c);
		nodes_name(csv, c);
		csv->header[c] =
			strcasecmp(csv->header[c], "efficiency") == 0 && is_noted_weak(csv) ? "weak efficiency" : side_of(csv, c);
		if (is_letter_of_team(csv, c) && !(reading && reading->problem_count) && !table_note(csv, "problem"))
			csv->header[c] = "threads";
	}
}

/* Speed-ups that are all 1 in the first row are over one member of each version: they do not tell which is faster. One
 * member takes the same time with each schedule. */
static bool are_over_own(const struct csv *csv, const struct wide *wide) {
	bool own = wide->speedups && wide->name && strcmp(wide->name, "version") == 0;
	for (size_t i = 0; i < wide->count && own; i++)
		own = table_own(csv, 0, wide->column[i]) == 1;
	return own;
}

/* The readers' notes under a key: the lines that they left out, or the names that they assumed; NULL: none. */
static const char *said_of(const struct csv *csv, const char *key) {
	const char *all = NULL;
	for (size_t i = 0; i < csv->note_count; i++)
		if (strncmp(csv->notes[i], key, strlen(key)) == 0)
			all = arena_printf(csv->arena, "%s%s%s", all ? all : "", all ? ", " : "", csv->notes[i] + strlen(key));
	return all;
}

/* A table of no known producer. */
static int plain_add(struct study_set *set, struct csv *csv, struct table *table, struct err *err) {
	struct wide wide;
	char header[TABLE_NAME];
	if (table_nameless(csv, table->path, &table->names, err))
		return -1;
	bool theirs = false;
	table->said_count = csv->columns;
	table->said = arena_alloc(csv->arena, csv->columns, sizeof *table->said);
	for (size_t c = 0; c < csv->columns; c++) {
		table_translate(csv->header[c], header);
		theirs = theirs || (strcasecmp(header, csv->header[c]) != 0 && (unsigned char)*csv->header[c] < FAR_EAST);
		table->said[c][0] = csv->header[c];
		if (!table_is_given_problem(table, csv->header[c]))
			csv->header[c] = arena_strdup(csv->arena, header);
		table->said[c][1] = csv->header[c];
	}
	const char *noted = NULL;
	names_expand(csv, table->reading);
	table_cells_rewrite(csv, theirs, &noted);
	names_expand(csv, table->reading); /* of a table that was turned */
	table_ratios_name(csv);
	const struct csv *parted = table_parted(csv, table->reading, &table->assumed_unit);
	table->on_device = parted;
	table->csv = parted ? parted : csv;
	if (!parted && wide_find(table->csv, noted ? noted : table_note(csv, "columns"), table->reading, &wide)) {
		if (wide.unnamed)
			return err_set(err, ERR_USAGE, "add a line that names the parameter, for example \"# columns: threads\"",
			               "%s: the columns \"%.20s\", \"%.20s\" .. are numbers without a name", table->path,
			               wide.value[0], wide.value[1]);
		const struct csv *wide_csv = table->csv;
		table->csv = wide_to_long(wide_csv, &wide);
		if (wide.assumed && strcmp(wide_csv->header[0], CORNER_SERIES) == 0)
			return err_set(err, ERR_USAGE, "say it above the table, for example \"# times in ms\" or \"# GB/s\"",
			               "%s: nothing says what the numbers are", table->path);
		table->over_own = are_over_own(wide_csv, &wide);
		table->over_one = wide.over_one;
		table->left_out = said_of(table->csv, "left out: ");
		table->wide = wide.sum ? "part" : wide.repeats ? "run" : wide.name;
		table->assumed_unit = wide.assumed;
		table->told_times = wide.told == MEASURE_TIME;
	}
	table->columns = arena_alloc(csv->arena, table->csv->columns, sizeof *table->columns);
	return table_read(set, table, err);
}

/* 1: no known producer wrote the table. */
static int produced_add(struct study_set *set, const struct csv *csv, struct table *table,
                        const struct producer *producer, struct err *err) {
	struct produced produced;
	int unknown = producer_apply(producer, csv, table->path, table->reading, &produced, err);
	if (unknown)
		return unknown;
	produced.csv->notes = csv->notes;
	produced.csv->note_count = csv->note_count;
	table->csv = produced.csv;
	table->given = produced.role;
	table->unitless = produced.unitless;
	table->guessed = produced.guessed;
	table->producer = produced.producer;
	table->columns = arena_alloc(produced.csv->arena, produced.csv->columns, sizeof *table->columns);
	int failed = table_read(set, table, err);
	csv_free(produced.csv);
	return failed;
}

/* Is a cell below a header a unit: "ms", "[GB/s]", "byte"? */
static bool is_unit(const char *cell, struct table_name *name) {
	char plain[TABLE_NAME];
	snprintf(plain, sizeof plain, "%s", cell + strspn(cell, "(["));
	plain[strcspn(plain, ")]")] = '\0';
	table_name_read(plain, name);
	return *plain && !isdigit((unsigned char)*plain) && name->measure != MEASURE_NONE && !*name->base;
}

static void units_take(struct csv *csv) {
	struct table_name name;
	double number;
	size_t units = 0;
	for (size_t c = 0; c < csv->columns; c++) {
		const char *cell = csv_cell(csv, 0, c);
		if (table_number(csv, cell, true, &number) && number != 1)
			return;
		bool unit = is_unit(cell, &name);
		if (unit && (csv->rows < 2 || !isdigit((unsigned char)*csv_cell(csv, 1, c))))
			return;
		units += unit;
	}
	if (!units)
		return;
	for (size_t c = 0; c < csv->columns; c++) {
		const char *cell = csv_cell(csv, 0, c);
		if (is_unit(cell, &name))
			csv->header[c] = arena_printf(csv->arena, "%s (%.*s)", csv->header[c],
			                              (int)strcspn(cell + strspn(cell, "(["), ")]"), cell + strspn(cell, "(["));
	}
	csv->rows--;
	memmove(csv->cells, csv->cells + csv->columns, csv->rows * csv->columns * sizeof *csv->cells);
	memmove(csv->line, csv->line + 1, csv->rows * sizeof *csv->line);
}

/* "8.1 ± 0.2 ms" and "8.1 ms +/- 0.2 ms": what a value deviates by is not part of it. A unit behind the deviation is
 * the value's. */
static void deviation_cut(struct csv *csv, size_t at) {
	static const char *const signs[] = {"\xc2\xb1", "+/-", "+-", "\\pm"};
	const char *cell = csv->cells[at];
	for (size_t i = 0; i < sizeof signs / sizeof *signs && isdigit((unsigned char)*cell); i++) {
		const char *sign = strstr(cell, signs[i]), *rest = sign ? sign + strlen(signs[i]) : "";
		rest += strspn(rest, " ");
		size_t number = strspn(rest, "0123456789.,"), own = strspn(cell, "0123456789.,");
		if (!number)
			continue;
		bool bare = strspn(cell + own, " ") == (size_t)(sign - cell) - own;
		while (sign[-1] == ' ')
			sign--;
		csv->cells[at] =
			arena_printf(csv->arena, "%.*s%s", (int)(bare ? (long)own : sign - cell), cell, bare ? rest + number : "");
		return;
	}
}

/* Are there signs and pictures behind this blank, and no letters of any language? */
static bool are_signs(const char *blank) {
	bool signs = table_is_sign(blank + 1);
	for (const char *at = blank + 1; signs && *at; at++)
		signs = (unsigned char)*at >= 0x80;
	return signs;
}

/* "4 (one node)" is another setting than "4 (two nodes)". */
static bool is_remark_needed(const struct csv *csv, size_t at) {
	size_t length = strcspn(csv->cells[at], "(");
	bool needed = false;
	for (size_t r = 0; r < csv->rows && at % csv->columns == 0 && !needed; r++) {
		const char *other = csv_cell(csv, r, 0);
		needed =
			strncmp(other, csv->cells[at], length) == 0 && other[length] == '(' && strcmp(other, csv->cells[at]) != 0;
	}
	return needed;
}

/* "8.1 (1.02)", "15.0 M/s (95%)", "12 (slower)", "12 ✅" and "~12": a remark is not part of what was measured. */
static void remark_cut(struct csv *csv, size_t at) {
	size_t about = *csv->cells[at] == '~' ? 1 : strncmp(csv->cells[at], "≈", 3) == 0 ? 3 : 0;
	if (about && strspn(csv->cells[at] + about, " 0123456789"))
		csv->cells[at] += about + strspn(csv->cells[at] + about, " ");
	const char *cell = csv->cells[at], *header = csv->header[at % csv->columns], *end = strstr(cell, " (");
	const char *wide = strstr(cell, "（"), *blank = strrchr(cell, ' ');
	if (!end || cell[strlen(cell) - 1] != ')' || is_remark_needed(csv, at) || table_is_parameter(header) ||
	    table_is_problem(header))
		end = wide ? wide : blank && are_signs(blank) ? blank : NULL;
	if (!end && cell[0] && cell[strlen(cell) - 1] == '*') /* of a footnote: "11.23*" */
		end = cell + strcspn(cell, "*");
	const char *both = strstr(cell, " / "); /* a time and what else it took: "2.08s / 203MB" */
	if (!end && both && isdigit((unsigned char)both[3]) && !isdigit((unsigned char)both[-1]))
		end = both;
	if (end && isdigit((unsigned char)*cell))
		csv->cells[at] = arena_printf(csv->arena, "%.*s", (int)(end - cell), cell);
}

static size_t column_find(const struct csv *csv, const char *name) {
	for (size_t c = 0; c < csv->columns; c++)
		if (strcasecmp(csv->header[c], name) == 0)
			return c;
	return SIZE_MAX;
}

/* ncu writes a row for each metric of a launch: the same with a row for each launch, and units behind the values. NULL:
 * the table is not so. */
static struct csv *pivoted(const struct csv *csv) {
	size_t id = column_find(csv, "ID"), name = column_find(csv, "Metric Name"), unit = column_find(csv, "Metric Unit"),
		   value = column_find(csv, "Metric Value");
	char cell[CSV_FIELD_MAX + 1];
	if (id == SIZE_MAX || name == SIZE_MAX || unit == SIZE_MAX || value == SIZE_MAX)
		return NULL;
	struct grid *grid = grid_new();
	for (size_t r = 0; r < csv->rows; r++) {
		bool first = r == 0 || !table_is_same(csv, id, r, r - 1);
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

static int csv_add(struct study_set *set, const char *path, struct csv *csv, const struct producer *producer,
                   const struct study_reading *reading, struct err *err) {
	struct csv *pivot = producer ? NULL : pivoted(csv);
	if (pivot) {
		csv_free(csv);
		csv = pivot;
	}
	if (!producer) {
		for (size_t i = 0; i < csv->rows * csv->columns; i++) {
			deviation_cut(csv, i);
			remark_cut(csv, i);
		}
		units_take(csv);
		csv_headers_drop(csv, table_is_measurement);
	}
	struct table table = {.csv = csv,
	                      .path = path,
	                      .reading = reading,
	                      .left_out = said_of(csv, "left out: "),
	                      .names = said_of(csv, "assumed names: ")};
	int failed = reading && reading->version_count ? 1 : produced_add(set, csv, &table, producer, err);
	if (failed > 0)
		failed = plain_add(set, csv, &table, err);
	csv_free(csv);
	return failed ? hint_add(err) : 0;
}

/* JSON of a known producer. */
static int rows_add(struct study_set *set, const char *path, const char *text, size_t size,
                    const struct producer *producer, const struct study_reading *reading, struct err *err) {
	struct csv *csv = producer_json_rows(producer, text, size);
	if (!csv)
		return err_set(err, ERR_USAGE, NULL, "%s: this file of %s does not have any rows, or is damaged", path,
		               producer->name);
	return csv_add(set, path, csv, producer, reading, err);
}

int study_set_table(struct study_set *set, const char *path, const char *text, size_t size,
                    const struct study_reading *reading, struct err *err) {
	if (strcmp(study_set_objective(set), "time") != 0)
		return 0;
	const struct producer *producer = producer_of_json(text, size);
	if (producer)
		return rows_add(set, path, text, size, producer, reading, err);
	bool json = (*text == '[' || *text == '{') && !memmem(text, size, "\"counter-value\"", 15);
	struct csv *csv = json ? producer_json_rows(NULL, text, size) : producer_text(text, size);
	if (!csv)
		csv = table_text_read(path, text, size, err);
	return csv ? csv_add(set, path, csv, NULL, reading, err) : hint_add(err);
}
