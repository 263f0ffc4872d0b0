/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Neighbouring sizes under one configuration. */
#include <config.h>

#include <math.h>
#include <stdint.h>

#include "tuner/sizes_impl.h"

/* A threshold is taken no nearer to a measured size than this share of the gap. */
static const double NEAREST = 0.1;

struct choice {           /* the best way to have points 0 .. last under ranges */
	size_t ranges, first; /* first: of the last range */
	const json_t *config;
	double sum, most; /* of losses: all ranges', the last one's largest */
};

struct merge {
	const struct sizes *sizes;
	size_t at[SIZES_MAX], count; /* points in question */
	struct choice best[SIZES_MAX];
	bool first[SIZES_MAX]; /* no point before has the same configuration */
};

static bool better(const struct choice *a, const struct choice *b) {
	return !b->config || a->ranges < b->ranges || (a->ranges == b->ranges && a->sum < b->sum);
}

/* Ranges that end at `last` under one configuration, as far back as that carries. */
static void extend(struct merge *merge, size_t last, const json_t *config) {
	struct choice one = {.config = config};
	double sum = 0;
	for (size_t first = last + 1; first-- > 0;) {
		double loss = sizes_loss(merge->sizes, merge->at[first], config);
		bool own = first == last &&
		           json_equal((json_t *)merge->sizes->entries[merge->at[first]].point.config, (json_t *)config);
		if (!(loss <= SIZES_MARGIN) && !own) /* its own best stands for a size in any case */
			return;
		sum += loss;
		one.most = fmax(one.most, loss);
		one.first = first;
		one.ranges = 1 + (first ? merge->best[first - 1].ranges : 0);
		one.sum = sum + (first ? merge->best[first - 1].sum : 0);
		if (better(&one, &merge->best[last]))
			merge->best[last] = one;
	}
}

/* Of equal configurations, which are one object, the first. */
static bool is_first(const struct merge *merge, size_t k) {
	for (size_t i = 0; i < k; i++)
		if (merge->sizes->entries[merge->at[i]].point.config == merge->sizes->entries[merge->at[k]].point.config)
			return false;
	return true;
}

static void solve(struct merge *merge) {
	for (size_t k = 0; k < merge->count; k++)
		merge->first[k] = is_first(merge, k);
	for (size_t last = 0; last < merge->count; last++)
		for (size_t k = 0; k < merge->count; k++)
			if (merge->first[k])
				extend(merge, last, merge->sizes->entries[merge->at[k]].point.config);
}

/* How much longer (a logarithm) the first configuration takes than the second. */
static double behind(const struct sizes *sizes, size_t point, const json_t *first, const json_t *second) {
	return log(sizes_ratio(sizes, point, first, NULL) / sizes_ratio(sizes, point, second, NULL));
}

/* Where two ranges meet: where both would cost the same, by the ratios on either side; else the geometric middle. */
static double threshold(const struct sizes *sizes, const struct sizes_range *left, const struct sizes_range *right) {
	double a = log(sizes->entries[left->last].point.n), b = log(sizes->entries[right->first].point.n), share = 0.5;
	double low = behind(sizes, left->last, left->config, right->config);
	double high = behind(sizes, right->first, left->config, right->config);
	if (isfinite(low) && isfinite(high) && low < 0 && high > 0)
		share = fmin(1 - NEAREST, fmax(NEAREST, low / (low - high)));
	return exp(a + share * (b - a));
}

size_t sizes_ranges(const struct sizes *sizes, size_t without, struct sizes_range *ranges) {
	struct merge merge = {.sizes = sizes};
	for (size_t i = 0; i < sizes->count; i++)
		if (i != without)
			merge.at[merge.count++] = i;
	if (merge.count == 0)
		return 0;
	solve(&merge);
	size_t count = merge.best[merge.count - 1].ranges, end = merge.count - 1;
	for (size_t i = count; i-- > 0;) {
		const struct choice *choice = &merge.best[end];
		ranges[i] = (struct sizes_range){
			.first = merge.at[choice->first], .last = merge.at[end], .config = choice->config, .loss = choice->most};
		ranges[i].from = sizes->entries[ranges[i].first].point.n;
		ranges[i].to = sizes->entries[ranges[i].last].point.n;
		end = choice->first - 1;
	}
	for (size_t i = 1; i < count; i++)
		ranges[i - 1].to = ranges[i].from = threshold(sizes, &ranges[i - 1], &ranges[i]);
	return count;
}

const struct sizes_range *sizes_range_of(const struct sizes_range *ranges, size_t count, double n) {
	size_t i = 0;
	while (i + 1 < count && n > ranges[i].to)
		i++;
	return count ? &ranges[i] : NULL;
}
