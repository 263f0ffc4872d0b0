/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How sure a median is. */
#ifndef TUNER_RACE_DEVIATION_H
#define TUNER_RACE_DEVIATION_H
#include <stddef.h>

/* Standard deviation of the logarithm of the median of these samples, all above 0; 0 where it can't be told: fewer than
 * two, or all the same. */
double deviation_of_median(const double *samples, size_t count);
/* Of the geometric mean of two medians with these deviations: not less than what lies between the two. */
double deviation_of_mean(double value_a, double deviation_a, double value_b, double deviation_b);

#endif
