/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>
#include <strings.h>

#include "base/json/js.h"
#include "base/text.h"
#include "tuner/study/study_impl.h"

/* Reads the notes of a table (lines that begin with '#') and the names of its columns, and describes how it was read.
 */
/* A value that was published without its spread is taken to be right within this. */
static const double ASSUMED_NOISE = 0.05;

/* "KEY: VALUE" among the lines that begin with '#'; NULL if none has this key. */
static const char *table_note(const struct csv *csv, const char *key) {
	size_t length = strlen(key);
	for (size_t i = 0; i < csv->note_count; i++)
		if (strncasecmp(csv->notes[i], key, length) == 0 && csv->notes[i][length] == ':')
			return csv->notes[i] + length + 1 + strspn(csv->notes[i] + length + 1, " ");
	return NULL;
}

/* the caller frees it */
/* "/a/b/fw-times.csv" is the kernel fw-times. */
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

/* new reference; NULL: an error */
static json_t *table_machine(const struct csv *csv, struct err *err) {
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
static const char *table_device(const struct table *table) {
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

static const char *role_word(enum table_role role) {
	static const char *const words[] = {
		[TABLE_PARAM] = "parameter", [TABLE_PROBLEM] = "problem", [TABLE_TIME] = "time",
		[TABLE_RATE] = "rate",       [TABLE_FIGURE] = "figure",   [TABLE_COUNTER] = "counter",
		[TABLE_FILE] = "file",       [TABLE_STATUS] = "status",   [TABLE_IGNORED] = "skipped"};
	return words[role];
}

/* Tells who wrote the file, and what its columns are. New reference. */
static json_t *source_json(const struct table *table) {
	json_t *columns = json_array();
	for (size_t c = 0; c < table->csv->columns; c++) {
		const struct table_column *column = &table->columns[c];
		bool time = column->read.measure == MEASURE_TIME || (column->role == TABLE_TIME && !table->unitless);
		const char *unit = time ? "s" : column->role == TABLE_RATE ? column->read.per : "";
		json_array_append_new(
			columns, json_pack("{s:s,s:s,s:s}", "name", column->name, "role", role_word(column->role), "unit", unit));
	}
	return json_pack("{s:s,s:o}", "producer", table->producer ? table->producer : "table", "columns", columns);
}

/* number of configurations that were added, finished or not */
static size_t study_gathered(const struct study *study) {
	return study->gathering.count;
}

/* Says how the table was read, and how far a value may be off: without repeated rows that is an assumption. */
static void table_describe(const struct table *table, struct study_set *set, size_t before) {
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
		if (table->guessed)
			json_object_set_new(item->table, "assumed_direction",
			                    json_string(value->role == TABLE_RATE ? "maximize" : "minimize"));
		item->producer = source_json(table);
		if (value->role == TABLE_RATE)
			study_rate(item->study, value->name, value->read.scale);
		else if (table->unitless)
			study_unitless(item->study);
		if (thin) {
			item->noise = ASSUMED_NOISE;
			json_object_set_new(item->table, "assumed_noise", js_number(ASSUMED_NOISE));
		}
	}
}

static const double SECONDS_MAX = 1e9, SECONDS_MIN = 1e-15;

struct filling {
	struct table *table;
	struct study_set *set;
	const char *kernel, *device;
	const json_t *machine;
	size_t kernel_column; /* SIZE_MAX: the table does not have one */
	size_t values;
	bool rest; /* the parts leave some of the time */
	struct err *err;
};

static int cell_refuse(const struct filling *filling, size_t row, const char *column, const char *cell,
                       const char *why) {
	const char *hint = NULL;
	if (strchr(cell, ',') && filling->table->csv->delimiter != ';')
		hint = "write 12400 or 12.4, because a comma is neither a point nor a mark of thousands here";
	else if (strcmp(cell, column) == 0)
		hint = "the header is repeated there: write one file for each table, or remove the line";
	else if (*cell == '-' || *cell == '0')
		hint = "remove the row, or write - if the run failed";
	return err_set(filling->err, ERR_USAGE, hint, "%s:%zu: %.60s \"%.40s\" %s", filling->table->path,
	               filling->table->csv->line[row], column, cell, why);
}

static json_t *setting_json(const struct table *table, size_t column, const char *cell) {
	double number;
	if (!table->columns[column].numbers || !table_number(table->csv, cell, true, &number))
		return value_json(value_word(cell));
	bool whole = number == floor(number) && fabs(number) < 9e15;
	return value_json(whole ? value_int((int64_t)number) : value_real(number));
}

/* The members of one role. New reference. */
static json_t *settings_json(const struct table *table, size_t row, enum table_role role) {
	json_t *object = json_object();
	for (size_t c = 0; c < table->csv->columns; c++) {
		const char *cell = csv_cell(table->csv, row, c);
		if (table->columns[c].role == role && *cell)
			json_object_set_new(object, table->columns[c].name, setting_json(table, c, cell));
	}
	return object;
}

/* A failure if a column says so. */
static const char *status_of(const struct table *table, size_t row) {
	for (size_t c = 0; c < table->csv->columns; c++)
		if (table->columns[c].role == TABLE_STATUS && *csv_cell(table->csv, row, c) &&
		    table_is_missing(csv_cell(table->csv, row, c)))
			return "runtime";
	return "correct";
}

static struct study_item *item_of(const struct filling *filling, size_t row) {
	const char *kernel = filling->kernel;
	if (filling->kernel_column != SIZE_MAX && *csv_cell(filling->table->csv, row, filling->kernel_column))
		kernel = csv_cell(filling->table->csv, row, filling->kernel_column);
	return study_set_item(filling->set, kernel, filling->device, filling->machine);
}

/* "0.00" is a time that the clock of the program, or what it prints, is too coarse for. */
static bool is_too_short(const struct table *table, const char *cell) {
	return table->columns[table->value].role == TABLE_TIME && strchr(cell, '.') && !cell[strspn(cell, "0.")];
}

static int row_add(struct filling *filling, size_t row) {
	const struct table *table = filling->table;
	const struct table_column *column = &table->columns[table->value];
	const char *cell = csv_cell(table->csv, row, table->value);
	struct study_trial trial = {.phase = "sweep", .status = status_of(table, row)};
	double seconds = NAN;
	if (table_is_missing(cell) || is_too_short(table, cell))
		trial.status = "runtime";
	else if (!table_measured(table->csv, cell, &column->read, &seconds))
		return cell_refuse(filling, row, column->name, cell, "is not a number");
	else if (!(seconds > 0) && column->read.measure == MEASURE_NONE && (table->unitless || column->role == TABLE_RATE))
		return err_set(filling->err, ERR_USAGE, "add a constant to the column, or leave out such rows",
		               "%s:%zu: %.60s \"%.40s\": values of 0 and below cannot be compared as ratios", table->path,
		               table->csv->line[row], column->name, cell);
	else if (!(seconds > 0))
		return cell_refuse(filling, row, column->name, cell, "is not positive");
	if (column->role == TABLE_RATE)
		seconds = 1 / seconds;
	if (isfinite(seconds) && (seconds > SECONDS_MAX || seconds < SECONDS_MIN))
		return cell_refuse(filling, row, column->name, cell, "is out of range");
	js_auto json_t *problem = settings_json(table, row, TABLE_PROBLEM),
				   *config = settings_json(table, row, TABLE_PARAM);
	js_auto json_t *detail = table_detail(table, row, seconds, filling->rest, filling->err);
	trial.problem = problem;
	trial.config = config;
	trial.detail = json_object_size(detail) ? detail : NULL;
	trial.value = seconds;
	trial.samples = &seconds;
	trial.sample_count = isfinite(seconds);
	filling->values += detail && isfinite(seconds) && study_set_add(item_of(filling, row), &trial);
	if (detail && !isfinite(seconds))
		study_set_add(item_of(filling, row), &trial);
	return detail ? 0 : -1;
}

/* Names of kernels that occur once each are versions of one thing, which the rows compare. */
static bool is_kernel_column(const struct table *table, size_t column) {
	return strcasecmp(table->columns[column].name, "kernel") == 0 && table->columns[column].role == TABLE_IGNORED;
}

static int fill(struct filling *filling) {
	size_t before = study_set_count(filling->set);
	for (size_t c = 0; c < filling->table->csv->columns; c++)
		if (is_kernel_column(filling->table, c))
			filling->kernel_column = c;
	for (size_t r = 0; r < filling->table->csv->rows; r++)
		if (row_add(filling, r))
			return -1;
	if (filling->values == 0)
		return err_set(filling->err, ERR_USAGE, NULL, "%s: no row of the table has a time", filling->table->path);
	table_describe(filling->table, filling->set, before);
	return 0;
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
	if (!failed) {
		struct filling filling = {.table = table,
		                          .set = set,
		                          .kernel = kernel,
		                          .device = table_device(table),
		                          .machine = machine,
		                          .kernel_column = SIZE_MAX,
		                          .rest = table_has_rest(table),
		                          .err = err};
		failed = fill(&filling);
	}
	table->reading = NULL;
	return failed;
}

static int hint_add(struct err *err) {
	return err && !*err->hint
	           ? err_hint(err, "write a line of names, and below it a line for each measurement (doc/tables.md)")
	           : -1;
}

/* Headers that are bare numbers do not say of what. */
static int wide_refuse(const char *path, const struct wide *wide, struct err *err) {
	return err_set(err, ERR_USAGE, "add a line that names the parameter, for example \"# columns: threads\"",
	               "%s: the columns \"%.20s\", \"%.20s\" .. are numbers without a name", path, wide->value[0],
	               wide->value[1]);
}

/* "N\\threads,1,2,4": the corner names the rows and the columns. NULL: it does not. */
static const char *corner_split(struct csv *csv) {
	const char *slash = strpbrk(csv->header[0], "\\/");
	double number;
	for (size_t c = 1; c < csv->columns; c++)
		if (!table_number(csv, csv->header[c], true, &number))
			return NULL;
	if (!slash || slash == csv->header[0] || !slash[1] || csv->columns < 3)
		return NULL;
	csv->header[0] = arena_printf(csv->arena, "%.*s", (int)(slash - csv->header[0]), csv->header[0]);
	return slash + 1;
}

/* "Average,4.2" below the rows is not one of them. */
static int summary_refuse(const struct csv *csv, const char *path, struct err *err) {
	static const char words[] = "average avg mean median total sum min max std stddev mittelwert summe moyenne media "
								"promedio totale 平均 合计 总计";
	double number;
	for (size_t r = 1; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, 0);
		if (table_among(cell, strlen(cell), words) && table_number(csv, csv_cell(csv, 0, 0), true, &number))
			return err_set(err, ERR_USAGE, "remove it: each line below the header is one measurement",
			               "%s:%zu: \"%.20s\" looks like a summary of the lines above", path, csv->line[r], cell);
	}
	return 0;
}

/* A table of no known producer. */
static int plain_add(struct study_set *set, struct csv *csv, struct table *table, struct err *err) {
	struct wide wide;
	char header[TABLE_NAME];
	if (summary_refuse(csv, table->path, err))
		return -1;
	for (size_t c = 0; c < csv->columns; c++) {
		table_translate(csv->header[c], header);
		csv->header[c] = arena_strdup(csv->arena, header);
	}
	const char *noted = corner_split(csv);
	table->csv = table_cells_rewrite(csv);
	if (wide_find(table->csv, noted ? noted : table_note(csv, "columns"), table->reading, &wide)) {
		if (wide.unnamed && wide_refuse(table->path, &wide, err))
			return -1;
		table->csv = wide_to_long(table->csv, &wide);
		table->wide = wide.sum ? "part" : wide.repeats ? "run" : wide.name;
		table->assumed_unit = wide.assumed;
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
	return *plain && name->measure != MEASURE_NONE && !*name->base;
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

static int csv_add(struct study_set *set, const char *path, struct csv *csv, const struct producer *producer,
                   const struct study_reading *reading, struct err *err) {
	struct csv *pivot = producer ? NULL : producer_pivot(csv);
	if (pivot) {
		csv_free(csv);
		csv = pivot;
	}
	if (!producer) {
		table_deviations_cut(csv);
		units_take(csv);
	}
	struct table table = {.csv = csv, .path = path, .reading = reading};
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

/* Two blank lines and another comment begin another set of data for gnuplot, whose rows must not join those above. */
static int blocks_refuse(const char *path, const char *text, struct err *err) {
	const char *first = *text == '#' ? text : NULL, *next;
	for (const char *at = text; (next = strstr(at, "\n\n\n#")); at = next + 3)
		if (!first || strncmp(first, next + 3, strcspn(first, "\n") + 1) != 0) {
			size_t line = 4;
			for (const char *c = text; c < next; c++)
				line += *c == '\n';
			return err_set(err, ERR_USAGE, "write one file for each, or add a column that tells them apart",
			               "%s:%zu: another set of data begins", path, line);
		}
	return 0;
}

int study_set_table(struct study_set *set, const char *path, const char *text, size_t size,
                    const struct study_reading *reading, struct err *err) {
	if (strcmp(study_set_objective(set), "time") != 0)
		return 0;
	const struct producer *producer = producer_of_json(text, size);
	if (producer)
		return rows_add(set, path, text, size, producer, reading, err);
	bool json = (*text == '[' || *text == '{') && !memmem(text, size, "\"counter-value\"", 15);
	struct csv *csv = json ? NULL : producer_text(text, size);
	if (!csv)
		csv = producer_json_rows(NULL, text, size);
	if (!csv && blocks_refuse(path, text, err))
		return -1;
	if (!csv) {
		size_t plain_size = size;
		mem_auto char *plain = table_text_plain(text, size, &plain_size);
		csv = csv_read(plain ? plain : text, plain_size, path, err);
	}
	return csv ? csv_add(set, path, csv, NULL, reading, err) : hint_add(err);
}
