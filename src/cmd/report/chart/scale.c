/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scales, and heat maps, whose colours are one. */
#include <math.h>
#include <string.h>

#include "src/cmd/report/chart/chart_impl.h"

/* Ticks are round numbers, as in Heckbert: Nice Numbers for Graph Labels (Graphics Gems, 1990). */

enum { WANTED_MOST = 9 };
static const double written_out = 1e9; /* larger whole numbers are rounded */

/* "1e+06" becomes "1e6". */
static void shorten_exponent(char *text) {
	char *e = strchr(text, 'e');
	if (!e)
		return;
	char *to = e + 1, *from = e + 1;
	if (*from == '-')
		to++;
	from++;
	while (*from == '0' && from[1])
		from++;
	memmove(to, from, strlen(from) + 1);
}

/* Writes as many digits as distinguish the value from its neighbours, which are one step away. */
static void label_write(char label[32], double value, double step) {
	double most = fmax(fabs(value), step);
	int decimals = step > 0 ? (int)fmax(0, -floor(log10(step) + 1e-9)) : 0;
	if (fabs(value) < step / 1e6)
		value = 0;
	if (step > 0 && most < 1e6 && decimals <= 4) {
		snprintf(label, 32, "%.*f", decimals, value);
		return;
	}
	int digits = step > 0 ? (int)fmin(fmax(ceil(log10(most / step) + 1e-9), 0) + 1, 14) : 6;
	snprintf(label, 32, "%.*g", digits, value);
	shorten_exponent(label);
}

static void tick_add(struct scale *scale, double at, double step) {
	double share = scale_share(scale, at);
	if (scale->tick_count == SCALE_TICKS || share < -1e-9 || share > 1 + 1e-9)
		return;
	struct tick *tick = &scale->ticks[scale->tick_count++];
	tick->at = at;
	label_write(tick->label, at, step);
}

static double scale_nice_step(double span, int wanted) {
	double rough = span / wanted, power = pow(10, floor(log10(rough))), share = rough / power;
	return (share <= 1.001 ? 1 : share <= 2.001 ? 2 : share <= 5.001 ? 5 : 10) * power;
}

static void ticks_linear(struct scale *scale, int wanted, bool whole) {
	double step = fmax(scale_nice_step(scale->high - scale->low, wanted), whole ? 1 : 0),
		   first = ceil(scale->low / step - 1e-6);
	for (int i = 0; i < SCALE_TICKS && (first + i) * step <= scale->high + step * 1e-6; i++)
		tick_add(scale, (first + i) * step, step);
}

static void ticks_binary(struct scale *scale, int wanted) {
	int first = (int)ceil(log2(scale->low) - 1e-9), last = (int)floor(log2(scale->high) + 1e-9);
	int stride = (last - first) / wanted + 1;
	for (int k = first; k <= last; k += stride)
		tick_add(scale, ldexp(1, k), ldexp(1, k));
}

static void ticks_decimal(struct scale *scale, int wanted) {
	int first = (int)floor(log10(scale->low)), last = (int)ceil(log10(scale->high));
	int stride = (last - first) / wanted + 1, parts = (last - first) * 3 <= wanted + 3 ? 3 : 1;
	for (int k = first; k <= last; k += stride)
		for (int part = 0; part < parts; part++) {
			double at = pow(10, k) * (double[]){1, 2, 5}[part];
			tick_add(scale, at, at);
		}
}

static void ticks_measured(struct scale *scale, const struct extent *seen) {
	for (size_t i = 0; i < seen->few_count; i++)
		tick_add(scale, seen->few[i], 1);
}

static void ticks_nice(struct scale *scale, bool whole, bool across, int wanted) {
	if (!scale->log || scale->high / scale->low < 4)
		ticks_linear(scale, wanted, across && whole);
	else if (across && scale->low >= 0.25 && scale->high <= 300000)
		ticks_binary(scale, wanted);
	else
		ticks_decimal(scale, wanted);
}

static bool has_room(const struct scale *scale, bool across) {
	for (size_t i = 1; i < scale->tick_count; i++) {
		const struct tick *a = &scale->ticks[i - 1], *b = &scale->ticks[i];
		double distance = fabs(scale_at(scale, b->at) - scale_at(scale, a->at));
		double across_needs = (text_width(a->label) + text_width(b->label)) / 2 + CANVAS_FONT * 0.8;
		if (distance < (across ? across_needs : CANVAS_FONT * 2.0))
			return false;
	}
	return true;
}

/* Chooses ticks whose labels do not touch each other. */
static void scale_set_ticks(struct scale *scale, const struct extent *seen, bool across) {
	bool few = across && !seen->fractions && seen->few_count > 1 && seen->few_count <= EXTENT_FEW;
	if (across && seen->low == seen->high) {
		tick_add(scale, seen->low, seen->fractions ? 0 : 1);
		return;
	}
	if (few && fabs(seen->low) < written_out && fabs(seen->high) < written_out) {
		ticks_measured(scale, seen);
		if (has_room(scale, across))
			return;
	}
	for (int wanted = across || scale->log ? WANTED_MOST : SCALE_STEPS; wanted > 0; wanted--) {
		scale->tick_count = 0;
		ticks_nice(scale, !seen->fractions, across, wanted);
		if (has_room(scale, across))
			return;
	}
	scale->tick_count = scale->tick_count ? 1 : 0;
}

static const double hugest = 1e100, tiniest = 1e-100;

double scale_value(double value, bool log) {
	if (!isfinite(value) || (log && value <= 0))
		return NAN;
	if (fabs(value) > hugest)
		return copysign(hugest, value);
	if (fabs(value) < tiniest)
		return log ? tiniest : 0;
	return value;
}

void extent_stretch(struct extent *extent, double value, bool log) {
	double v = scale_value(value, log);
	bool first = extent->low > extent->high;
	if (isnan(v))
		return;
	extent->low = first ? v : fmin(extent->low, v);
	extent->high = first ? v : fmax(extent->high, v);
}

static void few_add(struct extent *extent, double value) {
	size_t at = 0;
	while (at < extent->few_count && extent->few[at] < value)
		at++;
	if (at < extent->few_count && extent->few[at] == value)
		return;
	if (extent->few_count < EXTENT_FEW) {
		memmove(extent->few + at + 1, extent->few + at, (extent->few_count - at) * sizeof(*extent->few));
		extent->few[at] = value;
	}
	extent->few_count++;
}

void extent_add(struct extent *extent, double value, bool log) {
	double v = scale_value(value, log);
	if (isnan(v))
		return;
	extent_stretch(extent, v, log);
	extent->fractions |= v != floor(v);
	if (extent->few_count <= EXTENT_FEW)
		few_add(extent, v);
}

double scale_share(const struct scale *scale, double value) {
	if (scale->log)
		return (log(value) - log(scale->low)) / (log(scale->high) - log(scale->low));
	return (value / 2 - scale->low / 2) / (scale->high / 2 - scale->low / 2);
}

double scale_at(const struct scale *scale, double value) {
	double share = fmin(fmax(scale_share(scale, value), 0), 1);
	return scale->from + share * (scale->to - scale->from);
}

static void scale_pad(struct scale *scale, double share) {
	if (scale->log) {
		double factor = pow(scale->high / scale->low, share);
		scale->low /= factor;
		scale->high *= factor;
	} else {
		double add = (scale->high - scale->low) * share;
		scale->low -= add;
		scale->high += add;
	}
}

/* A range of one value is made wider. */
static void widen(struct extent *extent, bool log) {
	double most = fmax(fabs(extent->low), fabs(extent->high)), add = most > 0 ? most * 0.1 : 1;
	if (log && extent->high / extent->low < 1 + 1e-9) {
		extent->low /= 2;
		extent->high *= 2;
	} else if (!log && extent->high - extent->low <= most * 1e-9) {
		extent->low -= most > 0 ? add : 0;
		extent->high += add;
	}
}

static void scale_begin(struct scale *scale, struct extent seen, bool log) {
	if (seen.low > seen.high) {
		seen.low = 1;
		seen.high = 10;
	}
	widen(&seen, log);
	*scale = (struct scale){.low = seen.low, .high = seen.high, .log = log, .from = scale->from, .to = scale->to};
}

void scale_fit_values(struct scale *scale, struct extent seen, bool log, bool zero) {
	bool any = seen.low <= seen.high;
	if (any && zero && !log) {
		seen.low = fmin(seen.low, 0);
		seen.high = fmax(seen.high, 0);
	}
	scale_begin(scale, seen, log);
	if (log) {
		scale_pad(scale, 0.04);
	} else {
		double step = scale_nice_step(scale->high - scale->low, SCALE_STEPS);
		scale->low = floor(scale->low / step + 1e-6) * step;
		scale->high = ceil(scale->high / step - 1e-6) * step;
	}
	if (any)
		scale_set_ticks(scale, &seen, false);
}

void scale_fit_positions(struct scale *scale, struct extent seen, bool log, double air) {
	scale_begin(scale, seen, log);
	scale_pad(scale, air);
	if (seen.low <= seen.high)
		scale_set_ticks(scale, &seen, true);
}

/* Fits the scale exactly to the lowest and highest value, for colours. */
static void scale_fit_exactly(struct scale *scale, struct extent seen, bool log) {
	seen.few_count = EXTENT_FEW + 1; /* colours have round ticks instead of one for each value */
	scale_begin(scale, seen, log);
	if (seen.low <= seen.high)
		scale_set_ticks(scale, &seen, true);
}

/* Chooses ticks whose labels do not touch each other. */
double scale_widest_label(const struct scale *scale) {
	double widest = 0;
	for (size_t i = 0; i < scale->tick_count; i++)
		widest = fmax(widest, text_width(scale->ticks[i].label));
	return widest;
}

/* Ten samples of viridis: van der Walt, Smith: A Better Default Colormap for Matplotlib (SciPy 2015), in the public
 * domain (CC0). Equal steps look equal, also to the colour-blind and in grey. */
static const unsigned viridis[] = {0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e,
                                   0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b, 0xfde725};

static unsigned blend(unsigned a, unsigned b, double share, int shift) {
	double from = a >> shift & 0xFF, to = b >> shift & 0xFF;
	return (unsigned)lround(from + (to - from) * share) << shift;
}

/* Colours are rounded to 64 steps, so that neighbouring cells of similar values become one path. */
unsigned colour_map(double share) {
	enum { STEPS = 63, LAST = sizeof(viridis) / sizeof(*viridis) - 1 };
	double place = round(fmin(fmax(share, 0), 1) * STEPS) / STEPS * LAST;
	size_t i = (size_t)fmin(floor(place), LAST - 1);
	unsigned rgb = 0;
	for (int shift = 0; shift <= 16; shift += 8)
		rgb |= blend(viridis[i], viridis[i + 1], place - (double)i, shift);
	return rgb;
}

/* White has the higher contrast on colours below this share, black on those above (WCAG 2.1, relative luminance
 * 0.179). */
bool colour_map_is_dark(double share) {
	return share < 0.44;
}

/* Draws heat maps: a coloured cell for each pair of names, and the scale of the colours below. */
enum { BAR_PARTS = 48, BAR_HEIGHT = 12, CELL_HEIGHT = 26, LEAST_HEIGHT = 160, MOST_HEIGHT = 300, ABOVE_BAR = 8 };
static const char dash[] = "\xE2\x80\x93"; /* not measured */

static struct extent values_extent(const struct chart_heat *heat) {
	struct extent seen = EXTENT_NONE;
	for (size_t i = 0; i < heat->width * heat->height; i++)
		extent_add(&seen, heat->values[i], heat->value_log);
	return seen;
}

/* Returns 0 to 1, or NAN. */
static double share_of(const struct scale *colours, double value) {
	double v = scale_value(value, colours->log);
	return isnan(v) ? NAN : fmin(fmax(scale_share(colours, v), 0), 1);
}

static struct spot cell_corner(const struct plot *plot, size_t i, double side) {
	size_t width = plot->chart->heat->width;
	return spot_at(scale_at(&plot->x, (double)(i % width) + side), scale_at(&plot->y, (double)(i / width) + side));
}

static void cells_draw(struct plot *plot, const struct scale *colours) {
	const struct chart_heat *heat = plot->chart->heat;
	for (size_t i = 0; i < heat->width * heat->height; i++) {
		double share = share_of(colours, heat->values[i]);
		drawing_rect(plot->drawing, isnan(share) ? paint_role(COLOUR_ABSENT) : paint_rgb(colour_map(share)),
		             cell_corner(plot, i, -0.5), cell_corner(plot, i, 0.5));
	}
}

/* Writes three digits, or a dash if there is no value. */
static void value_write(char text[32], double value) {
	if (fabs(value) >= 1e-3 && fabs(value) < 1e5)
		snprintf(text, 32, "%.*f", (int)fmax(0, 2 - floor(log10(fabs(value)))), value);
	else
		snprintf(text, 32, "%.3g", value);
	if (!isfinite(value))
		snprintf(text, 32, "%s", dash);
}

static bool values_fit(const struct chart_heat *heat, double cell_width, double cell_height) {
	double widest = 0;
	for (size_t i = 0; i < heat->width * heat->height; i++) {
		char text[32];
		value_write(text, heat->values[i]);
		widest = fmax(widest, text_width(text));
	}
	return cell_height >= CANVAS_FONT * 1.2 && widest + 4 <= cell_width;
}

static void values_draw(struct plot *plot, const struct scale *colours) {
	const struct chart_heat *heat = plot->chart->heat;
	double cell_width = (plot->x.to - plot->x.from) / (double)heat->width;
	double cell_height = (plot->y.from - plot->y.to) / (double)heat->height;
	if (!values_fit(heat, cell_width, cell_height))
		return;
	for (size_t i = 0; i < heat->width * heat->height; i++) {
		double share = share_of(colours, heat->values[i]);
		struct spot middle = cell_corner(plot, i, 0);
		char text[32];
		value_write(text, heat->values[i]);
		struct paint paint = paint_rgb(colour_map_is_dark(share) ? 0xffffff : 0x010101);
		drawing_text(
			plot->drawing, text,
			(struct label){middle.x, middle.y, .anchor = 'c', .paint = isnan(share) ? paint_role(COLOUR_INK) : paint});
	}
}

/* Each part reaches to the right end, because adjacent rectangles would show seams. */
static double colours_draw(struct plot *plot, const struct scale *colours, double y) {
	double left = colours->from, right = colours->to, middle = (left + right) / 2;
	y += ABOVE_BAR;
	for (int i = 0; i < BAR_PARTS; i++)
		drawing_rect(plot->drawing, paint_rgb(colour_map((i + 0.5) / BAR_PARTS)),
		             spot_at(left + (right - left) * i / BAR_PARTS, y), spot_at(right, y + BAR_HEIGHT));
	y += BAR_HEIGHT + 2;
	for (size_t i = 0; i < colours->tick_count; i++)
		drawing_text(plot->drawing, colours->ticks[i].label,
		             (struct label){scale_at(colours, colours->ticks[i].at), y + LINE_HEIGHT / 2.0, .anchor = 'c'});
	y += LINE_HEIGHT;
	drawing_text(plot->drawing, plot->chart->heat->value_label,
	             (struct label){middle, y + LINE_HEIGHT / 2.0, .anchor = 'c',
	                            .width = 2 * fmin(middle, CANVAS_WIDTH - middle) - EDGE});
	return plot->chart->heat->value_label ? y + LINE_HEIGHT : y;
}

static void heat_fit(struct plot *plot) {
	const struct chart_heat *heat = plot->chart->heat;
	plot->x_names = (struct names){heat->x_names, heat->width};
	plot->y_names = (struct names){heat->y_names, heat->height};
	frame_begin(plot, fmin(fmax(CELL_HEIGHT * (double)heat->height, LEAST_HEIGHT), MOST_HEIGHT));
	scale_fit_names(&plot->x, heat->width);
	scale_fit_names(&plot->y, heat->height);
}

/* draws the whole chart and returns the first y below it */
double chart_heat_draw(struct plot *plot) {
	struct extent seen = values_extent(plot->chart->heat);
	heat_fit(plot);
	struct scale colours = {.from = plot->x.from, .to = plot->x.to};
	scale_fit_exactly(&colours, seen, plot->chart->heat->value_log);
	cells_draw(plot, &colours);
	values_draw(plot, &colours);
	winner_draw(plot);
	double y = frame_draw(plot);
	if (seen.low <= seen.high)
		y = colours_draw(plot, &colours, y);
	return legend_draw(plot, y);
}
