/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the numbers are there is a chart: ranges of no width, of all of double's, nothing, NAN; axes that can be
 * read. */
#include <config.h>

#include <float.h>

#include "src/base/rng.h"
#include "tests/report/chart_check.h"
#include "tests/tap.h"

#define P(x, y)                                                                                                        \
	{ x, y, NAN, NAN }
#define POINTS(...)                                                                                                    \
	(const struct chart_point[]){__VA_ARGS__},                                                                         \
		sizeof((const struct chart_point[]){__VA_ARGS__}) / sizeof(struct chart_point)

static const struct {
	const char *what;
	const struct chart_point *points;
	size_t count;
} odd[] = {
	{"nothing", NULL, 0},
	{"one", POINTS(P(4, 2))},
	{"one with an error bar", POINTS({4, 2, 1, 3})},
	{"zero", POINTS(P(0, 0))},
	{"zeros", POINTS(P(0, 0), P(1, 0), P(2, 0))},
	{"equal", POINTS(P(1, 5), P(2, 5), P(3, 5))},
	{"one place", POINTS(P(2, 1), P(2, 2), P(2, 3))},
	{"negative", POINTS(P(-1, -5), P(-2, -7), P(3, -1))},
	{"negative and one", POINTS(P(-1, -5))},
	{"both signs", POINTS(P(-1, -5), P(2, 7))},
	{"only NAN", POINTS(P(1, NAN), P(NAN, 2), P(NAN, NAN))},
	{"NAN between", POINTS(P(1, 2), P(2, NAN), P(3, 4), P(4, NAN))},
	{"infinite", POINTS(P(1, INFINITY), P(2, -INFINITY), P(INFINITY, 1), P(3, 3))},
	{"largest", POINTS(P(-DBL_MAX, -DBL_MAX), P(DBL_MAX, DBL_MAX))},
	{"largest alone", POINTS(P(DBL_MAX, DBL_MAX))},
	{"smallest", POINTS(P(DBL_MIN, DBL_TRUE_MIN), P(2 * DBL_MIN, DBL_MIN))},
	{"smallest to largest", POINTS(P(DBL_TRUE_MIN, DBL_TRUE_MIN), P(1, 1), P(DBL_MAX, DBL_MAX))},
	{"tiny range", POINTS(P(1, 1), P(1 + DBL_EPSILON, 1 + DBL_EPSILON))},
	{"small range at a large value", POINTS(P(1e9, 1e9), P(1e9 + 1, 1e9 + 7), P(1e9 + 2, 1e9 + 3))},
	{"small range at a negative value", POINTS(P(-1e12, -1e12), P(-1e12 + 5, -1e12 + 5))},
	{"backwards", POINTS(P(9, 1), P(5, 2), P(1, 3))},
	{"errors upside down", POINTS({1, 2, 3, 1}, {2, 2, 2, 2}, {3, 2, NAN, 3}, {4, 2, 1, NAN})},
	{"errors without end", POINTS({1, 2, -INFINITY, INFINITY}, {2, 2, -1, 3}, {3, 3, 0, 1e308})},
	{"denormal", POINTS(P(1, DBL_TRUE_MIN), P(2, 3 * DBL_TRUE_MIN))},
	{"a million", POINTS(P(1, 1e6), P(2, 2.5e6), P(1024, 1e7))},
};
enum { ODD = sizeof(odd) / sizeof(*odd), STYLES = CHART_BOUND + 1, LOGS = 4, ALL = ODD * STYLES * LOGS };

static void test_odd(void) {
	struct chart *charts = mem_alloc(ALL, sizeof(*charts));
	struct chart_series *series = mem_alloc(ALL, sizeof(*series));
	char **svg = mem_alloc(ALL, sizeof(*svg)), (*ids)[24] = mem_alloc(ALL, sizeof(*ids));
	struct err err = {0};
	for (size_t i = 0; i < ALL; i++) {
		size_t data = i / (STYLES * LOGS);
		series[i] =
			(struct chart_series){"s", (enum chart_style)(i / LOGS % STYLES), odd[data].points, odd[data].count};
		snprintf(ids[i], sizeof(ids[i]), "c%zu", i);
		charts[i] = (struct chart){.id = ids[i],
		                           .title = odd[data].what,
		                           .x_label = "x",
		                           .y_label = "y",
		                           .x_log = i & 1,
		                           .y_log = i & 2,
		                           .series = &series[i],
		                           .series_count = 1};
	}
	ok(chart_draw_svg(charts, ALL, svg, &err) == 0, "odd numbers are no errors %s", err.what);
	for (size_t data = 0; data < ODD && svg[0]; data++) {
		const char *fault = NULL;
		double overhang = -1e9;
		bool inside = true;
		int id_count;
		for (size_t i = data * STYLES * LOGS; i < (data + 1) * STYLES * LOGS; i++) {
			fault = fault ? fault : svg_fault(svg[i], &id_count);
			overhang = fmax(overhang, text_overhang(svg[i]));
			inside &= is_on_canvas(svg[i]);
		}
		ok(!fault && inside && overhang <= 1, "%s: %s, texts %g beyond the edge", odd[data].what,
		   fault ? fault : "well-formed", overhang);
	}
	for (size_t i = 0; i < ALL; i++)
		free(svg[i]);
	free(ids);
	free(svg);
	free(series);
	free(charts);
}

static void test_nothing(void) {
	static const struct chart_point nan_only[] = {P(1, NAN)};
	struct chart_series series = {"s", CHART_LINE, nan_only, 1};
	struct chart charts[] = {{.id = "a", .title = "a"},
	                         {.id = "b", .title = "b", .series = &series, .series_count = 1}};
	char *svg[2];
	if (!ok(chart_draw_svg(charts, 2, svg, NULL) == 0, "no series, and one of nothing"))
		return;
	for (int i = 0; i < 2; i++) {
		ok(text_times(svg[i], "nothing measured") == 1, "say so");
		free(svg[i]);
	}
}

/* What stands in the class of a series' colour. */
static size_t drawn_in(const char *svg, int role) {
	char stroke[24], fill[24];
	size_t count = 0;
	snprintf(stroke, sizeof(stroke), "class=\"s%d\"", role);
	snprintf(fill, sizeof(fill), "class=\"f%d\"", role);
	for (const char *at = svg; (at = strstr(at, "class=\"")); at++)
		count += strncmp(at, stroke, strlen(stroke)) == 0 || strncmp(at, fill, strlen(fill)) == 0;
	return count;
}

/* Legends below the plot, for a few and for very many. */
static void test_legend(size_t count) {
	static const struct chart_point points[] = {P(1, 2), P(2, 3)};
	struct chart_series *series = mem_alloc(count, sizeof(*series));
	char(*names)[32] = mem_alloc(count, sizeof(*names)), *svg[1];
	bool named = true;
	for (size_t i = 0; i < count; i++) {
		snprintf(names[i], sizeof(names[i]), "variant-%zu", i);
		series[i] = (struct chart_series){names[i], CHART_LINE, points, 2};
	}
	struct chart chart = {.id = "legend", .title = "t", .series = series, .series_count = count};
	if (ok(chart_draw_svg(&chart, 1, svg, NULL) == 0, "%zu series", count)) {
		for (size_t i = 0; i < count && i < CHART_NAMES_SHOWN; i++)
			named &= text_times(svg[0], names[i]) == 1;
		ok(named && text_overhang(svg[0]) <= 1 && is_on_canvas(svg[0]), "each has its name, on the canvas");
		for (size_t i = 0; i < count && i < COLOUR_SERIES_COUNT; i++)
			named &= drawn_in(svg[0], COLOUR_SERIES + (int)i) >= 2;
		ok(named, "a line and points");
		ok((count > CHART_NAMES_SHOWN) == (strstr(svg[0], ">and ") != NULL), "the rest is counted");
		free(svg[0]);
	}
	free(names);
	free(series);
}

static void test_told_apart(void) {
	bool apart = true;
	for (size_t i = 0; i < 11; i++)
		for (size_t j = 0; j < i; j++)
			apart &= series_shape(i) != series_shape(j);
	ok(apart, "eleven series have eleven shapes");
	for (size_t i = 0; i < 70; i++)
		for (size_t j = 0; j < i; j++)
			apart &= series_shape(i) != series_shape(j) || strcmp(series_dash(i), series_dash(j)) != 0 || i - j >= 55;
	ok(apart, "55 differ without their colours");
}

static void test_binary(void) {
	static const char *const want[] = {"1", "2", "4", "8", "16", "32", "64"};
	struct axis axis;
	axis_fit(&axis, (struct extent){.low = 1, .high = 64}, true, false, true, 350);
	bool same = axis.tick_count == 7;
	for (size_t i = 0; i < 7 && same; i++)
		same = strcmp(axis.ticks[i].label, want[i]) == 0;
	ok(same, "threads are marked by powers of two");
	axis_fit(&axis, (struct extent){.low = 0, .high = 3}, false, false, true, 350);
	for (size_t i = 0; i < axis.tick_count; i++)
		same &= strchr(axis.ticks[i].label, '.') == NULL;
	ok(same, "whole numbers by whole numbers");
}

/* Random ranges of any size: there are marks, in order, told apart by their labels, in the axis, not over each other.
 */
static void test_ticks(void) {
	struct rng rng;
	rng_seed(&rng, 5);
	int faults = 0, few = 0;
	for (int i = 0; i < 20000; i++) {
		bool log = i & 1, across = i & 2;
		double size = pow(10, rng_unit(&rng) * 40 - 20), low = (rng_unit(&rng) - (log ? 0 : 0.5)) * size;
		double high = low + size * pow(10, -7 * rng_unit(&rng)) + (log ? low * 1e-3 : 0);
		struct axis axis;
		axis_fit(&axis, (struct extent){.low = low, .high = high, .fractions = true}, log, false, across, 300);
		double width = 0;
		for (size_t k = 0; k < axis.tick_count; k++) {
			double place = axis_place(&axis, axis.ticks[k].at);
			faults += place < -1e-6 || place > 1 + 1e-6;
			faults += k > 0 && (axis.ticks[k].at <= axis.ticks[k - 1].at ||
			                    strcmp(axis.ticks[k].label, axis.ticks[k - 1].label) == 0);
			width += across ? text_width(axis.ticks[k].label) : CHART_FONT;
		}
		faults += width > 300 || axis.low > low || axis.high < high;
		few += axis.tick_count < 2;
	}
	ok(faults == 0, "ticks of any range: %d faults", faults);
	ok(few < 1000, "two or more of them: %d of 20000 not", few);
}

static void test_heat(void) {
	static const char *const names[] = {"1", "2", "4", "8", "16", "32"};
	static double values[36];
	for (int i = 0; i < 36; i++)
		values[i] = i == 7 ? NAN : i + 1;
	struct chart_heat heats[] = {
		{names, names, 6, 6, values, "ms", false},     {names, names, 6, 6, values, "ms", true},
		{names, names, 1, 1, values + 7, "ms", false}, {names, names, 0, 0, values, "ms", false},
		{names, names, 1, 6, values, NULL, true},      {names, names, 6, 1, values, "ms", false},
		{names, names, 3, 0, values, "ms", false}};
	enum { HEATS = sizeof(heats) / sizeof(*heats) };
	struct chart charts[HEATS];
	char ids[HEATS][16], *svg[HEATS];
	struct err err = {0};
	for (int i = 0; i < HEATS; i++) {
		snprintf(ids[i], sizeof(ids[i]), "h%d", i);
		charts[i] = (struct chart){.id = ids[i], .title = "t", .heat = &heats[i]};
	}
	if (!ok(chart_draw_svg(charts, HEATS, svg, &err) == 0, "heat maps of all shapes %s", err.what))
		return;
	ok(text_times(svg[0], "36.0") == 1 && text_times(svg[0], "\xE2\x80\x93") == 1,
	   "few cells bear their values, and a dash for none");
	ok(strstr(svg[0], "#440154") && strstr(svg[0], "class=\"f4\""), "their colours, and another for none");
	for (int i = 0; i < HEATS; i++) {
		int id_count;
		ok(!svg_fault(svg[i], &id_count) && text_overhang(svg[i]) <= 1 && is_on_canvas(svg[i]),
		   "well-formed, on the canvas");
		free(svg[i]);
	}
}

static void test_colours(void) {
	double before = -1;
	bool rises = true;
	for (int i = 0; i <= 63; i++) {
		unsigned r, g, b;
		sscanf(colour_map(i / 63.0).text, "#%2x%2x%2x", &r, &g, &b);
		double light = 0.2126 * pow(r / 255.0, 2.2) + 0.7152 * pow(g / 255.0, 2.2) + 0.0722 * pow(b / 255.0, 2.2);
		double contrast = colour_map_is_dark(i / 63.0) ? 1.05 / (light + 0.05) : (light + 0.05) / 0.05;
		rises &= light > before && contrast >= 4.5;
		before = light;
	}
	ok(rises, "the larger the lighter, and text on it can be read (contrast of 4.5 and more)");
}

int main(void) {
	test_told_apart();
	test_binary();
	test_ticks();
	test_colours();
	if (!has_gnuplot()) {
		tap_skip("charts are drawn", "no gnuplot here");
		return tap_done();
	}
	test_odd();
	test_nothing();
	test_heat();
	test_legend(1);
	test_legend(14);
	test_legend(130);
	return tap_done();
}
