/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/show/columns.h"

#include <math.h>

#include "base/json/js.h"
#include "src/show/results.h"

static double number_of(const json_t *value) {
	return json_is_number(value) ? json_number_value(value) : NAN;
}

char *column_text(const struct column *column, const json_t *row, size_t at, double *number) {
	const json_t *value = !column->path ? NULL : *column->path ? js_at(row, column->path) : row;
	const char *absent = column->absent ? column->absent : "-";
	*number = column->by ? number_of(js_at(row, column->by)) : column->path ? number_of(value) : (double)at + 1;
	if (column->text)
		return column->text(value);
	if (column->words[0])
		return mem_strdup(column->words[json_is_true(value)]);
	if (column->format)
		return isfinite(*number) ? mem_printf(column->format, *number * column->factor) : mem_strdup(absent);
	return mem_strdup(json_is_string(value) ? json_string_value(value) : absent);
}

void columns_print(struct ui *ui, const struct column *columns, const json_t *rows, FILE *out) {
	enum { MOST = 16 };
	const char *titles[MOST], *cells[MOST];
	size_t count = 0;
	double number;
	for (; columns[count].title && count < MOST; count++)
		titles[count] = columns[count].title + (*columns[count].title == '\2');
	if (json_array_size(rows) == 0)
		return;
	struct table *table = table_new(count, titles);
	js_each (row, rows) {
		for (size_t i = 0; i < count; i++)
			cells[i] = column_text(&columns[i], row, row_at, &number);
		table_row(table, cells);
		for (size_t i = 0; i < count; i++)
			free((char *)cells[i]);
	}
	table_end(table, ui, out);
}

char *column_config(const json_t *value) {
	return results_config(value, NULL);
}

char *column_problem(const json_t *value) {
	return results_problem(value);
}

char *column_seconds(const json_t *value) {
	return mem_strdup(ui_seconds(number_of(value)).text);
}

char *column_bytes(const json_t *value) {
	return mem_strdup(json_is_number(value) ? ui_bytes(json_number_value(value)).text : "-");
}

char *column_age(const json_t *seconds) {
	static const struct {
		double seconds;
		const char *name;
	} units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {0, NULL}};
	size_t i = 0;
	double age = number_of(seconds);
	while (units[i].name && age < 2 * units[i].seconds)
		i++;
	return !isfinite(age)   ? mem_strdup("unknown")
	       : !units[i].name ? mem_strdup("just now")
	                        : mem_printf("%.0f %ss ago", floor(age / units[i].seconds), units[i].name);
}

char *column_plain(const json_t *value) {
	if (json_is_string(value))
		return mem_strdup(json_string_value(value));
	return value && !json_is_null(value) ? js_canonical(value) : mem_strdup("none");
}

static void figure_text(const json_t *figure, char *text, size_t size) {
	double value = js_real_or(figure, "value", NAN);
	const char *unit = js_string_or(figure, "unit", "");
	if (!isfinite(value)) {
		snprintf(text, size, "-");
		return;
	}
	const char *form = fabs(value) < 1e15 && value == trunc(value) ? "%.0f%s%.40s" : "%.4g%s%.40s";
	snprintf(text, size, form, value, *unit ? " " : "", unit);
	text_clean(text, false);
}

void figures_print(const json_t *figures, FILE *out) {
	size_t width = 0;
	js_each (figure, figures) {
		size_t length = strnlen(js_string_or(figure, "name", "?"), 40);
		width = length > width ? length : width;
	}
	js_each (figure, figures) {
		char name[41], value[96];
		snprintf(name, sizeof name, "%s", js_string_or(figure, "name", "?"));
		text_clean(name, false);
		figure_text(figure, value, sizeof value);
		fprintf(out, "%-*s  %s\n", (int)width, name, value);
	}
}

static const json_t *values_of(const json_t *one) {
	return json_object_get(one, "values");
}

void figures_series_print(const json_t *series, FILE *out) {
	size_t steps = 0;
	if (json_array_size(series) == 0)
		return;
	fputs("\n#", out);
	js_each (one, series) {
		char name[41];
		snprintf(name, sizeof name, "%s", js_string_or(one, "name", "?"));
		text_clean(name, false);
		fprintf(out, " %s", name);
		steps = json_array_size(values_of(one)) > steps ? json_array_size(values_of(one)) : steps;
	}
	fputc('\n', out);
	for (size_t step = 0; step < steps; step++) {
		js_each (one, series) {
			const json_t *value = json_array_get(values_of(one), step);
			double x = json_is_number(value) ? json_number_value(value) : NAN;
			fprintf(out, "%s%.*g", one_at ? " " : "", fabs(x) < 1e15 && x == trunc(x) ? 15 : 7, x);
		}
		fputc('\n', out);
	}
}

void figures_cell(const json_t *figures, const char *name, char *text, size_t size) {
	figure_text(js_named(figures, name), text, size);
}
