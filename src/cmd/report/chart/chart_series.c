/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws bars. Those of several series stand side by side, and the parts of a stack on top of each other. */
#include <math.h>

#include "base/mem.h"
#include "base/stats.h"
#include "src/cmd/report/chart/chart_impl.h"

static bool series_is_bar(const struct chart_series *series) {
	return series->style == CHART_BARS || series->style == CHART_STACK;
}

/* A negative part of a whole makes no sense and is left out. */
static double part_of(const struct chart_point *point) {
	return point->y >= 0 ? scale_value(point->y, false) : NAN;
}

/* Returns the value at which a bar begins: the sum of the parts below it in a stack, otherwise 0. */
static double series_base(const struct chart *chart, const struct chart_series *series, double x) {
	double sum = 0;
	if (series->style != CHART_STACK)
		return 0;
	for (const struct chart_series *below = chart->series; below < series; below++)
		for (size_t i = 0; below->style == CHART_STACK && i < below->count; i++)
			if (below->points[i].x == x && !isnan(part_of(&below->points[i])))
				sum += part_of(&below->points[i]);
	return sum;
}

/* Returns the value at which a point or bar ends, NAN if it cannot be shown. */
static double series_value(const struct chart *chart, const struct chart_series *series,
                           const struct chart_point *point) {
	if (series->style == CHART_STACK)
		return series_base(chart, series, point->x) + part_of(point);
	return scale_value(point->y, chart->y_log);
}

static double bars_middle(const struct plot *plot, const struct chart_series *series, double x);

/* Finds the place of a point, which is the top of a bar; false if it cannot be shown. */
static bool plot_spot(const struct plot *plot, const struct chart_series *series, size_t i, struct spot *spot) {
	const struct chart_point *point = &series->points[i];
	double x = chart_x(plot->chart, point->x), y = series_value(plot->chart, series, point);
	if (isnan(x) || isnan(y))
		return false;
	*spot = (struct spot){.x = series_is_bar(series) ? bars_middle(plot, series, x) : scale_at(&plot->x, x),
	                      .y = scale_at(&plot->y, y)};
	return true;
}

/* Finds the ends of the interval of a point; false if it has none. An end that the scale cannot show is at the border.
 */
static bool plot_interval(const struct plot *plot, const struct chart_series *series, size_t i, double *low,
                          double *high) {
	const struct chart_point *point = &series->points[i];
	if (isnan(point->low) || isnan(point->high) || point->low >= point->high)
		return false;
	double a = scale_value(point->low, plot->y.log), b = scale_value(point->high, plot->y.log);
	double base = series_base(plot->chart, series, point->x);
	*low = isnan(a) ? plot->y.from : scale_at(&plot->y, base + a);
	*high = isnan(b) ? plot->y.to : scale_at(&plot->y, base + b);
	return *low > *high; /* y grows downwards */
}

static const double group_share = 0.8, bar_share = 0.92, bar_widest = 88;

/* Returns the group of a series, counted from the left. All parts of a stack share the last group. */
static size_t group_of(const struct chart *chart, const struct chart_series *series) {
	size_t group = 0;
	const struct chart_series *end = series->style == CHART_STACK ? chart->series + chart->series_count : series;
	for (const struct chart_series *other = chart->series; other < end; other++)
		group += other->style == CHART_BARS;
	return group;
}

/* The number of bars side by side at each place. */
static size_t bars_groups(const struct chart *chart) {
	size_t groups = 0, parts = 0;
	for (size_t i = 0; i < chart->series_count; i++) {
		groups += chart->series[i].style == CHART_BARS;
		parts += chart->series[i].style == CHART_STACK;
	}
	return groups + (parts > 0);
}

static size_t bar_places(const struct plot *plot, double *places) {
	size_t count = 0;
	for (size_t i = 0; i < plot->chart->series_count; i++)
		for (size_t j = 0; series_is_bar(&plot->chart->series[i]) && j < plot->chart->series[i].count; j++) {
			double x = chart_x(plot->chart, plot->chart->series[i].points[j].x);
			if (!isnan(x))
				places[count++] = scale_at(&plot->x, x);
		}
	qsort(places, count, sizeof(*places), stats_order);
	return count;
}

static double bars_gap(const struct plot *plot) {
	double length = plot->x.to - plot->x.from, gap = length / 4;
	size_t room = 1;
	if (plot->x_names.texts)
		return length / (double)(plot->x_names.count ? plot->x_names.count : 1);
	for (size_t i = 0; i < plot->chart->series_count; i++)
		room += plot->chart->series[i].count;
	mem_auto double *places = mem_alloc(room, sizeof(*places));
	size_t count = bar_places(plot, places);
	for (size_t i = 1; i < count; i++)
		if (places[i] - places[i - 1] > length * 1e-4)
			gap = fmin(gap, places[i] - places[i - 1]);
	return gap;
}

/* Returns the distance between the middles of two neighbouring bars of a group. */
static double bar_step(const struct plot *plot) {
	return fmin(plot->bar_gap * group_share / (double)bars_groups(plot->chart), bar_widest);
}

static double bars_middle(const struct plot *plot, const struct chart_series *series, double x) {
	double from_middle = (double)group_of(plot->chart, series) - ((double)bars_groups(plot->chart) - 1) / 2;
	return scale_at(&plot->x, x) + from_middle * bar_step(plot);
}

static double bar_base(const struct plot *plot, const struct chart_series *series, double x) {
	return plot->y.log ? plot->y.from : scale_at(&plot->y, series_base(plot->chart, series, x));
}

static double inside(const struct plot *plot, double x) {
	return fmin(fmax(x, plot->x.from), plot->x.to);
}

static int series_role(size_t index) {
	return COLOUR_SERIES + (int)(index % COLOUR_SERIES_COUNT);
}

const char *series_dash(size_t index) {
	static const char *const dashes[] = {NULL, "8,3", "3,3", "10,3,2,3", "14,3"};
	return dashes[index % (sizeof(dashes) / sizeof(*dashes))];
}

/* The numbers of shapes, colours and dashes are coprime, so that combinations repeat as late as possible. */
enum shape series_shape(size_t index) {
	return (enum shape)(index % SHAPE_SERIES);
}

static void bars_draw(struct plot *plot) {
	const struct chart *chart = plot->chart;
	double half = bar_step(plot) * bar_share / 2;
	for (size_t i = 0; i < chart->series_count; i++) {
		const struct chart_series *series = &chart->series[i];
		struct spot top;
		for (size_t j = 0; series_is_bar(series) && j < series->count; j++)
			if (plot_spot(plot, series, j, &top))
				drawing_rect(plot->drawing, paint_role(series_role(i)), spot_at(inside(plot, top.x - half), top.y),
				             spot_at(inside(plot, top.x + half), bar_base(plot, series, series->points[j].x)));
	}
}

/* Draws intervals as lines from the lower to the upper end. */

enum { CAPS_MOST = 60 /* more caps would form a mesh */ };
static const double cap = 3;

static void interval_draw(struct plot *plot, double x, double low, double high, bool caps) {
	drawing_move(plot->drawing, x, low);
	drawing_to(plot->drawing, x, high);
	for (int end = 0; caps && end < 2; end++) {
		double y = end ? high : low;
		drawing_move(plot->drawing, x - cap, y);
		drawing_to(plot->drawing, x + cap, y);
	}
}

/* Intervals of bars are drawn in ink, because the colour of the bar would hide them. */
static void series_intervals(struct plot *plot, const struct chart_series *series, struct paint paint) {
	struct spot spot;
	double low, high;
	for (size_t i = 0; i < series->count; i++)
		if (plot_spot(plot, series, i, &spot) && plot_interval(plot, series, i, &low, &high)) {
			drawing_line(plot->drawing, paint, 1, NULL);
			interval_draw(plot, spot.x, low, high, series->count <= CAPS_MOST);
		}
}

/* Draws those of bars, or those of all other series. */
static void intervals_draw(struct plot *plot, bool bars) {
	for (size_t i = 0; i < plot->chart->series_count; i++)
		if (series_is_bar(&plot->chart->series[i]) == bars)
			series_intervals(plot, &plot->chart->series[i], paint_role(bars ? COLOUR_INK : series_role(i)));
}

/* Draws lines, steps and points. */

/* A point that cannot be shown interrupts the line, and so does a 0 on a logarithmic axis. */
static void line_draw(struct plot *plot, const struct chart_series *series) {
	struct spot spot, last = {0};
	bool down = false;
	for (size_t i = 0; i < series->count; i++) {
		if (!plot_spot(plot, series, i, &spot)) {
			down = false;
			continue;
		}
		if (!down)
			drawing_move(plot->drawing, spot.x, spot.y);
		else if (series->style == CHART_STEPS)
			drawing_to(plot->drawing, spot.x, last.y);
		if (down)
			drawing_to(plot->drawing, spot.x, spot.y);
		down = series->points[i].x != 0 || !plot->chart->x_log;
		last = spot;
	}
}

static size_t shown_count(const struct plot *plot, const struct chart_series *series) {
	struct spot spot;
	size_t count = 0;
	for (size_t i = 0; i < series->count; i++)
		count += plot_spot(plot, series, i, &spot);
	return count;
}

static void points_draw(struct plot *plot, const struct chart_series *series, size_t index) {
	struct spot spot;
	for (size_t i = 0; i < series->count; i++)
		if (plot_spot(plot, series, i, &spot))
			drawing_shape(plot->drawing, paint_role(series_role(index)), series_shape(index), spot.x, spot.y);
}

/* A line of one point would be invisible, so the point itself is shown. */
static void series_draw(struct plot *plot, const struct chart_series *series, size_t index) {
	size_t count = shown_count(plot, series);
	double width = series->style == CHART_BOUND ? 1.5 : 2;
	if (count > 1 && series->style != CHART_POINTS) {
		drawing_line(plot->drawing, paint_role(series_role(index)), width, series_dash(index));
		line_draw(plot, series);
	}
	if (count == 1 || series->style == CHART_LINE || series->style == CHART_POINTS)
		points_draw(plot, series, index);
}

static void lines_draw(struct plot *plot) {
	for (size_t i = 0; i < plot->chart->series_count; i++)
		if (!series_is_bar(&plot->chart->series[i]))
			series_draw(plot, &plot->chart->series[i], i);
}

/* Marks the winner: a ring around its point, or a frame around its cell. */

static void box_draw(struct plot *plot, struct spot a, struct spot b) {
	drawing_move(plot->drawing, a.x, a.y);
	drawing_to(plot->drawing, b.x, a.y);
	drawing_to(plot->drawing, b.x, b.y);
	drawing_to(plot->drawing, a.x, b.y);
	drawing_to(plot->drawing, a.x, a.y);
}

/* A black line inside a white one is visible on any colour. */
static void outline_draw(struct plot *plot, struct spot a, struct spot b) {
	drawing_line(plot->drawing, paint_rgb(0xffffff), 4, NULL);
	box_draw(plot, a, b);
	drawing_line(plot->drawing, paint_rgb(0x000000), 1.5, NULL);
	box_draw(plot, a, b);
}

static void cell_outline(struct plot *plot) {
	const struct chart_mark *winner = plot->chart->winner;
	const double half = 0.5, inset = 2;
	outline_draw(plot,
	             spot_at(scale_at(&plot->x, winner->x - half) + inset, scale_at(&plot->y, winner->y + half) + inset),
	             spot_at(scale_at(&plot->x, winner->x + half) - inset, scale_at(&plot->y, winner->y - half) - inset));
}

void winner_draw(struct plot *plot) {
	const struct chart_mark *winner = plot->chart->winner;
	if (!winner || isnan(chart_x(plot->chart, winner->x)) || isnan(scale_value(winner->y, plot->y.log)))
		return;
	if (plot->chart->heat)
		cell_outline(plot);
	else
		drawing_shape(plot->drawing, paint_role(COLOUR_INK), SHAPE_RING,
		              scale_at(&plot->x, chart_x(plot->chart, winner->x)), scale_at(&plot->y, winner->y));
}

static void winner_sample(struct plot *plot, double x, double y) {
	if (plot->chart->heat)
		outline_draw(plot, spot_at(x - 9, y - 6), spot_at(x + 9, y + 6));
	else
		drawing_shape(plot->drawing, paint_role(COLOUR_INK), SHAPE_RING, x, y);
}

/* Draws the legend in columns below the plot, where it never covers data. */

enum { SAMPLE = 34, GAP = 8, BETWEEN = 16, ABOVE = 10 };
static const char winner_name[] = "winner";

struct legend {
	struct plot *plot;
	double top, column_width;
	size_t columns, shown;
};

static size_t named_count(const struct chart *chart) {
	size_t count = 0;
	for (size_t i = 0; i < chart->series_count; i++)
		count += chart->series[i].name != NULL;
	return count;
}

static double widest_entry(const struct chart *chart) {
	double widest = chart->winner ? text_width(winner_name) : 0;
	for (size_t i = 0; i < chart->series_count; i++) {
		mem_auto char *tame = text_tame(chart->series[i].name);
		widest = fmax(widest, text_width(tame));
	}
	return widest;
}

static void line_sample(struct plot *plot, double x, double y, size_t index, double width) {
	drawing_line(plot->drawing, paint_role(series_role(index)), width, series_dash(index));
	drawing_move(plot->drawing, x, y);
	drawing_to(plot->drawing, x + SAMPLE, y);
}

static void series_sample(struct plot *plot, double x, double y, size_t index) {
	const struct chart_series *series = &plot->chart->series[index];
	struct paint paint = paint_role(series_role(index));
	if (series_is_bar(series))
		drawing_rect(plot->drawing, paint, spot_at(x + 6, y - 5), spot_at(x + SAMPLE - 6, y + 5));
	else if (series->style != CHART_POINTS)
		line_sample(plot, x, y, index, series->style == CHART_BOUND ? 1.5 : 2);
	if (series->style == CHART_LINE || series->style == CHART_POINTS)
		drawing_shape(plot->drawing, paint, series_shape(index), x + SAMPLE / 2.0, y);
}

/* Writes the name of the next entry and returns the left end of its sample. */
static struct spot entry_add(struct legend *legend, const char *name) {
	struct spot at = spot_at(EDGE + legend->column_width * (double)(legend->shown % legend->columns),
	                         legend->top + LINE_HEIGHT * ((double)(legend->shown / legend->columns) + 0.5));
	drawing_text(
		legend->plot->drawing, name,
		(struct label){at.x + SAMPLE + GAP, at.y, .anchor = 'l', .width = legend->column_width - SAMPLE - GAP});
	legend->shown++;
	return at;
}

static void entries_add(struct legend *legend, size_t named) {
	struct plot *plot = legend->plot;
	for (size_t i = 0, shown = 0; i < plot->chart->series_count && shown < NAMES_SHOWN; i++)
		if (plot->chart->series[i].name) {
			struct spot at = entry_add(legend, plot->chart->series[i].name);
			series_sample(plot, at.x, at.y, i);
			shown++;
		}
	if (named > NAMES_SHOWN) {
		char more[48];
		snprintf(more, sizeof(more), "and %zu more", named - NAMES_SHOWN);
		entry_add(legend, more);
	}
	if (plot->chart->winner) {
		struct spot at = entry_add(legend, winner_name);
		winner_sample(plot, at.x + SAMPLE / 2.0, at.y);
	}
}

double legend_draw(struct plot *plot, double y) {
	double room = CANVAS_WIDTH - 2 * EDGE, each = SAMPLE + GAP + widest_entry(plot->chart) + BETWEEN;
	size_t named = named_count(plot->chart), entries = named + (plot->chart->winner != NULL);
	if (entries == 0)
		return y;
	struct legend legend = {.plot = plot, .top = y + ABOVE};
	legend.columns = (size_t)fmin(fmax(1, floor(room / each)), (double)entries);
	legend.column_width = room / (double)legend.columns;
	entries_add(&legend, named);
	return legend.top + LINE_HEIGHT * (double)((legend.shown + legend.columns - 1) / legend.columns);
}

/* Fits the scales to all series of a chart. */
enum { PLOT_HEIGHT = 220 };

static void point_add(const struct chart *chart, const struct chart_series *series, const struct chart_point *point,
                      struct extent *x, struct extent *y) {
	double top = series_value(chart, series, point), base = series_base(chart, series, point->x);
	double place = chart_x(chart, point->x);
	if (isnan(place) || isnan(top))
		return;
	extent_add(y, top, chart->y_log);
	extent_stretch(y, base + point->low, chart->y_log);
	extent_stretch(y, base + point->high, chart->y_log);
	/* 0 on a logarithmic axis has a tick in any case. */
	if (series->style == CHART_BOUND || series->style == CHART_STEPS || (point->x == 0 && chart->x_log))
		extent_stretch(x, place, chart->x_log);
	else
		extent_add(x, place, chart->x_log);
}

static void extents(const struct chart *chart, struct extent *x, struct extent *y) {
	*x = *y = EXTENT_NONE;
	for (size_t i = 0; i < chart->series_count; i++)
		for (size_t j = 0; j < chart->series[i].count; j++)
			point_add(chart, &chart->series[i], &chart->series[i].points[j], x, y);
	if (chart->winner) {
		extent_stretch(x, chart_x(chart, chart->winner->x), chart->x_log);
		extent_stretch(y, chart->winner->y, chart->y_log);
	}
}

/* The tick of 0 on a logarithmic scale. */
static void zero_add(struct scale *scale, double at) {
	size_t i = 0;
	while (i < scale->tick_count && scale->ticks[i].at != at)
		i++;
	if (i == SCALE_TICKS)
		return;
	scale->ticks[i] = (struct tick){at, "0"};
	scale->tick_count = i == scale->tick_count ? i + 1 : scale->tick_count;
}

/* Repeats the fit, because half of a label at an end needs room beside the plot, and another width means other ticks.
 */
static void fit_across(struct plot *plot, struct extent seen, double air) {
	scale_fit_positions(&plot->x, seen, plot->chart->x_log, air);
	for (int round = 0; round < 2; round++) {
		double half = scale_widest_label(&plot->x) / 2;
		plot->x.from = fmax(plot->x.from, 2 + half);
		plot->x.to = fmin(plot->x.to, CANVAS_WIDTH - 2 - half);
		scale_fit_positions(&plot->x, seen, plot->chart->x_log, air);
	}
	if (plot->chart->x_log && seen.low == plot->chart->x_zero)
		zero_add(&plot->x, seen.low);
}

/* The first and the last bar need room for half of the distance between bars. */
static void fit_positions(struct plot *plot, struct extent seen) {
	const double air = 0.04;
	fit_across(plot, seen, air);
	if (bars_groups(plot->chart) > 0)
		fit_across(plot, seen, air + bars_gap(plot) / (plot->x.to - plot->x.from) * (0.5 + air));
}

/* Fits both scales and begins the frame of a chart with series. Bars begin at 0 because their length would
 * mislead otherwise. Points do so unless they are close to each other. */
static void series_fit(struct plot *plot) {
	const struct chart *chart = plot->chart;
	struct extent x, y;
	extents(chart, &x, &y);
	bool zero = bars_groups(chart) > 0 || (y.low <= y.high && y.low > 0 && y.low < y.high / 2);
	plot->y.from = PLOT_HEIGHT; /* the final height, on which the ticks depend */
	scale_fit_values(&plot->y, y, chart->y_log, zero);
	plot->x_names = (struct names){chart->x_names, chart->x_name_count};
	frame_begin(plot, PLOT_HEIGHT);
	if (chart->x_names)
		scale_fit_names(&plot->x, chart->x_name_count);
	else
		fit_positions(plot, x);
	plot->bar_gap = bars_gap(plot);
}

/* Draws the line that bars stand on: 0, or the nearest value on the axis. */
static void base_draw(struct plot *plot) {
	double y = plot->y.log ? plot->y.from : scale_at(&plot->y, 0);
	drawing_line(plot->drawing, paint_role(COLOUR_AXIS), 1, NULL);
	drawing_move(plot->drawing, plot->x.from, y);
	drawing_to(plot->drawing, plot->x.to, y);
}

static bool is_empty(const struct plot *plot) {
	struct spot spot;
	for (size_t i = 0; i < plot->chart->series_count; i++)
		for (size_t j = 0; j < plot->chart->series[i].count; j++)
			if (plot_spot(plot, &plot->chart->series[i], j, &spot))
				return false;
	return true;
}

/* Draws from back to front and returns the first y below the chart. */
double chart_series_draw(struct plot *plot) {
	series_fit(plot);
	double y = frame_draw(plot);
	bars_draw(plot);
	intervals_draw(plot, true);
	base_draw(plot);
	intervals_draw(plot, false);
	lines_draw(plot);
	winner_draw(plot);
	if (is_empty(plot))
		drawing_text(plot->drawing, "nothing measured",
		             (struct label){(plot->x.from + plot->x.to) / 2, (plot->y.from + plot->y.to) / 2, .anchor = 'c'});
	return legend_draw(plot, y);
}
