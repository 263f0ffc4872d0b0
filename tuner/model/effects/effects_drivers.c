/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/stats.h"
#include "tuner/model/effects/effects_impl.h"
#include "tuner/model/paired.h"
#include "tuner/model/robust.h"

/* The robust regression of log time on groups of counters, and its check by ranks (drivers.h). */
static const double SIGNIFICANT = 0.05;

/* The unit of a column: the median absolute deviation, or the standard deviation if most values are equal. */
static double deviation_of(const double *x, size_t count) {
	double mean = stats_mean(x, count), square = 0, mad = stats_mad(x, count);
	for (size_t i = 0; i < count; i++)
		square += (x[i] - mean) * (x[i] - mean) / (double)count;
	double deviation = mad > 0.05 * sqrt(square) ? mad : sqrt(square);
	return deviation > 0 ? deviation : 1;
}

/* Ties share their mean rank. */
static void rank(const double *x, size_t count, double *to, size_t step) {
	mem_auto size_t *order = mem_alloc(count, sizeof *order);
	gsl_sort_index(order, x, 1, count);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && x[order[end]] == x[order[i]]; end++)
			;
		for (size_t k = i; k < end; k++)
			to[order[k] * step] = 0.5 * (double)(i + end - 1);
	}
}

static void standardise(const double *x, size_t count, double *to, size_t step) {
	double middle = stats_median(x, count), deviation = deviation_of(x, count);
	for (size_t i = 0; i < count; i++)
		to[i * step] = (x[i] - middle) / deviation;
}

/* Regresses the time on a constant and the groups from `first` on, all transformed. */
static int drivers_fit_regress(struct robust *robust, const struct drivers *drivers, const struct drivers_clean *clean,
                               size_t first, size_t count,
                               void (*transform)(const double *, size_t, double *, size_t)) {
	size_t rows = clean->rows, columns = count + 1;
	mem_auto double *x = mem_alloc(rows * columns, sizeof *x), *y = mem_alloc(rows, sizeof *y);
	for (size_t i = 0; i < rows; i++)
		x[i * columns] = 1;
	for (size_t g = 0; g < count; g++)
		transform(clean->x + drivers->driver[first + g].representative * rows, rows, x + g + 1, columns);
	transform(clean->y, rows, y, 1);
	return robust_fit(robust, x, y, rows, columns);
}

static double error_of(const struct robust *robust, size_t at) {
	return sqrt(fmax(robust->covariance[at * robust->columns + at], 0));
}

static double p_of(const struct robust *robust, size_t at) {
	double error = error_of(robust, at), freedom = (double)(robust->rows - robust->columns);
	return error > 0 ? 2 * gsl_cdf_tdist_Q(fabs(robust->coefficient[at]) / error, freedom) : 1;
}

static void driver_set(struct driver *driver, const struct drivers_clean *clean, const struct robust *robust,
                       size_t at) {
	double reach = gsl_cdf_tdist_Qinv(0.025, (double)(robust->rows - robust->columns)) * error_of(robust, at);
	double own = deviation_of(clean->x + driver->representative * clean->rows, clean->rows);
	driver->coefficient = robust->coefficient[at];
	driver->ci[0] = driver->coefficient - reach;
	driver->ci[1] = driver->coefficient + reach;
	driver->slope = driver->coefficient * deviation_of(clean->y, clean->rows) / own;
	driver->p = p_of(robust, at);
}

/* Fits the groups from `first` on in one regression. The same regression on ranks (Conover and Iman, Rank
 * transformations as a bridge between parametric and nonparametric statistics, 1981) has to agree, because far-out
 * counters cannot bend it; the bisquare only guards against far-out times. */
static int fit(struct drivers *drivers, const struct drivers_clean *clean, size_t first, size_t count) {
	struct robust robust, ranks;
	if (drivers_fit_regress(&robust, drivers, clean, first, count, standardise))
		return -1;
	bool ranked = drivers_fit_regress(&ranks, drivers, clean, first, count, rank) == 0;
	for (size_t g = 0; g < count; g++) {
		struct driver *driver = &drivers->driver[first + g];
		driver_set(driver, clean, &robust, g + 1);
		driver->p = ranked ? fmax(driver->p, p_of(&ranks, g + 1)) : 1;
	}
	drivers->r2 = robust.r2;
	robust_clear(&robust);
	if (ranked)
		robust_clear(&ranks);
	return 0;
}

static void adjust(struct drivers *drivers) {
	mem_auto double *p = mem_alloc(drivers->count, sizeof *p), *adjusted = mem_alloc(drivers->count, sizeof *adjusted);
	for (size_t g = 0; g < drivers->count; g++)
		p[g] = drivers->driver[g].p;
	paired_holm(p, drivers->count, adjusted);
	for (size_t g = 0; g < drivers->count; g++) {
		drivers->driver[g].adjusted = adjusted[g];
		drivers->driver[g].significant = adjusted[g] < SIGNIFICANT;
	}
}

/* Sets the coefficients and p of the groups. */
static int drivers_fit(struct drivers *drivers, const struct drivers_clean *clean) {
	bool joint = drivers->method == DRIVERS_JOINT;
	int failed = joint ? fit(drivers, clean, 0, drivers->count) : 0;
	for (size_t g = 0; !joint && g < drivers->count; g++)
		failed |= fit(drivers, clean, g, 1);
	if (failed)
		return -1;
	drivers->r2 = joint ? drivers->r2 : NAN;
	adjust(drivers);
	return 0;
}

static const double MISSING_MAX = 0.2, ZERO_MAX = 0.5;
static const double VARIES = 1e-6; /* smallest range of the logarithm */

/* The time and a counter of a row, per unit of work; NAN if it is missing. */
static double drivers_time(const struct drivers_data *data, size_t row) {
	return data->time[row] / (data->work ? data->work[row] : 1);
}

static double drivers_value(const struct drivers_data *data, size_t row, size_t counter) {
	double value = data->counter[row * data->counters + counter] / (data->work ? data->work[row] : 1);
	return isfinite(value) ? value : NAN;
}

struct seen {
	size_t rows, missing, zero, negative;
	double least, most; /* of the positive values */
};

static bool counts(const struct drivers_data *data, bool pair, size_t row) {
	return !pair || row == (size_t)data->winner || row == (size_t)data->baseline;
}

static struct seen look(const struct drivers_data *data, bool pair, size_t counter) {
	struct seen seen = {.least = INFINITY, .most = 0};
	for (size_t row = 0; row < data->rows; row++) {
		double value = drivers_value(data, row, counter);
		if (!counts(data, pair, row))
			continue;
		seen.rows++;
		seen.missing += isnan(value);
		seen.zero += value == 0;
		seen.negative += value < 0;
		seen.least = value > 0 ? fmin(seen.least, value) : seen.least;
		seen.most = value > 0 ? fmax(seen.most, value) : seen.most;
	}
	return seen;
}

static enum drivers_fate fate_of(const struct seen *seen, bool pair) {
	if ((double)seen->missing > (pair ? 0 : MISSING_MAX) * (double)seen->rows)
		return DRIVERS_MISSING;
	if (seen->negative)
		return DRIVERS_NEGATIVE;
	if ((double)seen->zero > ZERO_MAX * (double)(seen->rows - seen->missing))
		return DRIVERS_ZERO;
	if (seen->zero == 0 && log(seen->most / seen->least) < VARIES)
		return DRIVERS_CONSTANT;
	return DRIVERS_KEPT;
}

static bool is_complete(const struct drivers_data *data, const struct drivers_clean *clean, size_t row) {
	for (size_t k = 0; k < clean->counters; k++)
		if (isnan(drivers_value(data, row, clean->counter[k])))
			return false;
	return true;
}

static void fill(struct drivers_clean *clean, const struct drivers_data *data, size_t k, double zero) {
	for (size_t i = 0; i < clean->rows; i++) {
		double value = drivers_value(data, clean->row[i], clean->counter[k]);
		clean->x[k * clean->rows + i] = log(value > 0 ? value : zero);
	}
}

/* Pair: keeps only the rows of winner and baseline, and the counters that have a value in both. Sets the fates. */
static void drivers_clean_make(struct drivers_clean *clean, const struct drivers_data *data, bool pair,
                               enum drivers_fate *fate) {
	*clean = (struct drivers_clean){.row = mem_alloc(data->rows, sizeof *clean->row),
	                                .counter = mem_alloc(data->counters + 1, sizeof *clean->counter)};
	mem_auto double *zero = mem_alloc(data->counters + 1, sizeof *zero);
	for (size_t c = 0; c < data->counters; c++) {
		struct seen seen = look(data, pair, c);
		fate[c] = fate_of(&seen, pair);
		zero[clean->counters] = seen.least / 2;
		if (fate[c] == DRIVERS_KEPT)
			clean->counter[clean->counters++] = c;
	}
	for (size_t row = 0; row < data->rows; row++)
		if (counts(data, pair, row) && is_complete(data, clean, row))
			clean->row[clean->rows++] = row;
	clean->x = mem_alloc(clean->rows * clean->counters + 1, sizeof *clean->x);
	clean->y = mem_alloc(clean->rows + 1, sizeof *clean->y);
	for (size_t k = 0; k < clean->counters; k++)
		fill(clean, data, k, zero[k]);
	for (size_t i = 0; i < clean->rows; i++)
		clean->y[i] = log(drivers_time(data, clean->row[i]));
}

static void drivers_clean_clear(struct drivers_clean *clean) {
	free(clean->row);
	free(clean->counter);
	free(clean->x);
	free(clean->y);
}

/* Groups counters that say the same by complete linkage: joins the two groups whose least similar members are the most
 * similar, so that all members of a group resemble each other. */

static const double ALIKE = 0.9;

/* |Spearman's rho|, counters x counters */
static double *alike_new(const struct drivers_clean *clean) {
	size_t n = clean->counters, rows = clean->rows;
	double *alike = mem_alloc(n * n + 1, sizeof *alike), *work = mem_alloc(2 * rows + 1, sizeof *work);
	for (size_t a = 0; a < n; a++)
		for (size_t b = 0; b <= a; b++) {
			double rho = gsl_stats_spearman(clean->x + a * rows, 1, clean->x + b * rows, 1, rows, work);
			alike[a * n + b] = alike[b * n + a] = a == b ? 1 : isfinite(rho) ? fabs(rho) : 0;
		}
	free(work);
	return alike;
}

/* Finds the two most similar groups, a < b, and returns their similarity. */
static double closest(const double *alike, const size_t *group, size_t n, size_t pair[2]) {
	double best = -1;
	for (size_t a = 0; a < n; a++)
		for (size_t b = a + 1; b < n; b++)
			if (group[a] == a && group[b] == b && alike[a * n + b] > best) {
				best = alike[a * n + b];
				pair[0] = a;
				pair[1] = b;
			}
	return best;
}

/* group[c]: the first counter of its group, whose row of `alike` becomes that of the group. */
static void join(double *alike, size_t *group, size_t n) {
	size_t pair[2];
	for (size_t c = 0; c < n; c++)
		group[c] = c;
	while (closest(alike, group, n, pair) >= ALIKE) {
		for (size_t c = 0; c < n; c++) {
			double least = fmin(alike[pair[0] * n + c], alike[pair[1] * n + c]);
			alike[pair[0] * n + c] = alike[c * n + pair[0]] = least;
			group[c] = group[c] == pair[1] ? pair[0] : group[c];
		}
	}
}

/* Moves the member to the front that is most similar to the others. */
static void lead(size_t *members, size_t count, const double *alike, size_t n) {
	size_t best = 0;
	double most = -1;
	for (size_t i = 0; i < count; i++) {
		double sum = 0;
		for (size_t k = 0; k < count; k++)
			sum += alike[members[i] * n + members[k]];
		if (sum > most + 1e-9) {
			most = sum;
			best = i;
		}
	}
	size_t leader = members[best];
	for (; best > 0; best--)
		members[best] = members[best - 1];
	members[0] = leader;
}

/* Sets count and the members of driver[], which are indexes of `clean`. */
static void drivers_group(struct drivers *drivers, const struct drivers_clean *clean) {
	size_t n = clean->counters, used = 0, *group = mem_alloc(n + 1, sizeof *group);
	double *alike = alike_new(clean), *joined = alike_new(clean);
	join(joined, group, n);
	drivers->driver = mem_alloc(n + 1, sizeof *drivers->driver);
	drivers->members = mem_alloc(n + 1, sizeof *drivers->members);
	for (size_t g = 0; g < n; g++) {
		size_t *members = drivers->members + used, count = 0;
		for (size_t c = g; c < n; c++)
			if (group[c] == g)
				members[count++] = c;
		if (count == 0)
			continue;
		lead(members, count, alike, n);
		drivers->driver[drivers->count++] =
			(struct driver){.representative = members[0], .members = members, .count = count};
		used += count;
	}
	free(joined);
	free(alike);
	free(group);
}

enum { ROWS_MIN = 8, ROWS_PER_GROUP = 3, COUNTERS_MAX = 4096 };
static const double TIME_RATIO_MIN = 0.05; /* of its logarithm; there is nothing to explain below */

static bool is_row(const struct drivers_data *data, long row) {
	return row == DRIVERS_NONE || (row >= 0 && (size_t)row < data->rows);
}

static bool is_good(const struct drivers_data *data) {
	for (size_t row = 0; row < data->rows; row++) {
		double work = data->work ? data->work[row] : 1;
		if (!(data->time[row] > 0) || !isfinite(data->time[row]) || !(work > 0) || !isfinite(work))
			return false;
	}
	return data->counters <= COUNTERS_MAX && is_row(data, data->winner) && is_row(data, data->baseline);
}

static bool has_pair(const struct drivers_data *data) {
	return data->winner != DRIVERS_NONE && data->baseline != DRIVERS_NONE && data->winner != data->baseline;
}

static double ratio_of(const struct drivers_data *data, size_t counter) {
	double above = drivers_value(data, (size_t)data->winner, counter);
	double below = drivers_value(data, (size_t)data->baseline, counter);
	return above == below ? 1 : above / below; /* both may be 0 */
}

/* time ~ counter^slope, so a counter that changed by `ratio` explains this share of the logarithm of the time's ratio.
 * Shares of logarithms add up to 1, shares of seconds do not. */
static double share_of(double slope, double ratio, double time_ratio) {
	bool known = fabs(log(time_ratio)) >= TIME_RATIO_MIN && ratio > 0 && isfinite(ratio);
	return known ? slope * log(ratio) / log(time_ratio) : NAN;
}

static void share_set(struct driver *driver, double time_ratio) {
	double scale = driver->coefficient != 0 ? driver->slope / driver->coefficient : 0;
	double a = share_of(driver->ci[0] * scale, driver->ratio, time_ratio);
	double b = share_of(driver->ci[1] * scale, driver->ratio, time_ratio);
	driver->share = share_of(driver->slope, driver->ratio, time_ratio);
	driver->share_ci[0] = fmin(a, b);
	driver->share_ci[1] = fmax(a, b);
}

/* Translates indexes among the kept counters to the caller's. */
static void name_all(struct drivers *drivers, const struct drivers_clean *clean) {
	for (size_t k = 0; k < clean->counters; k++)
		drivers->members[k] = clean->counter[drivers->members[k]];
	for (size_t g = 0; g < drivers->count; g++)
		drivers->driver[g].representative = drivers->driver[g].members[0];
}

static void shares_set(struct drivers *drivers, const struct drivers_data *data) {
	bool pair = has_pair(data), whole = drivers->method == DRIVERS_JOINT;
	double explained = 0;
	for (size_t g = 0; g < drivers->count; g++) {
		struct driver *driver = &drivers->driver[g];
		driver->ratio = pair ? ratio_of(data, driver->representative) : NAN;
		share_set(driver, drivers->time_ratio);
		explained += driver->significant ? driver->share : 0;
	}
	drivers->unexplained = whole && fabs(log(drivers->time_ratio)) >= TIME_RATIO_MIN ? 1 - explained : NAN;
}

static int by_p(const void *a, const void *b) {
	const struct driver *x = a, *y = b;
	if (x->p != y->p)
		return (x->p > y->p) - (x->p < y->p);
	double u = fabs(x->coefficient), v = fabs(y->coefficient);
	return u != v ? (u < v) - (u > v)
	              : (x->representative > y->representative) - (x->representative < y->representative);
}

static int by_ratio(const void *a, const void *b) {
	const struct driver *x = a, *y = b;
	double u = fabs(log(x->ratio)), v = fabs(log(y->ratio));
	return u != v ? (u < v) - (u > v)
	              : (x->representative > y->representative) - (x->representative < y->representative);
}

/* Counters that vary together cannot be told apart, so a group of them has one coefficient. With fewer than three rows
 * per group a joint fit would follow the noise; each group is then fitted by itself. Shares found that way overlap, so
 * they leave no unexplained rest that could be given. */
static int regress(struct drivers *drivers, const struct drivers_data *data, const struct drivers_clean *clean) {
	drivers_group(drivers, clean);
	drivers->method = clean->rows >= ROWS_PER_GROUP * drivers->count ? DRIVERS_JOINT : DRIVERS_ONE_BY_ONE;
	if (drivers->method == DRIVERS_ONE_BY_ONE)
		snprintf(drivers->reason, DRIVERS_REASON, "%zu rows are too few for %zu groups of counters together",
		         clean->rows, drivers->count);
	if (drivers_fit(drivers, clean)) {
		snprintf(drivers->reason, DRIVERS_REASON,
		         "the regression of %zu rows on %zu groups of counters cannot be solved", clean->rows, drivers->count);
		return -1;
	}
	name_all(drivers, clean);
	shares_set(drivers, data);
	qsort(drivers->driver, drivers->count, sizeof *drivers->driver, by_p);
	return 0;
}

/* Each counter is a group of its own. */
static int compare(struct drivers *drivers, const struct drivers_data *data, const struct drivers_clean *clean) {
	drivers->driver = mem_alloc(clean->counters + 1, sizeof *drivers->driver);
	drivers->members = mem_alloc(clean->counters + 1, sizeof *drivers->members);
	for (size_t k = 0; k < clean->counters; k++) {
		size_t *member = &drivers->members[k];
		*member = clean->counter[k];
		drivers->driver[k] = (struct driver){.representative = *member,
		                                     .members = member,
		                                     .count = 1,
		                                     .coefficient = NAN,
		                                     .slope = NAN,
		                                     .ci = {NAN, NAN},
		                                     .p = NAN,
		                                     .adjusted = NAN,
		                                     .ratio = ratio_of(data, *member),
		                                     .share = NAN,
		                                     .share_ci = {NAN, NAN}};
	}
	drivers->count = clean->counters;
	qsort(drivers->driver, drivers->count, sizeof *drivers->driver, by_ratio);
	return 0;
}

/* With too few rows for a regression, ratios are all there is. */
static int fall_back(struct drivers *drivers, const struct drivers_data *data, struct drivers_clean *clean) {
	drivers->method = DRIVERS_RATIOS;
	snprintf(drivers->reason, DRIVERS_REASON,
	         "%zu rows have all counters; at least %d are needed to tell which counters go with the time, because "
	         "ratios alone do not",
	         clean->rows, ROWS_MIN);
	if (!has_pair(data))
		return -1;
	drivers_clean_clear(clean);
	drivers_clean_make(clean, data, true, drivers->fate);
	drivers->rows = clean->rows;
	return clean->counters ? compare(drivers, data, clean) : -1;
}

int drivers_make(struct drivers *drivers, const struct drivers_data *data) {
	struct drivers_clean clean;
	*drivers = (struct drivers){.r2 = NAN, .time_ratio = NAN, .unexplained = NAN};
	if (!is_good(data)) {
		snprintf(drivers->reason, DRIVERS_REASON, "a time, an amount of work or a row is out of range");
		return -1;
	}
	drivers->fate = mem_alloc(data->counters + 1, sizeof *drivers->fate);
	if (has_pair(data))
		drivers->time_ratio = drivers_time(data, (size_t)data->winner) / drivers_time(data, (size_t)data->baseline);
	drivers_clean_make(&clean, data, false, drivers->fate);
	drivers->rows = clean.rows;
	int status = -1;
	if (clean.rows < ROWS_MIN)
		status = fall_back(drivers, data, &clean);
	else if (clean.counters == 0)
		snprintf(drivers->reason, DRIVERS_REASON, "every counter is missing in too many rows, constant, or mostly 0");
	else
		status = regress(drivers, data, &clean);
	drivers_clean_clear(&clean);
	return status;
}

void drivers_clear(struct drivers *drivers) {
	free(drivers->driver);
	free(drivers->fate);
	free(drivers->members);
	drivers->driver = NULL;
	drivers->fate = NULL;
	drivers->members = NULL;
}
