/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the winner stands: below the roofs, among its neighbours. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/js.h"
#include "src/base/mem.h"
#include "src/counters.h"
#include "src/explain_text.h"

enum { INDENT = 2 };

static void roof_words(const json_t *roof, char *text, size_t size) {
	char value[48];
	const char *level = js_string_or(roof, "level", NULL);
	counters_value(js_real_or(roof, "value", NAN), js_string_or(roof, "unit", ""), value, sizeof value);
	snprintf(text, size, "%.3g %% of %s%s%s (%s)", 100 * js_real_or(roof, "share", NAN), js_string_or(roof, "name", "?"),
	         level ? " from " : "", level ? level : "", value);
}

static char *roofs_words(const json_t *position) {
	char *words = mem_strdup("");
	size_t i;
	json_t *roof;
	json_array_foreach(json_object_get(position, "roofs"), i, roof) {
		char one[160];
		roof_words(roof, one, sizeof one);
		char *longer = mem_printf("%s%s%s", words, i ? ", " : "; ", one);
		free(words);
		words = longer;
	}
	return words;
}

static void position_print(const struct explain_text *text, const json_t *position, const char *who) {
	char rate[48], bytes[48];
	double counted = js_real_or(position, "counted_bytes_per_s", NAN), least = js_real_or(position, "bytes_per_s", NAN);
	if (!json_is_object(position))
		return;
	snprintf(rate, sizeof rate, "%.3g", js_real_or(position, "ops_per_s", NAN));
	counters_value(isfinite(counted) ? counted : least, "B/s", bytes, sizeof bytes);
	char *roofs = roofs_words(position);
	char *line = mem_printf("%s: %s %ss/s, %s%s%s", who, rate, js_string_or(position, "op", "operation"),
	                        isfinite(counted) ? "" : "at least ", bytes, roofs);
	ui_wrap(text->out, INDENT, 2 * INDENT, line);
	free(line);
	free(roofs);
}

static void roofline_print(const struct explain_text *text) {
	const json_t *roofline = json_object_get(text->result, "roofline");
	const char *missing = js_string_or(roofline, "missing", NULL);
	if (!json_is_object(roofline))
		return;
	explain_title(text, "below the roof");
	position_print(text, json_object_get(roofline, "winner"), "winner");
	if (text->all)
		position_print(text, json_object_get(roofline, "baseline"), "baseline");
	if (missing) {
		char *line = mem_printf("%s: `%s` does", missing, js_string_or(roofline, "next", "sweetspot machine --ceilings"));
		ui_wrap(text->out, INDENT, 2 * INDENT, line);
		free(line);
	}
}

void explain_text_place(const struct explain_text *text) {
	roofline_print(text);
}
