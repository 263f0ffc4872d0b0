/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tunes size after size. The comparisons that decide where two ranges meet are made as soon as both neighbours are
 * known, because the next size to tune depends on them. */
#include <math.h>

#include "tuner/race/numbers.h"
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

/* The next size to tune and how many more to expect, itself included; NAN: none. */
static double sizes_next(const struct sizes *sizes, const struct sizes_plan *plan, size_t *expected) {
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

size_t sizes_midpoint_count(const struct sizes *sizes) {
	return sizes->midpoint_count;
}

/* Measures all points and midpoints in rounds, alternately upwards and downwards, so that a slow drift of the machine
 * affects all sizes alike and not the law over them. */
enum { STATIONS_MAX = SIZES_MAX + SIZES_MIDPOINTS_MAX };

struct station { /* a point if midpoint is NULL */
	size_t point;
	const struct sizes_midpoint *midpoint;
	double cost[SIZES_ROUNDS];
	size_t count;
	bool closed; /* the recommended configuration is invalid there */
};

static size_t stations_make(const struct sizes *sizes, const struct sizes_midpoint *midpoints, size_t midpoint_count,
                            struct station *stations) {
	size_t count = 0, midpoint = 0;
	for (size_t i = 0; i < sizes->count; i++) {
		stations[count++] = (struct station){.point = i};
		for (; midpoint < midpoint_count && midpoints[midpoint].near == i; midpoint++)
			stations[count++] = (struct station){.midpoint = &midpoints[midpoint]};
	}
	return count;
}

/* Returns 0, 1 if the budget allows no more, -1 with err. */
static int visit(const struct sizes *sizes, const struct sizes_bench *bench, struct station *station, int round,
                 struct err *err) {
	double one = NAN;
	int answer;
	if (station->midpoint) {
		answer = bench->between(bench->ctx, station->midpoint, round, &one, err);
		station->closed = answer > 0;
		answer = answer < 0 ? -1 : 0;
	} else {
		answer = bench->again(bench->ctx, sizes_point(sizes, station->point), round, &one, err);
	}
	if (answer == 0 && one > 0 && !station->closed)
		station->cost[station->count++] = one;
	return answer;
}

static void cost_record(struct sizes *sizes, const struct station *station) {
	if (station->midpoint)
		sizes_midpoint_record(sizes, station->midpoint->n, station->midpoint->config, station->cost, station->count);
	else
		sizes_rounds_record(sizes, station->point, station->cost, station->count);
}

/* Measures points and midpoints in rounds. */
static int sizes_rounds(struct sizes *sizes, const struct sizes_bench *bench, struct err *err) {
	struct sizes_midpoint midpoints[SIZES_MIDPOINTS_MAX];
	struct station stations[STATIONS_MAX];
	if (!bench->again)
		return 0;
	size_t count =
		stations_make(sizes, midpoints, bench->between ? sizes_midpoints_plan(sizes, midpoints) : 0, stations);
	int answer = 0;
	for (int round = 0; round < SIZES_ROUNDS && answer == 0; round++) {
		for (size_t i = 0; i < count && answer == 0; i++) {
			struct station *station = &stations[round % 2 ? count - 1 - i : i];
			if (!station->closed)
				answer = visit(sizes, bench, station, round, err);
		}
	}
	for (size_t i = 0; i < count; i++)
		cost_record(sizes, &stations[i]);
	return answer < 0 ? -1 : 0;
}

/* A configuration that separate trials show to be this much slower needs no pairs: noise cannot explain it. */
static const double FAR = 1.3;

enum answer { DONE, SKIPPED, SPENT };

struct explorer {
	struct sizes *sizes;
	const struct sizes_bench *bench;
	bool changed, spent; /* a ratio became known; the budget allows no more comparisons */
};

/* Measures the ratio of a configuration at a point, unless pairs have shown it already. */
static int compare(struct explorer *explorer, size_t at, const json_t *config, struct err *err) {
	const struct sizes_point *point = sizes_point(explorer->sizes, at);
	size_t pairs;
	double ratio = sizes_ratio(explorer->sizes, at, config, &pairs);
	if (explorer->spent || pairs >= RACE_PAIRS_OF_RATIO || ratio > FAR)
		return 0;
	int answer = explorer->bench->compare(explorer->bench->ctx, point, config, &ratio, &pairs, err);
	if (answer < 0)
		return -1;
	explorer->spent = answer != DONE;
	if (answer == DONE) { /* a failure stays known, however few pairs there were */
		sizes_ratio_set(explorer->sizes, at, config, isnan(ratio) ? INFINITY : ratio,
		                pairs > RACE_PAIRS_OF_RATIO ? pairs : RACE_PAIRS_OF_RATIO);
		explorer->changed = true;
	}
	return 0;
}

/* Compares each point with the best of its neighbours, and with the configurations that their ranges use now. */
static int neighbours_compare(struct explorer *explorer, struct err *err) {
	struct sizes *sizes = explorer->sizes;
	struct sizes_range ranges[SIZES_RANGES_MAX];
	size_t count = sizes_ranges(sizes, SIZE_MAX, ranges);
	for (size_t i = 0; i < sizes_count(sizes); i++) {
		for (int side = -1; side <= 1; side += 2) {
			const struct sizes_point *other = sizes_point(sizes, side < 0 ? i - 1 : i + 1);
			if ((side < 0 && i == 0) || !other)
				continue;
			if (compare(explorer, i, other->config, err) ||
			    compare(explorer, i, sizes_range_of(ranges, count, other->n)->config, err))
				return -1;
		}
	}
	return 0;
}

/* If a size is left out, the ranges on both sides of it meet, and the ratio of each configuration on the other side
 * tells where. Midpoint races tell that better if there are any. */
static int gap_compare(struct explorer *explorer, size_t without, struct err *err) {
	struct sizes *sizes = explorer->sizes;
	struct sizes_range ranges[SIZES_RANGES_MAX];
	const struct sizes_point *right = sizes_point(sizes, without + 1);
	if (without == 0 || !right || sizes->midpoint_race_count)
		return 0;
	size_t count = sizes_ranges(sizes, without, ranges);
	const json_t *low = sizes_range_of(ranges, count, sizes_point(sizes, without - 1)->n)->config;
	const json_t *high = sizes_range_of(ranges, count, right->n)->config;
	return compare(explorer, without - 1, high, err) || compare(explorer, without + 1, low, err) ? -1 : 0;
}

/* Compares each point with the configuration that the other points would have recommended for it. */
static int checks_compare(struct explorer *explorer, struct err *err) {
	struct sizes *sizes = explorer->sizes;
	struct sizes_range ranges[SIZES_RANGES_MAX];
	for (size_t i = 0; i < sizes_count(sizes) && sizes_count(sizes) > 1; i++) {
		if (gap_compare(explorer, i, err))
			return -1;
		size_t count = sizes_ranges(sizes, i, ranges);
		const struct sizes_range *range = sizes_range_of(ranges, count, sizes_point(sizes, i)->n);
		if (compare(explorer, i, range->config, err))
			return -1;
	}
	return 0;
}

/* Repeats a step until no unknown ratio could change the ranges any more. Each pass makes at least one of count * count
 * ratios known, so this ends. */
static int settle(struct explorer *explorer, int (*step)(struct explorer *explorer, struct err *err), struct err *err) {
	if (explorer->bench->recall && explorer->bench->recall(explorer->bench->ctx, explorer->sizes, err))
		return -1;
	do {
		explorer->changed = false;
		if (step(explorer, err))
			return -1;
	} while (explorer->changed && !explorer->spent);
	return 0;
}

/* Marks a size at which nothing worked, so that it is not tried again. */
static void sizes_failed_add(struct sizes *sizes, double n) {
	if (sizes->failed_count < SIZES_MAX)
		sizes->failed[sizes->failed_count++] = n;
}

static int size_tune(struct explorer *explorer, double n, size_t expected, bool *enough, struct err *err) {
	struct sizes_point point = {.n = n};
	int answer = explorer->bench->tune(explorer->bench->ctx, n, expected, &point, err);
	if (answer < 0)
		return -1;
	*enough = answer == SPENT;
	if (answer == SKIPPED)
		sizes_failed_add(explorer->sizes, n);
	if (answer != DONE)
		return 0;
	sizes_add(explorer->sizes, &point);
	json_decref((json_t *)point.config);
	return 0;
}

int sizes_explore(struct sizes *sizes, const struct sizes_plan *plan, const struct sizes_bench *bench,
                  struct err *err) {
	struct explorer explorer = {.sizes = sizes, .bench = bench};
	size_t expected;
	double n;
	for (bool enough = false; !enough && !isnan(n = sizes_next(sizes, plan, &expected));)
		if (size_tune(&explorer, n, expected, &enough, err) || settle(&explorer, neighbours_compare, err))
			return -1;
	return sizes_rounds(sizes, bench, err) || sizes_midpoint_races(sizes, bench, err) ||
	               settle(&explorer, checks_compare, err)
	           ? -1
	           : 0;
}
