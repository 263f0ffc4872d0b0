/* SPDX-License-Identifier: BSD-3-Clause */
/* Order statistics of samples. No function changes its input; all give NAN for count 0. */
#ifndef BASE_STATS_H
#define BASE_STATS_H
#include <stddef.h>

int stats_order(const void *a, const void *b); /* of two doubles, for qsort */
double stats_median(const double *x, size_t count);
double stats_quantile(const double *x, size_t count, double p); /* linear interpolation, Hyndman and Fan type 7 */
double stats_min(const double *x, size_t count);
double stats_mean(const double *x, size_t count);
double stats_mad(const double *x, size_t count); /* median absolute deviation, scaled by 1.4826 */
/* Distribution-free interval of the median from order statistics (sign test), with at least `level` (0.95) coverage
 * if count allows it, else [min, max]. */
void stats_median_ci(const double *x, size_t count, double level, double ci[2]);
#endif
