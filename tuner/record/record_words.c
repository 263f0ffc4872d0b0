/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/record/record_impl.h"

#include <math.h>
#include <strings.h>

#include "base/text.h"

bool words_text(struct scan *scan, struct build *build, const char **out) {
	struct scan_text text;
	if (scan_type(scan) != SCAN_TEXT)
		return scan_skip(scan);
	char *copy = scan_text(scan, &text) ? scan_text_copy(scan, &text, build_record(build)->arena) : NULL;
	if (!copy)
		return false;
	text_clean(copy, false);
	*out = copy;
	return true;
}

static bool add_extent(struct scan *scan, struct build *build, const char **out) {
	struct value value;
	char text[64];
	if (scan_type(scan) == SCAN_OBJECT || scan_type(scan) == SCAN_ARRAY)
		return scan_skip(scan);
	if (!scan_value(scan, build_scratch(build), &value))
		return false;
	if (value.type != VALUE_WORD)
		value_text(value, text, sizeof text);
	*out = arena_printf(build_record(build)->arena, "%s%s%.*s", *out, **out ? "x" : "", 200,
	                    value.type == VALUE_WORD ? value.as.w : text);
	return true;
}

bool words_problem(struct scan *scan, struct build *build, const char **out) {
	*out = "";
	if (scan_type(scan) != SCAN_ARRAY)
		return add_extent(scan, build, out);
	for (scan_array(scan); scan_item(scan);)
		if (strlen(*out) > 200)
			scan_skip(scan);
		else
			add_extent(scan, build, out);
	return !scan->failed;
}

bool words_number(struct scan *scan, double *out) {
	*out = NAN;
	return scan_type(scan) == SCAN_NUMBER ? scan_number(scan, out) : scan_skip(scan);
}

bool words_samples(struct scan *scan, struct build *build) {
	return scan_type(scan) == SCAN_ARRAY ? scan_reals(scan, build_samples(build)) : scan_skip(scan);
}

double words_ms(double time, double unit_ms) {
	return unit_ms < 1 ? time / round(1 / unit_ms) : time * unit_ms;
}

bool words_cost(struct scan *scan, struct record_cost *cost, size_t offset, double unit_ms) {
	double time;
	if (words_number(scan, &time))
		*(double *)((char *)cost + offset) = words_ms(time, unit_ms) / 1e3;
	return !scan->failed;
}

double words_unit_ms(const char *unit, size_t size) {
	static const struct {
		const char *name; /* the first letters decide, because published files have "miliseconds" */
		double ms;
		bool whole;
	} units[] = {
		{"s", 1e3, true},     {"sec", 1e3, false},  {"ms", 1, true},         {"mil", 1, false},
		{"us", 1e-3, true},   {"mic", 1e-3, false}, {"ns", 1e-6, true},      {"nano", 1e-6, false},
		{"min", 60e3, false}, {"h", 3600e3, true},  {"hour", 3600e3, false},
	};
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		size_t length = strlen(units[i].name);
		if ((units[i].whole ? size == length : size > length - 1) && strncasecmp(unit, units[i].name, length) == 0)
			return units[i].ms;
	}
	return 0;
}
