/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Midpoints: sizes between those that were tuned. A law over sizes that lie far apart says little about the gaps;
 * measuring the recommended configuration there costs a few trials and no search. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "tuner/sizes/impl.h"

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
