/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The measurements of a row besides its time: figures, counters, energy; and columns of times beside that of the run:
 * parts of it, what they leave of it, and the names that diagnoses know. */
#include <math.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "tuner/study/study_impl.h"

enum { FILE_MAX = 16 << 20, NAME_SHOWN = 80 };
static const double WHOLE_LEAST = 0.85, WHOLE_MOST = 1.05, SHARE = 0.8, MATTERS = 0.2;

struct alias {
	const char *name, *bases; /* separated by '|' */
};
static const struct alias aliases[] = {
	{"gpu_s", "gpu|gpu time|gpu_time|kernel|kernels|kernel time|kernel_time|kernel_execution"},
	{"transfer_s",
     "transfer|transfers|transfer time|copy|copies|memcpy|data transfer|data_transfer|transfer_time|h2d|d2h|htod|dtoh|"
     "upload|download|host to device|device to host|memcpy h2d|memcpy d2h|h2d copy|d2h copy"},
	{"cpu_s", "cpu|cpu time|cpu_time|host|host time|host_time|cpu update|host update"}};
enum { ALIASES = sizeof aliases / sizeof *aliases, CPU = ALIASES - 1 };

/* Which of the aliases a column is; ALIASES: none. */
static size_t alias_of(const struct table_column *column) {
	const char *base = column->read.base;
	for (size_t i = 0; i < ALIASES && column->read.measure == MEASURE_TIME; i++)
		for (const char *at = aliases[i].bases; *at; at += strcspn(at, "|") + (at[strcspn(at, "|")] == '|'))
			if (strlen(base) == strcspn(at, "|") && strncmp(at, base, strlen(base)) == 0)
				return i;
	return ALIASES;
}

static bool is_time(const struct table_column *column) {
	return column->role == TABLE_FIGURE && column->read.measure == MEASURE_TIME && !*column->read.per;
}

static double cell_of(const struct table *table, size_t row, size_t column) {
	return table_own(table->csv, row, column) * table->columns[column].read.scale;
}

/* The sum of the times beside that of the run; NAN if one is missing. */
static double sum_of(const struct table *table, size_t row) {
	double sum = 0;
	for (size_t c = 0; c < table->csv->columns; c++)
		if (is_time(&table->columns[c]))
			sum += cell_of(table, row, c);
	return sum;
}

/* The time of the processor is as long as the run in any program; other names are those of parts, and any beside a
 * total. */
static bool are_parts(const struct table *table) {
	bool some = false, total = table_has_word(table->columns[table->value].read.base, "total overall whole gesamt");
	for (size_t c = 0; c < table->csv->columns; c++) {
		const struct table_column *column = &table->columns[c];
		if (!is_time(column))
			continue;
		if (alias_of(column) == ALIASES && !total && !table_is_part(column->read.base))
			return false;
		some = some || alias_of(column) != CPU;
	}
	return some;
}

static bool table_has_rest(const struct table *table) {
	const struct table_column *value = &table->columns[table->value];
	size_t whole = 0, rows = 0;
	double most = 0;
	if (value->role != TABLE_TIME || *value->read.per || !are_parts(table))
		return false;
	for (size_t r = 0; r < table->csv->rows; r++) {
		double share = sum_of(table, r) / cell_of(table, r, table->value);
		if (isnan(share))
			continue;
		if (!(share <= WHOLE_MOST))
			return false;
		most = fmax(most, share);
		whole += share >= WHOLE_LEAST;
		rows++;
	}
	return rows && (double)whole < SHARE * (double)rows && most >= MATTERS;
}

/* The time of the processor beside parts that add up to that of the device is another version's, and no part. */
static void rivals_ignore(struct table *table) {
	for (size_t c = 0; c < table->csv->columns; c++) {
		bool whole = table->csv->rows > 1;
		for (size_t r = 0; r < table->csv->rows && whole; r++) {
			double all = cell_of(table, r, table->value), own = cell_of(table, r, c), rest = sum_of(table, r) - own;
			whole = is_time(&table->columns[c]) && own > (WHOLE_MOST - 1) * all && rest >= (2 - WHOLE_MOST) * all &&
			        rest <= WHOLE_MOST * all;
		}
		if (whole)
			table->columns[c].role = TABLE_IGNORED;
	}
}

static void figure_add(json_t *figures, const char *name, double value, bool derived) {
	json_t *one =
		json_pack("{s:s,s:o,s:s,s:s}", "name", name, "value", js_number(value), "unit", "s", "status", "counted");
	if (derived)
		json_object_set_new(one, "derived", json_true());
	json_array_append_new(figures, one);
}

static void parts_add(const struct table *table, size_t row, double seconds, bool rest, json_t *figures) {
	for (size_t i = 0; i < ALIASES; i++) {
		double sum = 0;
		size_t found = 0;
		for (size_t c = 0; c < table->csv->columns; c++)
			if (is_time(&table->columns[c]) && alias_of(&table->columns[c]) == i) {
				sum += cell_of(table, row, c);
				found++;
			}
		if (found && isfinite(sum))
			figure_add(figures, aliases[i].name, sum, true);
	}
	double sum = rest ? sum_of(table, row) : NAN;
	if (isfinite(sum) && isfinite(seconds))
		figure_add(figures, "the rest", fmax(seconds - sum, 0), false);
}

/* The number in a cell, in the unit that it or its column names. */
/* A time may have a unit of its own: "3.4 ms". */
static bool table_measured(const struct csv *csv, const char *cell, const struct table_name *name, double *value) {
	char copy[CSV_FIELD_MAX + 1];
	struct table_name unit;
	if (table_number(csv, cell, false, value)) {
		*value *= name->scale;
		return true;
	}
	if (name->measure != MEASURE_RATE && table_clock(cell, value))
		return true;
	snprintf(copy, sizeof copy, "%s", cell);
	size_t digits = strspn(copy, "+-.0123456789eE");
	table_name_read(copy + digits + strspn(copy + digits, " "), &unit);
	if (!digits || unit.measure == MEASURE_NONE || *unit.base ||
	    (name->measure != MEASURE_NONE && unit.measure != name->measure))
		return false;
	copy[digits] = '\0';
	if (!table_number(csv, copy, false, value))
		return false;
	*value *= unit.scale;
	return true;
}

/* "time_per_iteration_us" is the figure time_per_iteration, "Number of iterations" iterations; others keep their names.
 */
static json_t *figure_name(const struct table_column *column) {
	const char *base = column->read.base, *per = strncmp(base, "time/", 5) == 0 ? base + 5 : NULL;
	char key[TABLE_NAME];
	if (table_is_count(column->name)) {
		table_key(column->name, key);
		return json_string(key);
	}
	return per ? json_sprintf("time_per_%s", per) : json_string(column->name);
}

static json_t *numbers_json(const struct table *table, size_t row, enum table_role role) {
	json_t *list = json_array();
	for (size_t c = 0; c < table->csv->columns; c++) {
		const struct table_column *column = &table->columns[c];
		bool time = column->read.measure == MEASURE_TIME && !*column->read.per;
		double value;
		if (column->role != role || !table_measured(table->csv, csv_cell(table->csv, row, c), &column->read, &value))
			continue;
		json_t *one = json_pack("{s:o,s:o,s:s,s:s}", "name",
		                        role == TABLE_FIGURE ? figure_name(column) : json_string(column->name), "value",
		                        js_number(value), "unit", time ? "s" : "", "status", "counted");
		json_array_append_new(list, one);
	}
	return list;
}

/* The time of one of a number of iterations follows from both, unless the table has it. */
static void each_add(const struct table *table, size_t row, double seconds, json_t *figures) {
	for (size_t c = 0; c < table->csv->columns; c++) {
		const struct table_column *column = &table->columns[c];
		char key[TABLE_NAME];
		if (column->role != TABLE_FIGURE || !table_is_count(column->name) || isnan(table_positive(table->csv, row, c)))
			continue;
		table_key(column->name, key);
		json_t *name = json_sprintf("time_per_%.*s", (int)(strlen(key) - (key[strlen(key) - 1] == 's')), key);
		json_array_append_new(figures, json_pack("{s:o,s:o,s:s}", "name", name, "value",
		                                         js_number(seconds / table_own(table->csv, row, c)), "unit", "s"));
	}
}

/* Reads the file `name` beside the table: [{"name", "value", "unit", "status"}], under our names where we have one. New
 * reference; NULL with ERR_USAGE if the name leads elsewhere, or if the file is of neither kind. */
static json_t *counted_file_read(const char *table, const char *name, struct err *err) {
	const char *slash = strrchr(table, '/');
	size_t size;
	if (*name == '/' || strstr(name, ".."))
		return err_null(err_set(err, ERR_USAGE, "put it beside the table, or in a folder there",
		                        "a table cannot name the file %.*s", NAME_SHOWN, name));
	mem_auto char *path = mem_printf("%.*s%s", slash ? (int)(slash - table + 1) : 0, table, name);
	mem_auto char *text = sys_read_file(path, FILE_MAX, &size, err);
	if (!text && err->code == ERR_FAILED)
		err->code = ERR_USAGE;
	json_t *list = text ? counted_text_read(text, path, err) : NULL;
	for (size_t i = json_array_size(list); i-- > 0;) /* the table has its own time */
		if (strcmp(js_string_or(json_array_get(list, i), "name", ""), "time_elapsed") == 0)
			json_array_remove(list, i);
	return list;
}

/* Appends the counters of the files that the row names. */
static int files_add(const struct table *table, size_t row, json_t *counters, struct err *err) {
	for (size_t c = 0; c < table->csv->columns; c++) {
		const char *cell = csv_cell(table->csv, row, c);
		if (table->columns[c].role != TABLE_FILE || table_is_missing(cell))
			continue;
		js_auto json_t *read = counted_file_read(table->path, cell, err);
		if (!read)
			return err_prefix(err, "%s:%zu", table->path, table->csv->line[row]);
		json_array_extend(counters, read);
	}
	return 0;
}

static bool is_joules(const char *header) {
	char key[TABLE_NAME];
	const char *unit = strpbrk(header, "([");
	table_words_join(header, key);
	return (unit && (strncmp(unit + 1, "J)", 2) == 0 || strncmp(unit + 1, "J]", 2) == 0)) ||
	       table_among(key, strlen(key), "energy_j joules energy_joules joule");
}

/* "Energy (J)" of a run is what the machine's counters measure as well. */
static void energy_add(const struct table *table, size_t row, double seconds, json_t *detail) {
	for (size_t c = 0; c < table->csv->columns && isfinite(seconds); c++) {
		const struct table_column *column = &table->columns[c];
		if (column->role != TABLE_FIGURE || !is_joules(column->name) || isnan(table_positive(table->csv, row, c)))
			continue;
		json_object_set_new(detail, "seconds", js_number(seconds));
		json_object_set_new(detail, "energy_j", json_pack("[f]", table_own(table->csv, row, c)));
		return;
	}
}

/* Returns the other measurements of a row besides its time. New reference; NULL if a file of counters cannot be read.
 * rest: the parts leave some of the time. */
static json_t *table_detail(const struct table *table, size_t row, double seconds, bool rest, struct err *err) {
	js_auto json_t *figures = numbers_json(table, row, TABLE_FIGURE),
				   *counters = numbers_json(table, row, TABLE_COUNTER);
	json_t *detail = files_add(table, row, counters, err) ? NULL : json_object();
	if (isfinite(seconds))
		each_add(table, row, seconds, figures);
	parts_add(table, row, seconds, rest, figures);
	if (detail && json_array_size(figures))
		json_object_set(detail, "figures", figures);
	if (detail && json_array_size(counters))
		json_object_set(detail, "counters", counters);
	if (detail && table->columns[table->value].role == TABLE_TIME)
		energy_add(table, row, seconds, detail);
	return detail;
}

/* A value that was published without its spread is taken to be right within this. */
static const double ASSUMED_NOISE = 0.05;

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

/* Says how the table was read, and how far a value may be off: without repeated rows that is an assumption. */
static void table_describe(const struct table *table, struct study_set *set, size_t before) {
	const struct table_column *value = &table->columns[table->value];
	for (size_t i = 0; i < study_set_count(set); i++) {
		struct study_item *item = study_set_at(set, i);
		size_t rows = item->study->gathering.count; /* finished or not */
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
		if (table->left_out)
			json_object_set_new(item->table, "left_out", js_text(table->left_out));
		if (table->names)
			json_object_set_new(item->table, "assumed_names", js_text(table->names));
		if (table->assumed_unit)
			json_object_set_new(item->table, "assumed_unit", json_string(table_time_unit(value->read.scale)));
		if (table->among)
			json_object_set_new(item->table, "among", json_integer((json_int_t)table->among));
		if (table->on_guess)
			json_object_set_new(item->table, "assumed_device", json_true());
		if (table->guessed)
			json_object_set_new(item->table, "assumed_direction",
			                    json_string(value->role == TABLE_RATE ? "maximize" : "minimize"));
		item->producer = source_json(table);
		if (value->role == TABLE_RATE)
			study_rate(item->study, value->name, value->read.scale);
		else if (table->unitless || (table->assumed_unit && value->read.scale == 1))
			study_unitless(item->study); /* seconds that nobody named are not printed as such */
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
		if (table->columns[c].role == role && *cell && !(table->columns[c].numbers && table_is_dash(cell)))
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

/* "0.00", or "0" among fractions, is a time that the clock of the program, or what it prints, is too coarse for, and
 * the rate of nothing. */
static bool is_too_short(const struct table *table, const char *cell) {
	bool fractions = false;
	for (size_t r = 0; r < table->csv->rows && *cell == '0'; r++)
		fractions = fractions || strchr(csv_cell(table->csv, r, table->value), '.');
	return fractions && !cell[strspn(cell, "0.")];
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
	if (isfinite(seconds) && !table->unitless && (seconds > SECONDS_MAX || seconds < SECONDS_MIN))
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

/* Do two names differ in underlines alone? */
static bool is_same_name(const char *a, const char *b) {
	while (*a || *b) {
		a += strspn(a, "_");
		b += strspn(b, "_");
		if (*a != *b)
			return false;
		a += *a != '\0';
		b += *b != '\0';
	}
	return true;
}

/* "BlockSize" was read as two words, and is told as it was written. Laws look for the words of teams. */
static void names_restore(struct table *table) {
	for (size_t c = 0; c < table->csv->columns; c++)
		for (size_t i = 0; i < table->said_count; i++)
			if (strcmp(table->columns[c].name, table->said[i][1]) == 0 && !table_is_team(table->said[i][1]) &&
			    is_same_name(table->said[i][0], table->said[i][1]))
				table->columns[c].name = table->said[i][0];
}

int table_fill(struct study_set *set, struct table *table, const char *kernel, const char *device,
               const json_t *machine, struct err *err) {
	struct filling filling = {.table = table,
	                          .set = set,
	                          .kernel = kernel,
	                          .device = device,
	                          .machine = machine,
	                          .kernel_column = SIZE_MAX,
	                          .err = err};
	size_t before = study_set_count(set);
	rivals_ignore(table);
	filling.rest = table_has_rest(table);
	names_restore(table);
	for (size_t c = 0; c < table->csv->columns; c++)
		if (is_kernel_column(table, c))
			filling.kernel_column = c;
	for (size_t r = 0; r < table->csv->rows; r++)
		if (row_add(&filling, r))
			return -1;
	if (filling.values == 0)
		return err_set(err, ERR_USAGE, NULL, "%s: no row of the table has a time%s%s", table->path,
		               table->left_out ? "; left out: " : "", table->left_out ? table->left_out : "");
	table_describe(table, set, before);
	return 0;
}
