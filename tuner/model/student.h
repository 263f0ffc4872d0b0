/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Student's interval of a ratio from few pairs of long runs, where rank tests have too few values to decide. */
#ifndef TUNER_MODEL_STUDENT_H
#define TUNER_MODEL_STUDENT_H
#include <stddef.h>

struct student_interval {
	double mean, low, high; /* of log(a / b) */
};

/* count >= 1, all values > 0. The spread of log(a / b) is taken to be at least `spread_least`, because a few values may
 * agree by chance. The interval of a single pair is infinite. */
struct student_interval student_ratio(const double *a, const double *b, size_t count, double level,
                                      double spread_least);

/* Half the width of the interval of the mean of `count` >= 2 values with this standard deviation. */
double student_half(size_t count, double level, double spread);
#endif
