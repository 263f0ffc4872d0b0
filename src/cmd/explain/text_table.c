/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Says how a table that somebody brought was read, and what is not known about its machine. */
#include <math.h>

#include "base/json/js.h"
#include "base/text.h"
#include "src/cmd/explain/explain_text.h"
#include "src/show/results.h"
#include "tuner/study/study.h"

enum { INDENT = 2, LIST = 600 };

static void list_add(char **line, const char *before, const json_t *names) {
	size_t length = 0;
	mem_append(line, "%s%s", before, json_array_size(names) ? "" : "none");
	js_each (name, names) {
		size_t more = json_string_length(name) + (name_at ? 2 : 0);
		if (length + json_string_length(name) + 3 >= LIST)
			continue;
		mem_append(line, "%s%s", name_at ? ", " : "", json_string_value(name));
		length += more;
	}
}

static void read_print(const struct explain_text *text, const json_t *table) {
	long long rows = js_int_or(table, "rows", 0), values = js_int_or(table, "values", 0),
			  failures = js_int_or(text->result, "failures", 0);
	double assumed = js_real_or(table, "assumed_noise", NAN);
	const char *wide = js_string_or(table, "wide", NULL), *direction = js_string_or(table, "assumed_direction", NULL);
	js_auto json_t *others = json_copy(json_object_get(table, "figures"));
	mem_auto char *line = mem_strdup("");
	json_array_extend(others, json_object_get(table, "counters"));
	if (values - failures > rows)
		mem_append(&line, "read %lld values of %lld configuration%s", values - failures, rows, rows == 1 ? "" : "s");
	else
		mem_append(&line, "read %lld row%s", rows, rows == 1 ? "" : "s");
	if (failures > 0)
		mem_append(&line, ", and %lld without a time", failures);
	if (isfinite(assumed))
		mem_append(&line, "%s, assumed to be correct within %.3g %%", values == rows ? ", one value each" : "",
		           100 * assumed);
	list_add(&line, "; problem: ", json_object_get(table, "problem"));
	list_add(&line, "; parameters: ", json_object_get(table, "parameters"));
	if (json_array_size(others))
		list_add(&line, "; also measured: ", others);
	mem_append(&line, "; value: %s", js_string_or(table, "value", "?"));
	if (json_array_size(json_object_get(table, "ignored")))
		list_add(&line, "; not used: ", json_object_get(table, "ignored"));
	if (wide)
		mem_append(&line, "; a column for each %s", wide);
	if (json_object_get(table, "assumed_unit"))
		mem_append(&line, "; the unit is assumed to be seconds (otherwise use --unit ms)");
	if (direction)
		mem_append(&line, "; %s is assumed to be better (otherwise use --%s)",
		           strcmp(direction, "maximize") == 0 ? "more" : "less",
		           strcmp(direction, "maximize") == 0 ? "minimize" : "maximize");
	ui_wrap(text->out, INDENT, 2 * INDENT, "%s", line);
}

void explain_text_table(const struct explain_text *text) {
	const json_t *table = json_object_get(text->result, "table"), *machine = json_object_get(text->result, "machine");
	if (json_is_object(table))
		read_print(text, table);
	if (study_machine_is_unknown(machine))
		ui_wrap(text->out, INDENT, 2 * INDENT,
		        "machine unknown: statements that depend on its cores, caches or memory are omitted; describe it with "
		        "--machine 'packages=1 cores=8 threads=16 l2=1M l3=16M'");
}
