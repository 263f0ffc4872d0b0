/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Neighbouring sizes under one configuration. */
#include <config.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "tuner/sizes_impl.h"

/* A threshold is taken no nearer to a measured size than this share of the gap. */
static const double NEAREST = 0.1;
/* One more range must save this much of the sizes' losses together: what counts as a difference in a duel. */
static const double RANGE_LOSS = 0.01;

struct choice {           /* the best way to have stations 0 .. last under ranges */
	size_t ranges, first; /* first: of the last range */
	size_t config;
	double sum, most; /* of losses: all ranges', the last one's largest */
};

struct merge { /* stations are points, and bridges between them */
	const struct sizes_entry *at[SIZES_RANGES_MAX];
	size_t count, own[SIZES_RANGES_MAX]; /* own: the configuration that stands for a station in any case */
	const json_t **configs;              /* in question, each once */
	size_t config_count;
	double *loss; /* [station * config_count + config]; NAN: not known */
	struct choice best[SIZES_RANGES_MAX];
};

static size_t place_of(const json_t *const *configs, size_t count, const json_t *config) {
	size_t i = 0;
	while (i < count && configs[i] != config)
		i++;
	return i;
}

static void configs_add(struct merge *merge, const json_t *offers) {
	size_t i;
	json_t *config;
	merge->configs = mem_grow(merge->configs, merge->config_count + json_array_size(offers) + 1, sizeof *merge->configs);
	json_array_foreach((json_t *)offers, i, config) {
		if (place_of(merge->configs, merge->config_count, config) == merge->config_count)
			merge->configs[merge->config_count++] = config;
	}
}

static int by_size(const void *a, const void *b) {
	const struct sizes_entry *const *x = a, *const *y = b;
	return ((*x)->point.n > (*y)->point.n) - ((*x)->point.n < (*y)->point.n);
}

/* Who lost a race is no better than who won it, whatever the medians are: the winner may be the cheaper one. */
static double ratio_at(const struct sizes_entry *entry, const json_t *config, size_t *pairs) {
	double ratio = sizes_entry_ratio(entry, config, pairs);
	size_t i;
	json_t *offer;
	json_array_foreach(entry->offers, i, offer) {
		if (offer == config)
			return fmax(1, ratio);
	}
	return ratio;
}

/* Separate trials give no better best. */
static double least_of(const struct merge *merge, const struct sizes_entry *entry, size_t *config) {
	double least = INFINITY;
	*config = SIZE_MAX;
	for (size_t k = 0; k < merge->config_count; k++) {
		size_t pairs;
		double ratio = ratio_at(entry, merge->configs[k], &pairs);
		if (!(ratio < least) || (entry->offers && pairs < SIZES_PAIRS_MIN))
			continue;
		least = ratio;
		*config = k;
	}
	if (entry->offers)
		*config = place_of(merge->configs, merge->config_count, entry->point.config);
	return least;
}

/* false: nothing that is in question is known there. */
static bool station_make(struct merge *merge, size_t at) {
	double *loss = &merge->loss[at * merge->config_count], least = least_of(merge, merge->at[at], &merge->own[at]);
	if (merge->own[at] == SIZE_MAX)
		return false;
	for (size_t k = 0; k < merge->config_count; k++) {
		size_t pairs;
		loss[k] = ratio_at(merge->at[at], merge->configs[k], &pairs) / least - 1;
		if (loss[k] < 0)
			loss[k] = 0;
	}
	return true;
}

static void merge_init(struct merge *merge, const struct sizes *sizes, size_t without) {
	size_t count = 0;
	*merge = (struct merge){0};
	for (size_t i = 0; i < sizes->count; i++) {
		if (i == without)
			continue;
		merge->at[count++] = &sizes->entries[i];
		configs_add(merge, sizes->entries[i].offers);
	}
	for (size_t i = 0; i < sizes->bridge_count; i++)
		merge->at[count++] = &sizes->bridges[i];
	qsort(merge->at, count, sizeof *merge->at, by_size);
	merge->loss = mem_alloc(count + 1, (merge->config_count + 1) * sizeof *merge->loss);
	for (size_t i = 0; i < count; i++) {
		merge->at[merge->count] = merge->at[i];
		merge->count += station_make(merge, merge->count);
	}
}

static void merge_clear(struct merge *merge) {
	free(merge->configs);
	free(merge->loss);
}

static bool better(const struct choice *a, const struct choice *b) {
	double sum = a->sum + RANGE_LOSS * (double)a->ranges, other = b->sum + RANGE_LOSS * (double)b->ranges;
	return b->ranges == 0 || sum < other || (sum == other && a->ranges < b->ranges);
}

/* Ranges that end at `last` under one configuration, as far back as that carries. */
static void extend(struct merge *merge, size_t last, size_t config) {
	struct choice one = {.config = config};
	double sum = 0;
	for (size_t first = last + 1; first-- > 0;) {
		double loss = merge->loss[first * merge->config_count + config];
		bool own = first == last && merge->own[first] == config;
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

static void solve(struct merge *merge) {
	for (size_t last = 0; last < merge->count; last++)
		for (size_t k = 0; k < merge->config_count; k++)
			extend(merge, last, k);
}

/* How much longer (a logarithm) the first configuration takes than the second. */
static double behind(const struct sizes_entry *entry, const json_t *first, const json_t *second) {
	size_t pairs;
	return log(sizes_entry_ratio(entry, first, &pairs) / sizes_entry_ratio(entry, second, &pairs));
}

/* Where two ranges meet: where both would cost the same, by the ratios on either side; else the geometric middle. */
static double threshold(const struct sizes_entry *left, const struct sizes_entry *right, const json_t *low_config,
                        const json_t *high_config) {
	double a = log(left->point.n), b = log(right->point.n), share = 0.5;
	double low = behind(left, low_config, high_config), high = behind(right, low_config, high_config);
	if (isfinite(low) && isfinite(high) && low < 0 && high > 0)
		share = fmin(1 - NEAREST, fmax(NEAREST, low / (low - high)));
	return exp(a + share * (b - a));
}

/* From the last range to the first, as each says where it begins. */
static size_t ranges_read(const struct merge *merge, struct sizes_range *ranges) {
	size_t count = merge->best[merge->count - 1].ranges, end = merge->count - 1;
	for (size_t i = count; i-- > 0;) {
		const struct choice *choice = &merge->best[end];
		double first = merge->at[choice->first]->point.n, last = merge->at[end]->point.n;
		ranges[i] = (struct sizes_range){.first = first,
		                                 .last = last,
		                                 .from = first,
		                                 .to = last,
		                                 .config = merge->configs[choice->config],
		                                 .loss = choice->most};
		if (i + 1 < count)
			ranges[i].to = ranges[i + 1].from =
				threshold(merge->at[end], merge->at[end + 1], ranges[i].config, ranges[i + 1].config);
		end = choice->first - 1;
	}
	return count;
}

size_t sizes_ranges(const struct sizes *sizes, size_t without, struct sizes_range *ranges) {
	struct merge merge;
	merge_init(&merge, sizes, without);
	solve(&merge);
	size_t count = merge.count ? ranges_read(&merge, ranges) : 0;
	merge_clear(&merge);
	return count;
}

const struct sizes_range *sizes_range_of(const struct sizes_range *ranges, size_t count, double n) {
	size_t i = 0;
	while (i + 1 < count && n > ranges[i].to)
		i++;
	return count ? &ranges[i] : NULL;
}
