/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/show/figures.h"

#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "base/text.h"

static void value_text(const json_t *figure, char *text, size_t size) {
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
		value_text(figure, value, sizeof value);
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
	value_text(js_named(figures, name), text, size);
}
