/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/model/student.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

double student_half(size_t count, double level, double spread) {
	return gsl_cdf_tdist_Pinv(0.5 + 0.5 * level, (double)(count - 1)) * spread / sqrt((double)count);
}

struct student_interval student_ratio(const double *a, const double *b, size_t count, double level,
                                      double spread_least) {
	double mean = 0, squares = 0;
	for (size_t i = 0; i < count; i++)
		mean += log(a[i] / b[i]) / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += pow(log(a[i] / b[i]) - mean, 2);
	if (count < 2)
		return (struct student_interval){mean, -INFINITY, INFINITY};
	double spread = fmax(sqrt(squares / (double)(count - 1)), spread_least);
	double half = student_half(count, level, spread);
	return (struct student_interval){mean, mean - half, mean + half};
}
