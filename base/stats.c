/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/stats.h"

#include <math.h>

#include "base/mem.h"

/* NaN goes to the end, so that the order is total. */
int stats_order(const void *left, const void *right) {
	double a = *(const double *)left, b = *(const double *)right;
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a > b) - (a < b);
}

static double *sorted_copy(const double *x, size_t count) {
	double *copy = mem_alloc(count, sizeof(*copy));
	memcpy(copy, x, count * sizeof(*copy));
	qsort(copy, count, sizeof(*copy), stats_order);
	return copy;
}

static double quantile_at(size_t count, double p) {
	return (double)(count - 1) * (p < 0 ? 0 : p > 1 ? 1 : p);
}

/* Interpolates between two samples: the one at the place, and the next. */
static double sorted_quantile(const double *sorted, size_t count, double p) {
	double place = quantile_at(count, p);
	size_t low = (size_t)place;
	double part = place - (double)low;
	if (part <= 0 || low + 1 >= count || sorted[low] == sorted[low + 1])
		return sorted[low];
	/* Unlike low + part * (high - low) this cannot overflow; it may leave the interval by a rounding error. */
	return fmin(fmax(sorted[low] * (1 - part) + sorted[low + 1] * part, sorted[low]), sorted[low + 1]);
}

/* Moves the `wanted`-th smallest to its place, with nothing larger before it (Hoare, Algorithm 65: Find, 1961). If
 * many rounds have not narrowed the range, the rest is sorted, which bounds the time. */
static void select_place(double *x, size_t count, size_t wanted) {
	enum { FEW = 16, ROUNDS = 40 };
	ptrdiff_t low = 0, high = (ptrdiff_t)count - 1, place = (ptrdiff_t)wanted;
	for (int round = 0; high - low >= FEW && round < ROUNDS; round++) {
		ptrdiff_t i = low, j = high;
		for (double pivot = x[low + (high - low) / 2]; i <= j;) {
			while (stats_order(&x[i], &pivot) < 0)
				i++;
			while (stats_order(&pivot, &x[j]) < 0)
				j--;
			if (i > j)
				break;
			double swap = x[i];
			x[i++] = x[j];
			x[j--] = swap;
		}
		low = place >= i ? i : place > j ? place : low;
		high = place <= j ? j : place < i ? place : high;
	}
	qsort(x + low, (size_t)(high - low + 1), sizeof *x, stats_order);
}

double stats_quantile(const double *x, size_t count, double p) {
	if (count == 0 || isnan(p))
		return NAN;
	mem_auto double *copy = mem_alloc(count, sizeof *copy);
	memcpy(copy, x, count * sizeof *copy);
	size_t low = (size_t)quantile_at(count, p), high = low + 1;
	select_place(copy, count, low);
	for (size_t i = high + 1; i < count; i++)
		if (stats_order(&copy[i], &copy[high]) < 0)
			copy[high] = copy[i];
	return sorted_quantile(copy, count, p);
}

double stats_median(const double *x, size_t count) {
	return stats_quantile(x, count, 0.5);
}

double stats_min(const double *x, size_t count) {
	double least = count ? x[0] : NAN;
	for (size_t i = 1; i < count; i++)
		if (stats_order(&x[i], &least) < 0)
			least = x[i];
	return least;
}

double stats_mean(const double *x, size_t count) {
	long double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += x[i];
	return count ? (double)(sum / count) : NAN;
}

double stats_mad(const double *x, size_t count) {
	if (count == 0)
		return NAN;
	mem_auto double *away = mem_alloc(count, sizeof(*away));
	double median = stats_median(x, count);
	for (size_t i = 0; i < count; i++)
		away[i] = fabs(x[i] - median);
	return 1.4826 * stats_median(away, count);
}

/* The largest k for which P(B <= k - 1) <= alpha / 2 with B binomial(count, 1/2): the interval from the k-th
 * smallest to the k-th largest sample then misses the median with probability alpha at most. 0 if even k = 1 is too
 * large. */
static size_t sign_rank(size_t count, double level) {
	double log_p = -(double)count * log(2), below = 0, allowed = (1 - level) / 2 * (1 + 1e-12);
	size_t k = 0;
	while (k < (count + 1) / 2) {
		below += exp(log_p);
		if (below > allowed)
			break;
		log_p += log((double)(count - k) / (double)(k + 1));
		k++;
	}
	return k;
}

void stats_median_ci(const double *x, size_t count, double level, double ci[2]) {
	ci[0] = ci[1] = NAN;
	if (count == 0)
		return;
	mem_auto double *sorted = sorted_copy(x, count);
	size_t k = sign_rank(count, level);
	ci[0] = sorted[k ? k - 1 : 0];
	ci[1] = sorted[k ? count - k : count - 1];
}
