/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Targets of the value model: logarithms relative to the best, softly capped, with censored trials at their expected
 * value (ADR 9). */
#include <config.h>

#include <math.h>

#include "src/base/stats.h"
#include "tuner/surrogate/impl.h"

/* The cap is at least this logarithm, so that differences of a few percent are always distinguished. */
static const double CAP_MIN = 0.15;
/* The part of the cap that slower configurations may add at most, and how soon they do. */
static const double BEYOND = 0.3, BEYOND_LENGTH = 0.6;
/* The weight of a leave-one-out error falls by a factor of e per half unit of the target. */
static const double GOOD_LENGTH = 0.5;
static const double DENSITY = 0.3989422804014327;

double surrogate_cap(double log_ratio, double cap) {
	if (!(log_ratio > cap))
		return log_ratio;
	return cap + BEYOND * cap * (1 - exp(-(log_ratio - cap) / (BEYOND_LENGTH * cap)));
}

double surrogate_cap_of(const double *log_ratios, size_t count) {
	return count ? fmax(CAP_MIN, stats_median(log_ratios, count)) : CAP_MIN;
}

static double cap_of_observed(const struct surrogate *surrogate) {
	double *ratios = surrogate->lone_mean; /* not in use at this point */
	size_t count = 0;
	for (size_t i = 0; i < surrogate->count; i++)
		if (surrogate->observed[i].result == STRATEGY_VALUE)
			ratios[count++] = surrogate->observed[i].log - surrogate->best;
	return surrogate_cap_of(ratios, count);
}

/* Mean of a normal variable that is known to be above the limit. */
static double truncated_mean(double mean, double deviation, double limit) {
	double z = (limit - mean) / deviation;
	double above = 0.5 * erfc(z / sqrt(2));
	if (above < 1e-12)
		return limit;
	return mean + deviation * DENSITY * exp(-0.5 * z * z) / above;
}

/* Sets the targets of trials that were cut short to what the model expects from the others. */
static void lift_censored(struct surrogate *surrogate) {
	gp_target(surrogate->value, surrogate->target);
	gp_condition(surrogate->value);
	gp_leave_one_out(surrogate->value, surrogate->lone_mean, surrogate->lone_variance);
	for (size_t i = 0; i < surrogate->in_value; i++) {
		if (surrogate->observed[surrogate->row[i]].result != STRATEGY_CENSORED)
			continue;
		double limit = surrogate->target[i], deviation = sqrt(surrogate->lone_variance[i]);
		surrogate->target[i] = fmax(limit, truncated_mean(surrogate->lone_mean[i], deviation, limit));
	}
}

void surrogate_targets(struct surrogate *surrogate) {
	double cap = cap_of_observed(surrogate), best = isinf(surrogate->best) ? 0 : surrogate->best;
	bool censored = false;
	for (size_t i = 0; i < surrogate->in_value; i++) {
		const struct observed *observed = &surrogate->observed[surrogate->row[i]];
		censored |= observed->result == STRATEGY_CENSORED;
		surrogate->target[i] = surrogate_cap(observed->log - best, cap);
	}
	if (censored)
		lift_censored(surrogate);
	gp_target(surrogate->value, surrogate->target);
}

/* To be called after gp_condition. */
void surrogate_calibrate(struct surrogate *surrogate) {
	double sum = 0, weights = 0;
	double *mean = surrogate->lone_mean, *variance = surrogate->lone_variance;
	gp_leave_one_out(surrogate->value, mean, variance);
	for (size_t i = 0; i < surrogate->in_value; i++) {
		double off = surrogate->target[i] - mean[i], weight = exp(-surrogate->target[i] / GOOD_LENGTH);
		sum += weight * off * off / variance[i];
		weights += weight;
		mean[i] = fabs(off);
	}
	surrogate->stretch = weights > 0 ? fmax(1, sum / weights) : 1;
	surrogate->error = stats_median(mean, surrogate->in_value);
}
