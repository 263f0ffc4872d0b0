/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Midpoints: sizes between those that were tuned. A law over sizes that lie far apart says little about the gaps;
 * measuring the recommended configuration there costs a few trials and no search. */
#include <math.h>

#include "base/stats.h"
#include "tuner/sizes/impl.h"

/* Chooses the size to tune next. */
/* A threshold between sizes this close to each other is known well enough. */
static const double NEAR = 1.1;
enum {
	ENOUGH = 5 /* sizes, for a law that can be checked */,
	EXPECTED = 6 /* sizes, at the start of a search for thresholds */
};

static bool is_known(const struct sizes *sizes, double n) {
	for (size_t i = 0; i < sizes->failed_count; i++)
		if (sizes->failed[i] == n)
			return true;
	return sizes_is_tuned(sizes, n);
}

/* The roundest whole number near the geometric mean of a gap; NAN: there is none. */
/* The whole number near the geometric mean with the fewest significant binary digits, because real problem sizes tend
 * to be such numbers. */
static double sizes_round(double low, double high) {
	double middle = sqrt(low * high), spread = pow(high / low, 0.2);
	for (double step = exp2(floor(log2(middle))); step >= 1; step /= 2) {
		double n = step * round(middle / step);
		if (n > low && n < high && n >= middle / spread && n <= middle * spread)
			return n;
	}
	double n = round(middle);
	return n > low && n < high ? n : NAN;
}

static double round_real(double low, double high) {
	double middle = sqrt(low * high), step = pow(10, floor(log10(middle)) - 2), n = step * round(middle / step);
	return n > low && n < high ? n : middle;
}

/* NAN: there is no new size in it. */
static double between(const struct sizes *sizes, const struct sizes_plan *plan, double low, double high) {
	double n = plan->whole ? sizes_round(low, high) : round_real(low, high);
	return isnan(n) || is_known(sizes, n) ? NAN : n;
}

struct gap {
	double n, width; /* a size in the gap; high over low */
};

static void gap_widen(const struct sizes *sizes, const struct sizes_plan *plan, double low, double high,
                      struct gap *widest) {
	double n = high / low > NEAR && high / low > widest->width ? between(sizes, plan, low, high) : NAN;
	if (!isnan(n))
		*widest = (struct gap){.n = n, .width = high / low};
}

static size_t halvings(double width) {
	return width > NEAR ? (size_t)ceil(log2(log(width) / log(NEAR))) : 0;
}

/* Bisects the widest gap between neighbours with different configurations. Once those are narrow enough, bisects the
 * widest gap of all until there are enough sizes for a law. */
static double sample(const struct sizes *sizes, const struct sizes_plan *plan, size_t *expected) {
	struct sizes_range ranges[SIZES_RANGES_MAX];
	struct gap widest = {.n = NAN};
	size_t count = sizes_ranges(sizes, SIZE_MAX, ranges), few = sizes->count < ENOUGH ? ENOUGH - sizes->count : 0;
	*expected = 0;
	for (size_t i = 1; i < count; i++) {
		gap_widen(sizes, plan, ranges[i - 1].last, ranges[i].first, &widest);
		*expected += halvings(ranges[i].first / ranges[i - 1].last);
	}
	for (size_t i = 0; isnan(widest.n) && few && i + 1 < sizes->count; i++)
		gap_widen(sizes, plan, sizes->entries[i].point.n, sizes->entries[i + 1].point.n, &widest);
	if (*expected < few)
		*expected = few;
	return widest.n;
}

static double listed(const struct sizes *sizes, const struct sizes_plan *plan, size_t *expected) {
	double next = NAN;
	*expected = 0;
	for (size_t i = plan->count; i-- > 0;) {
		if (is_known(sizes, plan->list[i]))
			continue;
		next = plan->list[i];
		++*expected;
	}
	return next;
}

double sizes_next(const struct sizes *sizes, const struct sizes_plan *plan, size_t *expected) {
	if (sizes->count + sizes->failed_count >= SIZES_MAX)
		return NAN;
	if (plan->list)
		return listed(sizes, plan, expected);
	double middle = between(sizes, plan, plan->from, plan->to);
	const double begin[] = {plan->from, plan->to, sizes->count > 2 ? NAN : middle};
	for (size_t i = 0; i < sizeof begin / sizeof *begin; i++) {
		*expected = EXPECTED - i;
		if (!isnan(begin[i]) && !is_known(sizes, begin[i]))
			return begin[i];
	}
	return sample(sizes, plan, expected);
}

static const double WIDE = 1.5, WIDER = 1.25; /* a wider gap gets a midpoint; widen by this if there are too many */

bool sizes_is_whole(const struct sizes *sizes) {
	for (size_t i = 0; i < sizes->count; i++)
		if (sizes->entries[i].point.n != floor(sizes->entries[i].point.n))
			return false;
	return true;
}

static size_t parts_of(double low, double high, double wide) {
	return high > low * wide ? (size_t)ceil(log(high / low) / log(wide)) : 1;
}

static double narrowest(const struct sizes *sizes) {
	double wide = WIDE;
	for (size_t count = SIZES_MIDPOINTS_MAX + 1; count > SIZES_MIDPOINTS_MAX; wide *= WIDER) {
		count = 0;
		for (size_t i = 0; i + 1 < sizes->count; i++)
			count += parts_of(sizes->entries[i].point.n, sizes->entries[i + 1].point.n, wide) - 1;
		if (count <= SIZES_MIDPOINTS_MAX)
			break;
	}
	return wide;
}

size_t sizes_midpoints_plan(const struct sizes *sizes, struct sizes_midpoint *midpoints) {
	struct sizes_range ranges[SIZES_RANGES_MAX];
	size_t range_count = sizes_ranges(sizes, SIZE_MAX, ranges), count = 0;
	bool whole = sizes_is_whole(sizes);
	double wide = sizes->count ? narrowest(sizes) : WIDE;
	for (size_t i = 0; i + 1 < sizes->count; i++) {
		double low = sizes->entries[i].point.n, high = sizes->entries[i + 1].point.n;
		size_t parts = parts_of(low, high, wide);
		for (size_t k = 1; k < parts; k++) {
			double n = low * pow(high / low, (double)k / (double)parts),
				   step = sqrt(pow(high / low, 1 / (double)parts));
			n = whole ? sizes_round(n / step, n * step) : n;
			if (isnan(n) || !(n > low && n < high) || (count && n <= midpoints[count - 1].n))
				continue;
			midpoints[count++] = (struct sizes_midpoint){.n = n,
			                                             .cost = NAN,
			                                             .config = sizes_range_of(ranges, range_count, n)->config,
			                                             .near = i,
			                                             .search = sizes->entries[i].point.search};
		}
	}
	return count;
}

bool sizes_midpoint_add(struct sizes *sizes, double n, const json_t *config, double cost) {
	size_t i = 0;
	if (sizes_is_tuned(sizes, n))
		return false;
	while (i < sizes->midpoint_count && sizes->midpoints[i].n != n)
		i++;
	if (i == SIZES_MIDPOINTS_MAX || !(cost > 0) || !isfinite(cost) || !(n > 0) || !isfinite(n))
		return false;
	json_incref((json_t *)config);
	if (i < sizes->midpoint_count)
		json_decref((json_t *)sizes->midpoints[i].config);
	else
		sizes->midpoint_count++;
	sizes->midpoints[i] = (struct sizes_midpoint){.n = n, .cost = cost, .config = config};
	return true;
}

size_t sizes_midpoint_count(const struct sizes *sizes) {
	return sizes->midpoint_count;
}

void sizes_midpoint_record(struct sizes *sizes, double n, const json_t *config, const double *cost, size_t count) {
	if (count >= SIZES_ROUNDS_MIN)
		sizes_midpoint_add(sizes, n, config, stats_median(cost, count));
}
