/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/race/deviation.h"

#include <math.h>

#include "base/mem.h"
#include "base/stats.h"

/* Corrects the median absolute deviation of few normal samples, which is biased downwards (Croux and Rousseeuw,
 * "Time-efficient algorithms for two highly robust estimators of scale", 1992). */
static double small_sample_factor(size_t count) {
	static const double factors[] = {0, 0, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107};
	return count < sizeof factors / sizeof *factors ? factors[count] : (double)count / ((double)count - 0.8);
}

double deviation_of_median(const double *samples, size_t count) {
	if (count < 2)
		return 0;
	mem_auto double *logs = mem_alloc(count, sizeof *logs);
	for (size_t i = 0; i < count; i++)
		logs[i] = log(samples[i]);
	double one = small_sample_factor(count) * stats_mad(logs, count);
	/* For many normal samples the variance of the median is pi / 2 times that of the mean. */
	double deviation = one * sqrt(acos(-1.0) / 2 / (double)count);
	return isfinite(deviation) ? deviation : 0;
}

double deviation_of_mean(double value_a, double deviation_a, double value_b, double deviation_b) {
	double within = hypot(deviation_a, deviation_b) / 2, between = fabs(log(value_a / value_b)) / 2;
	return isfinite(between) && between > within ? between : within;
}
