/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Says how a table that somebody brought was read, and what is not known about its machine. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "src/cmd/explain/explain_text.h"
#include "src/show/results.h"
#include "tuner/study/study.h"

enum { INDENT = 2, LIST = 600 };

static const char *list_text(const json_t *names, char text[LIST]) {
	size_t length = 0, i;
	json_t *name;
	snprintf(text, LIST, "none");
	json_array_foreach((json_t *)names, i, name) {
		if (length + json_string_length(name) + 3 < LIST)
			length += (size_t)snprintf(text + length, LIST - length, "%s%s", i ? ", " : "", json_string_value(name));
	}
	text_clean(text, false);
	return text;
}

char *explain_table_value(const struct explain_text *text, double value) {
	const json_t *table = json_object_get(text->result, "table");
	const char *per = js_string_or(table, "per", ""), *name = js_string_or(table, "value", "");
	char seconds[48];
	if (!json_is_object(table))
		return NULL;
	if (js_bool_or(table, "rate", false))
		return mem_printf("%.60s: %s", name,
		                  study_rate_text(1 / value / js_real_or(table, "scale", 1), seconds, sizeof seconds));
	results_value(value, "s", seconds, sizeof seconds);
	return mem_printf("%s%s%s", seconds, *per ? " for one " : "", per);
}

static void read_print(const struct explain_text *text, const json_t *table) {
	char problem[LIST], parameters[LIST], measured[LIST], ignored[LIST], noise[96] = "";
	long long rows = js_int_or(table, "rows", 0), values = js_int_or(table, "values", 0);
	double assumed = js_real_or(table, "assumed_noise", NAN);
	json_t *others = json_copy(json_object_get(table, "figures"));
	json_array_extend(others, json_object_get(table, "counters"));
	if (isfinite(assumed))
		snprintf(noise, sizeof noise, "%s, assumed to be correct within %.3g %%",
		         values == rows ? ", one value each" : "", 100 * assumed);
	const char *wide = js_string_or(table, "wide", NULL);
	const json_t *unused = json_object_get(table, "ignored");
	const char *direction = js_string_or(table, "assumed_direction", NULL);
	char failed[64] = "";
	long long failures = js_int_or(text->result, "failures", 0);
	if (failures > 0)
		snprintf(failed, sizeof failed, ", and %lld without a time", failures);
	char several[96];
	if (values - failures > rows)
		snprintf(several, sizeof several, "%lld values of %lld configuration%s", values - failures, rows,
		         rows == 1 ? "" : "s");
	else
		snprintf(several, sizeof several, "%lld row%s", rows, rows == 1 ? "" : "s");
	char *line = mem_printf(
		"read %s%s%s; problem: %s; parameters: %s%s%s; value: %s%s%s%s%s%s%s", several, failed, noise,
		list_text(json_object_get(table, "problem"), problem),
		list_text(json_object_get(table, "parameters"), parameters), json_array_size(others) ? "; also measured: " : "",
		json_array_size(others) ? list_text(others, measured) : "", js_string_or(table, "value", "?"),
		json_array_size(unused) ? "; not used: " : "", json_array_size(unused) ? list_text(unused, ignored) : "",
		wide ? "; a column for each " : "", wide ? wide : "",
		json_object_get(table, "assumed_unit") ? "; the unit is assumed to be seconds (otherwise use --unit ms)" : "",
		!direction                           ? ""
		: strcmp(direction, "maximize") == 0 ? "; more is assumed to be better (otherwise use --minimize)"
											 : "; less is assumed to be better (otherwise use --maximize)");
	text_clean(line, false);
	ui_wrap(text->out, INDENT, 2 * INDENT, line);
	free(line);
	json_decref(others);
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
