/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/report/chart/scale.h"

#include <math.h>
#include <string.h>

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

void scale_fit_exactly(struct scale *scale, struct extent seen, bool log) {
	seen.few_count = EXTENT_FEW + 1; /* colours have round ticks instead of one for each value */
	scale_begin(scale, seen, log);
	if (seen.low <= seen.high)
		scale_set_ticks(scale, &seen, true);
}

void scale_fit_names(struct scale *scale, size_t count) {
	*scale =
		(struct scale){.low = -0.5, .high = count ? (double)count - 0.5 : 0.5, .from = scale->from, .to = scale->to};
}
