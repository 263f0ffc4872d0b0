/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The uncertainty of a median. */
#ifndef TUNER_RACE_DEVIATION_H
#define TUNER_RACE_DEVIATION_H
#include <stddef.h>

/* Standard deviation of the logarithm of the samples' median. All samples must be above 0. Returns 0 if it cannot be
 * estimated: fewer than two samples, or all of them equal. */
double deviation_of_median(const double *samples, size_t count);
/* The same for the geometric mean of two medians with these deviations. It is at least half of their distance, because
 * medians that disagree show a variation that neither set of samples contains. */
double deviation_of_mean(double value_a, double deviation_a, double value_b, double deviation_b);
#endif
