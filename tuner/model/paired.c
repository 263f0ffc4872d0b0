/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/model/paired.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_sort.h>
#include <math.h>

#include "base/mem.h"
#include "tuner/model/robust.h"
#include "tuner/model/student.h"

/* EXACT_MAX: up to here the 2^n cases of the signed-rank distribution are whole numbers in a double; beyond it the
 * normal approximation is good. */
enum { SMALL = 6, EXACT_MAX = 50 };

/* ways[s]: the number of subsets of `rank` that sum to s, for s up to most (shift algorithm: Streitberg, Roehmel,
 * Exact distributions for permutation and rank tests, 1986). */
static void subsets_count(const size_t *rank, size_t n, size_t most, double *ways) {
	size_t top = 0;

	ways[0] = 1;
	for (size_t i = 0; i < n; i++) {
		top = top + rank[i] < most ? top + rank[i] : most;
		for (size_t s = top + 1; s-- > rank[i];)
			ways[s] += ways[s - rank[i]];
	}
}

/* Midranks of |x|, doubled so that they are whole numbers; x must be sorted by |x|. Returns their sum. */
static size_t midranks(const double *x, size_t n, size_t *rank) {
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && fabs(x[end]) == fabs(x[i]); end++)
			;
		for (size_t k = i; k < end; k++)
			rank[k] = i + end + 1;
	}
	return n * (n + 1);
}

/* Sums of even ranks, which those without ties are, are counted at half their size. */
static double tail_exact(size_t *rank, size_t n, size_t sum) {
	size_t odd = 0;

	for (size_t i = 0; i < n; i++)
		odd += rank[i] % 2;
	for (size_t i = 0; i < n && odd == 0; i++)
		rank[i] /= 2;
	if (odd == 0)
		sum /= 2;
	double *ways = mem_alloc(sum + 1, sizeof *ways), below = 0;
	subsets_count(rank, n, sum, ways);
	for (size_t s = 0; s <= sum; s++)
		below += ways[s];
	free(ways);
	return ldexp(below, -(int)n);
}

/* The normal approximation, with the variance reduced by ties and a continuity correction. */
static double tail_normal(const size_t *rank, size_t n, size_t total, size_t sum) {
	double squares = 0;

	for (size_t i = 0; i < n; i++)
		squares += (double)rank[i] * (double)rank[i];
	return gsl_cdf_ugaussian_P(((double)sum + 1 - (double)total / 2) / (sqrt(squares) / 2));
}

static int compare_magnitude(const void *a, const void *b) {
	double x = fabs(*(const double *)a), y = fabs(*(const double *)b);

	return (x > y) - (x < y);
}

/* Two-sided p of the signed-rank test (Wilcoxon, Individual comparisons by ranking methods, 1945) for a centre of 0:
 * zeros are dropped, ties get midranks. */
static double signed_rank_p(const double *sorted, size_t count) {
	double *x = mem_alloc(count, sizeof *x), p = 1;
	size_t *rank = mem_alloc(count, sizeof *rank), n = 0, sum = 0, total;

	for (size_t i = 0; i < count; i++)
		if (sorted[i] != 0)
			x[n++] = sorted[i];
	qsort(x, n, sizeof *x, compare_magnitude);
	total = midranks(x, n, rank);
	for (size_t i = 0; i < n; i++)
		sum += x[i] > 0 ? rank[i] : 0;
	if (sum > total - sum)
		sum = total - sum;
	if (n > 0)
		p = 2 * (n <= EXACT_MAX ? tail_exact(rank, n, sum) : tail_normal(rank, n, total, sum));
	free(x);
	free(rank);
	return p < 1 ? p : 1;
}

/* The sums x[i] + x[j], i <= j, on both sides of a number. */
struct sums {
	size_t at_most;      /* how many do not exceed it */
	double below, above; /* the largest of these, and the smallest of the others */
};

/* x ascending */
static struct sums sums_split(const double *x, size_t n, double at) {
	struct sums sums = {0, -INFINITY, INFINITY};
	size_t end = n;

	for (size_t i = 0; i < n; i++) {
		while (end > i && x[i] + x[end - 1] > at)
			end--;
		if (end < n)
			sums.above = fmin(sums.above, x[i] + x[end > i ? end : i]);
		if (end <= i)
			break; /* those of later rows are larger still */
		sums.at_most += end - i;
		sums.below = fmax(sums.below, x[i] + x[end - 1]);
	}
	return sums;
}

/* The k-th smallest Walsh average (x[i] + x[j]) / 2, counted from 1. Bisection avoids a list of n^2 of them; both ends
 * move on to the next of the sums, so that it takes few steps. */
static double walsh_select(const double *x, size_t n, size_t k) {
	double low = 2 * x[0], high = 2 * x[n - 1];

	while (low < high) {
		double middle = low + (high - low) / 2;
		struct sums sums = sums_split(x, n, middle < high ? middle : low);
		if (sums.at_most >= k)
			high = sums.below;
		else
			low = sums.above;
	}
	return high / 2;
}

/* The rank, counted from 1, of the Walsh average that bounds the interval below: the largest k with P(signed-rank sum <
 * k) <= tail. 0: there is no such interval. */
static size_t walsh_place(size_t n, double tail) {
	size_t rank[EXACT_MAX] = {0}, total = n * (n + 1) / 2, k = 0;
	double *ways, below = 0;

	if (n > EXACT_MAX) {
		double m = (double)n, deviation = sqrt(m * (m + 1) * (2 * m + 1) / 24);
		double place = floor((double)total / 2.0 + 0.5 + gsl_cdf_ugaussian_Pinv(tail) * deviation);

		return place > 0 ? (size_t)place : 0;
	}
	size_t most = total / 2; /* beyond it, more than half of the cases are below */
	ways = mem_alloc(most + 1, sizeof *ways);
	for (size_t i = 0; i < n; i++)
		rank[i] = i + 1;
	subsets_count(rank, n, most, ways);
	while (k <= most && ldexp(below + ways[k], -(int)n) <= tail)
		below += ways[k++];
	free(ways);
	return k;
}

struct paired paired_analyse(const double *a, const double *b, size_t count, double level) {
	struct paired paired = {.count = count};
	mem_auto double *x = mem_alloc(count, sizeof *x);
	size_t averages = count * (count + 1) / 2, place = count < SMALL ? 1 : walsh_place(count, (1 - level) / 2);

	if (place < 1)
		place = 1;
	for (size_t i = 0; i < count; i++)
		x[i] = log(a[i]) - log(b[i]);
	gsl_sort(x, 1, count);
	paired.p = signed_rank_p(x, count);
	paired.ratio = exp((walsh_select(x, count, (averages + 1) / 2) + walsh_select(x, count, averages / 2 + 1)) / 2);
	paired.ci[0] = exp(walsh_select(x, count, place));
	paired.ci[1] = exp(walsh_select(x, count, averages + 1 - place));
	return paired;
}

void paired_holm(const double *p, size_t count, double *adjusted) {
	mem_auto size_t *order = mem_alloc(count, sizeof *order);
	double running = 0;

	gsl_sort_index(order, p, 1, count);
	for (size_t i = 0; i < count; i++) {
		running = fmax(running, (double)(count - i) * p[order[i]]);
		adjusted[order[i]] = fmin(running, 1);
	}
}

enum paired_verdict paired_judge(const struct paired *paired, double margin) {
	if (paired->count == 0)
		return PAIRED_TIE;
	if (paired->ci[1] < 1 - margin)
		return PAIRED_FASTER;
	return paired->ci[0] > 1 + margin ? PAIRED_SLOWER : PAIRED_TIE;
}

const char *paired_verdict_word(enum paired_verdict verdict) {
	static const char *const words[] = {[PAIRED_FASTER] = "faster", [PAIRED_SLOWER] = "slower", [PAIRED_TIE] = "tie"};

	return words[verdict];
}

bool paired_is_vague(const struct paired *paired) {
	static const double VAGUE = 1.3;
	return !(paired->ci[0] >= 1 / VAGUE && paired->ci[1] <= VAGUE);
}

struct paired paired_told(struct paired paired) {
	static const double WIDEST = 7;
	if (paired.count == 0)
		return (struct paired){.ratio = 1, .ci = {1, 1}, .p = paired.p};
	paired.ci[0] = fmax(paired.ci[0], paired.ratio * exp(-WIDEST));
	paired.ci[1] = fmin(paired.ci[1], paired.ratio * exp(WIDEST));
	return paired;
}

const char *paired_said(enum paired_verdict verdict, const struct paired *paired) {
	return verdict == PAIRED_TIE && paired_is_vague(paired) ? "undecided" : paired_verdict_word(verdict);
}

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

static bool all_finite(const double *x, size_t count) {
	for (size_t i = 0; i < count; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

static bool is_sound(const struct robust *robust) {
	return all_finite(robust->coefficient, robust->columns) &&
	       all_finite(robust->covariance, robust->columns * robust->columns) &&
	       all_finite(robust->residual, robust->rows) && all_finite(robust->weight, robust->rows);
}

static int fit(struct robust *robust, const double *x, const double *y) {
	size_t rows = robust->rows, columns = robust->columns;
	gsl_multifit_robust_workspace *space = gsl_multifit_robust_alloc(gsl_multifit_robust_bisquare, rows, columns);
	gsl_matrix_const_view design = gsl_matrix_const_view_array(x, rows, columns);
	gsl_vector_const_view target = gsl_vector_const_view_array(y, rows);
	gsl_vector_view coefficient = gsl_vector_view_array(robust->coefficient, columns);
	gsl_matrix_view covariance = gsl_matrix_view_array(robust->covariance, columns, columns);
	int status = gsl_multifit_robust(&design.matrix, &target.vector, &coefficient.vector, &covariance.matrix, space);
	gsl_multifit_robust_stats stats = gsl_multifit_robust_statistics(space);
	if (status == GSL_SUCCESS || status == GSL_EMAXITER) { /* the last of many steps is good enough */
		memcpy(robust->residual, stats.r->data, rows * sizeof *robust->residual);
		memcpy(robust->weight, stats.weights->data, rows * sizeof *robust->weight);
		robust->sigma = stats.sigma;
		robust->r2 = stats.Rsq;
		status = GSL_SUCCESS;
	}
	gsl_multifit_robust_free(space);
	return status;
}

int robust_fit(struct robust *robust, const double *x, const double *y, size_t rows, size_t columns) {
	if (columns == 0 || rows <= columns || !all_finite(x, rows * columns) || !all_finite(y, rows))
		return -1;
	gsl_error_handler_t *handler = gsl_set_error_handler_off(); /* GSL's own handler aborts */
	*robust = (struct robust){.rows = rows, .columns = columns};
	robust->coefficient = mem_alloc(columns, sizeof *robust->coefficient);
	robust->covariance = mem_alloc(columns * columns, sizeof *robust->covariance);
	robust->residual = mem_alloc(rows, sizeof *robust->residual);
	robust->weight = mem_alloc(rows, sizeof *robust->weight);
	int status = fit(robust, x, y);
	gsl_set_error_handler(handler);
	if (status == GSL_SUCCESS && is_sound(robust))
		return 0;
	robust_clear(robust);
	return -1;
}

void robust_clear(struct robust *robust) {
	free(robust->coefficient);
	free(robust->covariance);
	free(robust->residual);
	free(robust->weight);
	*robust = (struct robust){0};
}
