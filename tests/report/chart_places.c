/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Marks stand where the axes say that their values are: both are read back from the SVG. */
#include "base/rng.h"
#include "src/cmd/report/chart/chart_impl.h"
#include "tests/report/chart_check.h"
#include "tests/tap.h"

#define P(x, y)                                                                                                        \
	{ x, y, NAN, NAN }

/* An axis as a reader sees it: its numbers and their places. */
struct seen_axis {
	double value[64], place[64];
	size_t count;
};
struct seen_axes {
	struct seen_axis x, y;
};

static void see_number(const struct seen_text *seen, void *data) {
	struct seen_axes *axes = data;
	char *end;
	double value = strtod(seen->text, &end);
	struct seen_axis *axis = seen->anchor == 'e' ? &axes->y : &axes->x;
	if (end == seen->text || *end || seen->angle != 0 || seen->anchor == 's' || axis->count == 64)
		return;
	axis->value[axis->count] = value;
	axis->place[axis->count++] = seen->anchor == 'e' ? seen->y - 0.35 * CANVAS_FONT : seen->x;
}

/* Reads a place off the axis as a person would, between the first and the last number. */
static double read_off(const struct seen_axis *axis, double place, bool log) {
	size_t last = axis->count - 1;
	double share = (place - axis->place[0]) / (axis->place[last] - axis->place[0]);
	if (log)
		return axis->value[0] * pow(axis->value[last] / axis->value[0], share);
	return axis->value[0] + share * (axis->value[last] - axis->value[0]);
}

/* Finds the nth path of this class and stroke-width (NULL: any); false if it does not exist. */
static bool path_of(const char *svg, const char *class, const char *width, int nth, struct svg_path *path) {
	for (const char *at = svg; (at = strstr(at, "<path"));) {
		struct svg_tag tag;
		at = svg_tag_read(at, &tag);
		const char *is = svg_attribute(&tag, "class"), *wide = svg_attribute(&tag, "stroke-width");
		bool found = is && strcmp(is, class) == 0 && (!width || (wide && strcmp(wide, width) == 0)) && nth-- == 0;
		bool good = found && svg_path_read(svg_attribute(&tag, "d"), path);
		svg_tag_free(&tag);
		if (found)
			return good;
	}
	return false;
}

/* Places are rounded to tenths; three of them are accepted. */
static bool is_at(const struct seen_axis *axis, double place, double value, bool log) {
	double a = read_off(axis, place - 0.3, log), b = read_off(axis, place + 0.3, log);
	return value >= fmin(a, b) && value <= fmax(a, b);
}

static char *draw(const struct chart *chart, struct seen_axes *axes) {
	char *svg = chart_svg(chart, NULL), *fault = svg ? texts_fault(svg) : mem_strdup("no chart");
	int ids;
	*axes = (struct seen_axes){0};
	each_text(svg, see_number, axes);
	ok(!fault && !svg_fault(svg, &ids), "%s: a chart to be read: %s", chart->title, fault ? fault : "no fault");
	free(fault);
	return svg;
}

static void test_line(bool x_log, bool y_log) {
	struct chart_point points[] = {P(1, 3), P(2, 40), P(5, 7.5), P(9.5, 100)};
	struct chart_series series = {"s", CHART_LINE, points, 4};
	const struct chart chart = {
		.id = "line", .title = "line", .x_log = x_log, .y_log = y_log, .series = &series, .series_count = 1};
	struct seen_axes axes;
	struct svg_path path;
	char *svg = draw(&chart, &axes);
	bool right = path_of(svg, "s16", "2", 0, &path) && path.count == 4 && axes.x.count > 1 && axes.y.count > 1;
	for (size_t i = 0; right && i < 4; i++)
		right =
			is_at(&axes.x, path.spots[i].x, points[i].x, x_log) && is_at(&axes.y, path.spots[i].y, points[i].y, y_log);
	ok(right, "each point is at its values (logarithmic: %d %d)", x_log, y_log);
	right = !strstr(svg, "stroke-dasharray") && strstr(svg, "stroke-linecap=\"round\"");
	ok(right, "the first series is solid and has discs");
	free(svg);
}

static void test_gaps(void) {
	struct chart_point points[] = {P(1, 1), P(2, 2), P(3, NAN), P(4, 3), P(5, 4)};
	struct chart_series series[] = {{"line", CHART_LINE, points, 5}, {"steps", CHART_STEPS, points, 5}};
	const struct chart chart = {.id = "gaps", .title = "gaps", .series = series, .series_count = 2};
	struct seen_axes axes;
	struct svg_path path;
	char *svg = draw(&chart, &axes);
	ok(path_of(svg, "s16", "2", 0, &path) && path.count == 4 && path.spots[0].command == 'M' &&
	       path.spots[1].command == 'L' && path.spots[2].command == 'M' && path.spots[3].command == 'L',
	   "a value that is missing interrupts the line");
	ok(path_of(svg, "s17", "2", 0, &path) && path.count == 6 && path.spots[1].command == 'H' &&
	       path.spots[2].command == 'V' && path.spots[3].command == 'M',
	   "steps go across first, then up");
	free(svg);
}

/* 0, 1, 2, 4, .. of any length: the numbers from 1 on are at equal distances for equal ratios, and 0 is apart. */
static void test_zero(int last) {
	struct chart_point points[20] = {P(0, 5)};
	for (int i = 0; i <= last; i++)
		points[i + 1] = (struct chart_point)P(ldexp(1, i), 5 + i);
	struct chart_series series = {"s", CHART_LINE, points, (size_t)last + 2};
	const struct chart_mark winner = {0, 5};
	const struct chart chart = {.id = "zero",
	                            .title = "zero",
	                            .x_log = true,
	                            .x_zero = 0.5,
	                            .series = &series,
	                            .series_count = 1,
	                            .winner = &winner};
	struct seen_axes axes;
	struct svg_path path;
	char *svg = draw(&chart, &axes);
	double zero = NAN, first = NAN, least = 0, most = 0;
	for (size_t i = 0; i < axes.x.count; i++) {
		double value = axes.x.value[i], place = axes.x.place[i];
		zero = value == 0 ? place : zero;
		if (isnan(first) && value > 0)
			first = place, least = most = value;
		most = fmax(most, value);
	}
	bool right = zero < first && least >= 1 && most >= ldexp(1, last - 3);
	for (size_t i = 0; right && i < axes.x.count; i++)
		right = axes.x.value[i] == 0 || fmod(log2(axes.x.value[i]), 1) == 0;
	ok(right, "0 has its number left of the powers of two up to 2^%d", last);
	ok(path_of(svg, "s16", "2", 0, &path) && path.count == (size_t)last + 2 && fabs(path.spots[0].x - zero) < 0.3 &&
	       path.spots[1].command == 'M' && fabs(path.spots[2].x - 2 * path.spots[1].x + zero) < 0.6,
	   "0 is one power of two before 1, and no line leads to it");
	free(svg);
}

static void test_intervals(void) {
	struct chart_point points[] = {{1, 10, 5, 20}, {2, 10, NAN, NAN}, {3, 10, 0, 12}};
	struct chart_series series = {"s", CHART_POINTS, points, 3};
	struct chart chart = {.id = "ci", .title = "ci", .series = &series, .series_count = 1};
	for (int log = 0; log < 2; log++) {
		struct seen_axes axes;
		struct svg_path path;
		chart.y_log = log;
		char *svg = draw(&chart, &axes);
		bool found = path_of(svg, "s16", "1", 0, &path) && path.count == 12 && axes.y.count > 1;
		ok(found && is_at(&axes.y, path.spots[0].y, 5, log) && is_at(&axes.y, path.spots[1].y, 20, log) &&
		       path.spots[0].x == path.spots[1].x && path.spots[2].y == path.spots[0].y,
		   "an interval from its lower to its upper end, with caps");
		ok(found && is_at(&axes.y, path.spots[7].y, 12, log), "none where none is known");
		ok(found && (log ? read_off(&axes.y, path.spots[6].y, true) < 5 : is_at(&axes.y, path.spots[6].y, 0, false)),
		   "from 0 on a logarithmic axis it reaches to the border");
		free(svg);
	}
}

/* Checks the ends of bars in two groups, and that they stand beside each other. */
static void test_bars(void) {
	static const char *const names[] = {"a", "b", "c"};
	struct chart_point one[] = {P(0, 2), P(1, -3), P(2, 5)}, two[] = {P(0, 4), P(1, 1), P(2, NAN)};
	struct chart_series series[] = {{"one", CHART_BARS, one, 3}, {"two", CHART_BARS, two, 3}};
	const struct chart chart = {
		.id = "bars", .title = "bars", .x_names = names, .x_name_count = 3, .series = series, .series_count = 2};
	struct seen_axes axes;
	struct svg_path a, b;
	char *svg = draw(&chart, &axes);
	bool found = path_of(svg, "f16", NULL, 0, &a) && path_of(svg, "f17", NULL, 0, &b) && axes.y.count > 1;
	ok(found && a.count == 12 && b.count == 8, "a bar for each value");
	for (size_t i = 0; found && i < 3; i++)
		found = is_at(&axes.y, a.spots[4 * i].y, one[i].y, false) && is_at(&axes.y, a.spots[4 * i + 2].y, 0, false);
	ok(found, "from 0 to its value, also below");
	ok(found && a.spots[1].x <= b.spots[0].x && b.spots[1].x < a.spots[4].x &&
	       fabs((a.spots[1].x - a.spots[0].x) - (b.spots[5].x - b.spots[4].x)) < 0.3,
	   "those of a place stand side by side and are as wide");
	free(svg);
}

static void test_stack(void) {
	struct chart_point gpu[] = {P(1, 2), P(2, 3), P(4, 1)}, copy[] = {P(1, 1), P(2, -1), P(4, 4)},
					   cpu[] = {P(4, 2), P(1, 5), {2, 1, 0.5, 1.5}};
	struct chart_series series[] = {
		{"gpu", CHART_STACK, gpu, 3}, {"copy", CHART_STACK, copy, 3}, {"cpu", CHART_STACK, cpu, 3}};
	const struct chart chart = {.id = "stack", .title = "stack", .series = series, .series_count = 3};
	struct seen_axes axes;
	struct svg_path a, b, c, error;
	char *svg = draw(&chart, &axes);
	bool found = path_of(svg, "f16", NULL, 0, &a) && path_of(svg, "f17", NULL, 0, &b) &&
	             path_of(svg, "f18", NULL, 0, &c) && a.count == 12 && b.count == 8 && c.count == 12;
	ok(found, "a part for each value that is not negative");
	ok(found && is_at(&axes.y, b.spots[2].y, 2, false) && is_at(&axes.y, b.spots[0].y, 3, false) &&
	       is_at(&axes.y, c.spots[0].y, 1 + 4 + 2, false) && is_at(&axes.y, c.spots[4].y, 2 + 1 + 5, false) &&
	       is_at(&axes.y, c.spots[6].y, 2 + 1, false) && is_at(&axes.y, c.spots[8].y, 3 + 1, false),
	   "each begins where those below it at its place end");
	ok(found && a.spots[0].x == b.spots[0].x && a.spots[1].x == c.spots[5].x && a.spots[1].x < a.spots[4].x,
	   "straight above each other, and apart from the next");
	ok(path_of(svg, "s1", "1", 0, &error) && is_at(&axes.y, error.spots[0].y, 3.5, false) &&
	       is_at(&axes.y, error.spots[1].y, 4.5, false),
	   "stacked parts have their intervals");
	free(svg);
}

static void test_heat(void) {
	static const char *const columns[] = {"c0", "c1", "c2"}, *const rows[] = {"r0", "r1"};
	static const double values[] = {1, 10, 100, NAN, 1, 100};
	const struct chart_heat heat = {columns, rows, 3, 2, values, "ms", true};
	const struct chart_mark winner = {1, 0};
	const struct chart chart = {.id = "heat", .title = "heat", .heat = &heat, .winner = &winner};
	char low[16], middle[16], high[16];
	struct svg_path path;
	struct seen_axes axes;
	char *svg = draw(&chart, &axes);
	snprintf(low, sizeof(low), "#%06x", colour_map(0));
	snprintf(middle, sizeof(middle), "#%06x", colour_map(0.5));
	snprintf(high, sizeof(high), "#%06x", colour_map(1));
	const char *a = strstr(svg, low), *b = strstr(svg, middle), *c = strstr(svg, high);
	ok(a && b && c && a < b && b < c, "colours by the logarithm, row by row");
	ok(path_of(svg, "f4", NULL, 0, &path) && path.count == 4, "one cell of the heat map has no value");
	double left = path.spots[0].x, right = path.spots[1].x, x[4] = {0}, y[4] = {0};
	const char *frame = strstr(svg, "stroke=\"#000000\"");
	ok(frame && sscanf(strstr(frame, " d=\"") + 4, "M%lf %lfH%lfV%lf", &x[0], &y[0], &x[1], &y[1]) == 4 &&
	       x[0] > right && x[1] < right + (right - left) && y[0] > path.spots[0].y && y[1] > y[0],
	   "the winner's cell has a frame: right of the first column, in the lower row");
	ok(text_times(svg, "winner") == 1, "the legend explains the winner's frame");
	free(svg);
}

static void test_winner(void) {
	struct chart_point points[] = {P(1, 3), P(2, 2), P(4, 6)};
	struct chart_series series = {"s", CHART_LINE, points, 3};
	const struct chart_mark winner = {2, 1};
	const struct chart chart = {
		.id = "winner", .title = "winner's", .series = &series, .series_count = 1, .winner = &winner};
	double x, y;
	struct seen_axes axes;
	char *svg = draw(&chart, &axes);
	const char *ring = strstr(svg, "class=\"s1\" stroke-width=\"2\"");
	ok(ring && sscanf(strstr(ring, " d=\"") + 4, "M%lf %lf", &x, &y) == 2 && is_at(&axes.x, x, 2, false) &&
	       is_at(&axes.y, y, 1, false),
	   "a ring at the winner, also below all points");
	ok(text_times(svg, "winner") == 1, "the legend explains the winner's ring");
	free(svg);
}

/* Random names, labels and values: no text is cut, and none covers another. */
static void test_texts(void) {
	enum { ROUNDS = 600, MOST = 40 };
	static const char words[] = "threads=16 MWMW illicit block_size_x \xc3\xa9 1e-9 @@ some words of a title";
	struct rng rng;
	char *fault = NULL;
	int round = 0;
	rng_seed(&rng, 11);
	for (; round < ROUNDS && !fault; round++) {
		char text[8][80];
		const char *names[MOST];
		struct chart_point points[MOST];
		size_t count = 1 + (size_t)(rng_unit(&rng) * (MOST - 1));
		for (int i = 0; i < 8; i++)
			snprintf(text[i], sizeof(text[i]), "%.*s", (int)(rng_unit(&rng) * (double)sizeof(words)), words);
		double size = pow(10, rng_unit(&rng) * 16 - 8);
		for (size_t i = 0; i < count; i++) {
			names[i] = text[i % 4];
			points[i] = (struct chart_point){round & 1 ? floor(rng_unit(&rng) * 100) : rng_unit(&rng) / size + 1 / size,
			                                 rng_unit(&rng) * size, NAN, NAN};
		}
		struct chart_series series[] = {{text[4], CHART_LINE, points, count}, {text[5], CHART_BARS, points, count}};
		const struct chart chart = {.id = "texts",
		                            .title = text[6],
		                            .x_label = text[7],
		                            .y_label = text[5],
		                            .x_log = round & 2,
		                            .y_log = round & 4,
		                            .x_names = round % 3 ? NULL : names,
		                            .x_name_count = count,
		                            .series = series,
		                            .series_count = 1 + (round % 5 == 0)};
		char *svg = chart_svg(&chart, NULL);
		fault = texts_fault(svg);
		free(svg);
	}
	ok(!fault, "%d random charts can be read: %s", round, fault ? fault : "no fault");
	free(fault);
}

/* The checks must notice faults, so that passing them means something. */
static void test_checks(void) {
	static const char head[] = "<svg viewBox=\"0 0 440 300\">";
	static const struct {
		const char *body, *what;
		bool good;
	} cases[] = {
		{"<text class=\"f1\" x=\"9\" y=\"50\">one</text><text class=\"f1\" x=\"60\" y=\"50\">two</text>", "apart",
	     true},
		{"<text class=\"f1\" x=\"9\" y=\"50\">one</text><text class=\"f1\" x=\"20\" y=\"50\">two</text>", "over it",
	     false},
		{"<text class=\"f1\" x=\"9\" y=\"50\">one</text><text class=\"f1\" x=\"9\" y=\"58\">two</text>", "too close",
	     false},
		{"<text class=\"f1\" x=\"400\" y=\"50\">too far right</text>", "cut", false},
		{"<text class=\"f1\" x=\"9\" y=\"310\">low</text>", "below", false},
		{"<text class=\"f1\" transform=\"translate(50.0,99.0) rotate(-45)\" y=\"4.6\" text-anchor=\"end\">turned</text>"
	     "<text class=\"f1\" x=\"9\" y=\"130\">under it</text>",
	     "a turned one over it", false},
		{"<text class=\"f1\" transform=\"translate(12.0,20.0) rotate(-90)\" y=\"4.6\" "
	     "text-anchor=\"middle\">upright</text>",
	     "a turned one that is cut", false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *svg = mem_printf("%s%s</svg>", head, cases[i].body), *fault = texts_fault(svg);
		ok(!fault == cases[i].good, "%s: %s", cases[i].what, fault ? fault : "no fault");
		free(fault);
		free(svg);
	}
}

int main(void) {
	test_checks();
	for (int i = 0; i < 4; i++)
		test_line(i & 1, i & 2);
	test_gaps();
	for (int last = 2; last <= 17; last += 3)
		test_zero(last);
	test_intervals();
	test_bars();
	test_stack();
	test_heat();
	test_winner();
	test_texts();
	return tap_done();
}
