/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/cmd/report/chart/impl.h"

/* Beyond these gnuplot's own sums overflow. */
static const double hugest = 1e100, tiniest = 1e-100;

double axis_value(double value, bool log) {
	if (!isfinite(value) || (log && value <= 0))
		return NAN;
	if (fabs(value) > hugest)
		return copysign(hugest, value);
	if (fabs(value) < tiniest)
		return log ? tiniest : 0;
	return value;
}

void extent_add(struct extent *extent, double value, bool log) {
	double v = axis_value(value, log);
	if (isnan(v))
		return;
	bool first = extent->low > extent->high;
	extent->fractions |= v != floor(v);
	extent->low = first ? v : fmin(extent->low, v);
	extent->high = first ? v : fmax(extent->high, v);
}

double axis_place(const struct axis *axis, double value) {
	if (axis->log)
		return (log(value) - log(axis->low)) / (log(axis->high) - log(axis->low));
	return (value / 2 - axis->low / 2) / (axis->high / 2 - axis->low / 2);
}

/* 1e+06 as 1e6 */
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

/* With as many digits as tell it from its neighbours. */
void tick_label(char label[32], double value, double step) {
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

static void tick_add(struct axis *axis, double at, double step) {
	double place = axis_place(axis, at);
	if (axis->tick_count == CHART_TICKS || place < -1e-9 || place > 1 + 1e-9)
		return;
	struct tick *tick = &axis->ticks[axis->tick_count++];
	tick->at = at;
	tick_label(tick->label, at, step);
}

/* 1, 2 or 5 times a power of ten: Heckbert: Nice Numbers for Graph Labels (Graphics Gems, 1990). */
static double nice_step(double span, int wanted) {
	double rough = span / wanted, power = pow(10, floor(log10(rough))), share = rough / power;
	return (share <= 1.001 ? 1 : share <= 2.001 ? 2 : share <= 5.001 ? 5 : 10) * power;
}

static void linear_ticks(struct axis *axis, int wanted) {
	double step = fmax(nice_step(axis->high - axis->low, wanted), axis->step_least),
		   first = ceil(axis->low / step - 1e-6);
	for (int i = 0; i < CHART_TICKS && (first + i) * step <= axis->high + step * 1e-6; i++)
		tick_add(axis, (first + i) * step, step);
}

static void binary_ticks(struct axis *axis, int wanted) {
	int first = (int)ceil(log2(axis->low) - 1e-9), last = (int)floor(log2(axis->high) + 1e-9);
	int stride = (last - first) / wanted + 1;
	for (int k = first; k <= last; k += stride)
		tick_add(axis, ldexp(1, k), ldexp(1, k));
}

static void decimal_ticks(struct axis *axis, int wanted) {
	int first = (int)floor(log10(axis->low)), last = (int)ceil(log10(axis->high));
	int stride = (last - first) / wanted + 1, parts = (last - first) * 3 <= wanted + 3 ? 3 : 1;
	for (int k = first; k <= last; k += stride)
		for (int part = 0; part < parts; part++) {
			double at = pow(10, k) * (double[]){1, 2, 5}[part];
			tick_add(axis, at, at);
		}
}

static double widest_label(const struct axis *axis) {
	double widest = 0;
	for (size_t i = 0; i < axis->tick_count; i++)
		widest = fmax(widest, text_width(axis->ticks[i].label));
	return widest;
}

static void ticks_place(struct axis *axis, bool across, int wanted) {
	axis->tick_count = 0;
	if (!axis->log || axis->high / axis->low < 4)
		linear_ticks(axis, wanted);
	else if (across && axis->low >= 0.5 && axis->high <= 300000)
		binary_ticks(axis, wanted);
	else
		decimal_ticks(axis, wanted);
}

/* A range of no width gets some. */
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

void axis_pad(struct axis *axis, double share) {
	if (axis->log) {
		double factor = pow(axis->high / axis->low, share);
		axis->low /= factor;
		axis->high *= factor;
	} else {
		double add = (axis->high - axis->low) * share;
		axis->low -= add;
		axis->high += add;
	}
}

/* Linear axes of values (`zero` is known) end at ticks; positions have a little air at both ends. */
void axis_fit(struct axis *axis, struct extent seen, bool log, bool zero, bool across, double length) {
	bool any = seen.low <= seen.high, one = seen.low == seen.high;
	if (!any)
		seen = (struct extent){.low = 1, .high = 10};
	double first = seen.low;
	if (zero && !log && seen.low > 0)
		seen.low = 0;
	if (zero && !log && seen.high < 0)
		seen.high = 0;
	widen(&seen, log);
	*axis = (struct axis){.low = seen.low, .high = seen.high, .log = log, .step_least = across && !seen.fractions};
	axis_pad(axis, log || across ? 0.04 : 0);
	if (!log && !across) {
		double step = nice_step(axis->high - axis->low, 5);
		axis->low = floor(axis->low / step + 1e-6) * step;
		axis->high = ceil(axis->high / step - 1e-6) * step;
	}
	if (any && one && across)
		tick_add(axis, first, 0);
	for (int wanted = 9; any && !(one && across) && wanted > 0; wanted--) {
		ticks_place(axis, across, wanted);
		double each = across ? widest_label(axis) + CHART_FONT : CHART_FONT * 2.2;
		if ((double)axis->tick_count * each <= length)
			return;
	}
}

void axis_trim(struct axis *axis, double low, double high) {
	size_t kept = 0;
	for (size_t i = 0; i < axis->tick_count; i++)
		if (axis->ticks[i].at >= low && axis->ticks[i].at <= high)
			axis->ticks[kept++] = axis->ticks[i];
	axis->tick_count = kept;
	axis->low = low;
	axis->high = high;
}

void axis_names(struct axis *axis, size_t count) {
	*axis = (struct axis){.low = -0.5, .high = count ? (double)count - 0.5 : 0.5};
}
