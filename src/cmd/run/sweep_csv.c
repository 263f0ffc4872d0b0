/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/run/sweep_csv_impl.h"

#include <string.h>

#include "base/csv.h"
#include "base/json/js.h"
#include "base/value.h"

enum { CELL = 400 };

/* The names of all rows' members, in the order of their appearance, without those of another list. New reference. */
static json_t *names_of(const json_t *rows, const char *part, const json_t *others) {
	json_t *names = json_object();
	js_each (row, rows) {
		js_members (name, value, json_object_get(row, part))
			if (!json_object_get(others, name))
				json_object_set_new(names, name, json_true());
	}
	return names;
}

static void value_print(const json_t *json, FILE *out) {
	struct value value;
	char text[CELL] = "";
	if (json && value_from_json(json, &value) && value_text(value, text, sizeof text) < (int)sizeof text)
		csv_write(text, out);
	putc(',', out);
}

static void settings_print(const json_t *names, const json_t *settings, FILE *out) {
	js_members (name, ignored, names)
		value_print(json_object_get(settings, name), out);
}

static void machine_print(const json_t *machine, FILE *out) {
	static const char *const counts[] = {"packages", "numa_nodes", "cores", "threads"}, *const caches[] = {"l1d", "l2",
	                                                                                                       "l3"};
	bool any = false;
	for (size_t i = 0; i < 7; i++) {
		const json_t *of = i < 4 ? machine : json_object_get(machine, "caches");
		const char *name = i < 4 ? counts[i] : caches[i - 4];
		double value = js_real_or(of, name, 0);
		if (!(value >= 1))
			continue;
		fprintf(out, "%s%s=%.0f", any ? " " : "# machine: ", name, value);
		any = true;
	}
	if (any)
		putc('\n', out);
}

static void names_print(const json_t *names, const char *after, FILE *out) {
	size_t count = 0;
	js_members (name, ignored, names) {
		fputs(count++ ? "," : "", out);
		csv_write(name, out);
	}
	fputs(count ? after : "", out);
}

static void row_print(const json_t *problem, const json_t *config, const json_t *row, FILE *out) {
	const json_t *samples = json_object_get(row, "samples");
	size_t count = json_array_size(samples);
	for (size_t i = 0; i < (count ? count : 1); i++) {
		settings_print(problem, json_object_get(row, "problem"), out);
		settings_print(config, json_object_get(row, "config"), out);
		if (count && strcmp(js_string_or(row, "status", "correct"), "correct") == 0)
			fprintf(out, "%.9g", json_number_value(json_array_get(samples, i)));
		putc('\n', out);
	}
}

void sweep_csv_print(const char *kernel, const char *device, const json_t *machine, const json_t *rows, FILE *out) {
	js_auto json_t *problem = names_of(rows, "problem", NULL), *config = names_of(rows, "config", problem);
	fprintf(out, "# kernel: %s\n# device: %s\n", kernel, device);
	machine_print(machine, out);
	if (json_object_size(problem)) {
		fputs("# problem: ", out);
		names_print(problem, "\n", out);
	}
	names_print(problem, ",", out);
	names_print(config, ",", out);
	fputs("time_s\n", out);
	js_each (row, rows)
		row_print(problem, config, row, out);
}
