/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any numbers make a chart that can be read: ranges without width, those of all doubles, nothing, NAN. */
#include <float.h>

#include "base/rng.h"
#include "src/cmd/report/chart/chart_impl.h"
#include "tests/report/chart_check.h"
#include "tests/tap.h"

#define P(x, y)                                                                                                        \
	{ x, y, NAN, NAN }
#define POINTS(...)                                                                                                    \
	(struct chart_point[]){__VA_ARGS__}, sizeof((struct chart_point[]){__VA_ARGS__}) / sizeof(struct chart_point)

static const struct {
	const char *what;
	struct chart_point *points;
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
enum { ODD = sizeof(odd) / sizeof(*odd), STYLES = CHART_BOUND + 1, LOGS = 4 };

static struct chart odd_chart(size_t i, struct chart_series *series) {
	return (struct chart){.id = "odd",
	                      .title = odd[i / (STYLES * LOGS)].what,
	                      .x_label = "x",
	                      .y_label = "y",
	                      .x_log = i & 1,
	                      .y_log = i & 2,
	                      .series = series,
	                      .series_count = 1};
}

static void test_odd(size_t data) {
	char *wrong = NULL;
	for (size_t i = data * STYLES * LOGS; i < (data + 1) * STYLES * LOGS && !wrong; i++) {
		struct chart_series series = {"s", (enum chart_style)(i / LOGS % STYLES), odd[data].points, odd[data].count};
		const struct chart chart = odd_chart(i, &series);
		int id_count;
		char *svg = chart_svg(&chart, NULL);
		const char *fault = svg ? svg_fault(svg, &id_count) : "no chart";
		wrong = fault ? mem_strdup(fault) : texts_fault(svg);
		if (!wrong && !is_on_canvas(svg))
			wrong = mem_strdup("outside of the canvas");
		free(svg);
	}
	ok(!wrong, "%s: %s", odd[data].what, wrong ? wrong : "well-formed, and all texts can be read");
	free(wrong);
}

static void test_nothing(void) {
	static struct chart_point nan_only[] = {P(1, NAN)};
	struct chart_series series = {"s", CHART_LINE, nan_only, 1};
	struct chart charts[] = {{.id = "a", .title = "a"},
	                         {.id = "b", .title = "b", .series = &series, .series_count = 1}};
	for (int i = 0; i < 2; i++) {
		char *svg = chart_svg(&charts[i], NULL);
		ok(svg && text_times(svg, "nothing measured") == 1, "a chart of nothing says so");
		free(svg);
	}
}

/* How many elements have the class of a series' colour. */
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
	static struct chart_point points[] = {P(1, 2), P(2, 3)};
	struct chart_series *series = mem_alloc(count, sizeof(*series));
	char(*names)[32] = mem_alloc(count, sizeof(*names));
	bool named = true;
	for (size_t i = 0; i < count; i++) {
		snprintf(names[i], sizeof(names[i]), "variant-%zu", i);
		series[i] = (struct chart_series){names[i], CHART_LINE, points, 2};
	}
	struct chart chart = {.id = "legend", .title = "t", .series = series, .series_count = count};
	char *svg = chart_svg(&chart, NULL), *fault = svg ? texts_fault(svg) : NULL;
	for (size_t i = 0; i < count && i < NAMES_SHOWN; i++)
		named &= text_times(svg, names[i]) == 1;
	ok(named && !fault && is_on_canvas(svg), "%zu series: each has its name, on the canvas: %s", count,
	   fault ? fault : "no fault");
	for (size_t i = 0; i < count && i < COLOUR_SERIES_COUNT; i++)
		named &= drawn_in(svg, COLOUR_SERIES + (int)i) >= 2;
	ok(named, "a line and points");
	ok((count > NAMES_SHOWN) == (strstr(svg, ">and ") != NULL), "the rest is counted");
	free(fault);
	free(svg);
	free(names);
	free(series);
}

static bool is_same_dash(size_t i, size_t j) {
	const char *a = series_dash(i), *b = series_dash(j);
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void test_told_apart(void) {
	bool apart = true;
	for (size_t i = 0; i < 11; i++)
		for (size_t j = 0; j < i; j++)
			apart &= series_shape(i) != series_shape(j);
	ok(apart, "eleven series have eleven shapes");
	for (size_t i = 0; i < 70; i++)
		for (size_t j = 0; j < i; j++)
			apart &= series_shape(i) != series_shape(j) || !is_same_dash(i, j) || i - j >= 55;
	ok(apart, "55 differ without their colours");
}

static bool has_ticks(const struct scale *scale, const char *const *want, size_t count) {
	bool same = scale->tick_count == count;
	for (size_t i = 0; i < count && same; i++)
		same = strcmp(scale->ticks[i].label, want[i]) == 0;
	return same;
}

static struct scale across(const double *values, size_t count, bool log, double from, double to) {
	struct extent seen = EXTENT_NONE;
	struct scale scale = {.from = from, .to = to};
	for (size_t i = 0; i < count; i++)
		extent_add(&seen, values[i], log);
	scale_fit_positions(&scale, seen, log, 0.04);
	return scale;
}

static void test_whole(void) {
	static const double powers[] = {1, 2, 4, 8, 16, 32, 64}, threads[] = {12, 1, 6, 2, 3, 3}, two[] = {1, 2},
						sizes[] = {100, 1000, 10000}, many[] = {1, 2, 3, 5, 6, 7, 9, 11, 13, 14, 17, 18, 20, 64};
	static const char *const seven[] = {"1", "2", "4", "8", "16", "32", "64"},
							 *const five[] = {"1", "2", "3", "6", "12"}, *const hundreds[] = {"100", "1000", "10000"};
	struct scale scale = across(powers, 7, true, 0, 350);
	ok(has_ticks(&scale, seven, 7), "threads are marked by powers of two");
	scale = across(threads, 6, true, 0, 350);
	ok(has_ticks(&scale, five, 5), "a few whole numbers have a tick each");
	scale = across(two, 2, false, 0, 350);
	ok(has_ticks(&scale, seven, 2), "1 and 2 threads have no 1.5 between them");
	scale = across(sizes, 3, true, 0, 350);
	ok(has_ticks(&scale, hundreds, 3), "sizes that are not powers of two have a tick each");
	scale = across(many, 14, true, 0, 350);
	ok(has_ticks(&scale, seven, 7), "many are marked by powers of two");
	bool whole = true;
	for (int last = 1; last < 200; last++) {
		double ends[] = {0, last};
		struct extent seen = EXTENT_NONE;
		for (int i = 0; i < 2; i++)
			extent_stretch(&seen, ends[i], false);
		scale = (struct scale){.to = 350};
		scale_fit_positions(&scale, seen, false, 0.04);
		for (size_t i = 0; i < scale.tick_count; i++)
			whole &= strchr(scale.ticks[i].label, '.') == NULL;
		whole &= scale.tick_count > 1;
	}
	ok(whole, "whole numbers by whole numbers");
}

/* Random ranges of any size: there are ticks, in order, told apart by their labels, on the scale, not over each other.
 */
static void test_ticks(void) {
	struct rng rng;
	rng_seed(&rng, 5);
	int faults = 0, few = 0;
	for (int i = 0; i < 20000; i++) {
		bool log = i & 1, sideways = i & 2;
		double size = pow(10, rng_unit(&rng) * 40 - 20), low = (rng_unit(&rng) - (log ? 0 : 0.5)) * size;
		double high = low + size * pow(10, -7 * rng_unit(&rng)) + (log ? low * 1e-3 : 0);
		struct scale scale = {.from = sideways ? 0 : 300, .to = sideways ? 300 : 0};
		const struct extent seen = {.low = low, .high = high, .fractions = true};
		if (sideways)
			scale_fit_positions(&scale, seen, log, 0.04);
		else
			scale_fit_values(&scale, seen, log, false);
		for (size_t k = 0; k < scale.tick_count; k++) {
			const struct tick *tick = &scale.ticks[k], *last = &scale.ticks[k ? k - 1 : 0];
			double share = scale_share(&scale, tick->at),
				   away = fabs(scale_at(&scale, tick->at) - scale_at(&scale, last->at));
			double needs = sideways ? (text_width(tick->label) + text_width(last->label)) / 2 : CANVAS_FONT;
			faults += share < -1e-6 || share > 1 + 1e-6;
			faults += k > 0 && (tick->at <= last->at || strcmp(tick->label, last->label) == 0 || away < needs);
		}
		faults += scale.low > low || scale.high < high;
		few += scale.tick_count < 2;
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
	for (size_t i = 0; i < sizeof(heats) / sizeof(*heats); i++) {
		const struct chart chart = {.id = "heat", .title = "t", .heat = &heats[i]};
		int id_count;
		char *svg = chart_svg(&chart, NULL), *fault = texts_fault(svg);
		ok(!svg_fault(svg, &id_count) && !fault && is_on_canvas(svg), "a heat map of %zu x %zu: %s", heats[i].width,
		   heats[i].height, fault ? fault : "no fault");
		if (i == 0)
			ok(text_times(svg, "36.0") == 1 && text_times(svg, "\xE2\x80\x93") == 1,
			   "few cells bear their values, and a dash for none");
		if (i == 0)
			ok(strstr(svg, "#440154") && strstr(svg, "class=\"f4\""), "cells have their colours, and another for none");
		free(fault);
		free(svg);
	}
}

static void test_colours(void) {
	double before = -1;
	bool rises = true;
	for (int i = 0; i <= 63; i++) {
		unsigned r, g, b;
		r = colour_map(i / 63.0) >> 16, g = colour_map(i / 63.0) >> 8 & 255, b = colour_map(i / 63.0) & 255;
		double light = 0.2126 * pow(r / 255.0, 2.2) + 0.7152 * pow(g / 255.0, 2.2) + 0.0722 * pow(b / 255.0, 2.2);
		double contrast = colour_map_is_dark(i / 63.0) ? 1.05 / (light + 0.05) : (light + 0.05) / 0.05;
		rises &= light > before && contrast >= 4.5;
		before = light;
	}
	ok(rises, "the larger the lighter, and text on it can be read (contrast of 4.5 and more)");
}

int main(void) {
	test_told_apart();
	test_whole();
	test_ticks();
	test_colours();
	for (size_t data = 0; data < ODD; data++)
		test_odd(data);
	test_nothing();
	test_heat();
	test_legend(1);
	test_legend(14);
	test_legend(130);
	return tap_done();
}
