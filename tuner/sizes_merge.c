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
/* Where it is not known what is lost, and no more than that counts on the way between sizes. */
static const double FAR_LOSS = 0.5;

struct choice {      /* the best way to have stations 0 .. i under ranges, the last of which has this configuration */
	double cost;     /* INFINITY: it does not stand for station i */
	size_t before;   /* the configuration at station i - 1 */
};

struct merge { /* stations are points, and bridges between them */
	const struct sizes_entry *at[SIZES_RANGES_MAX];
	size_t count, own[SIZES_RANGES_MAX]; /* own: the configuration that stands for a station in any case */
	const json_t **configs;              /* in question, each once */
	size_t config_count;
	double *loss;                        /* [station * config_count + config]; NAN: not known */
	struct choice *choices;              /* the same */
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
	merge->choices = mem_alloc(count + 1, (merge->config_count + 1) * sizeof *merge->choices);
	for (size_t i = 0; i < count; i++) {
		merge->at[merge->count] = merge->at[i];
		merge->count += station_make(merge, merge->count);
	}
}

static void merge_clear(struct merge *merge) {
	free(merge->configs);
	free(merge->loss);
	free(merge->choices);
}

static double loss_at(const struct merge *merge, size_t station, size_t config) {
	return merge->loss[station * merge->config_count + config];
}

static double loss_or_far(const struct merge *merge, size_t station, size_t config) {
	double loss = loss_at(merge, station, config);
	return loss <= FAR_LOSS ? loss : FAR_LOSS;
}

/* What is lost on the way to the next station, in the mean, where the ratios lie on lines between the two: `low` is used
 * up to where both cost the same, `high` from there. */
static double way_loss(const struct merge *merge, size_t station, size_t low, size_t high) {
	double a = loss_or_far(merge, station, low), a_end = loss_or_far(merge, station + 1, low);
	double b = loss_or_far(merge, station, high), b_end = loss_or_far(merge, station + 1, high);
	double share = a < b && a_end > b_end ? (b - a) / (b - a + a_end - b_end) : 0.5;
	share = fmin(1 - NEAREST, fmax(NEAREST, share));
	double a_there = a + share * (a_end - a), b_there = b + share * (b_end - b);
	return share * (a + a_there) / 2 + (1 - share) * (b_there + b_end) / 2;
}

/* Its own best stands for a size in any case. */
static bool stands(const struct merge *merge, size_t station, size_t config) {
	return loss_at(merge, station, config) <= SIZES_MARGIN || merge->own[station] == config;
}

static void choose(struct merge *merge, size_t station, size_t config) {
	struct choice *choice = &merge->choices[station * merge->config_count + config];
	const struct choice *before = station ? choice - config - merge->config_count : NULL;
	*choice = (struct choice){.cost = INFINITY, .before = config};
	if (!stands(merge, station, config))
		return;
	double cost = before ? INFINITY : RANGE_LOSS;
	for (size_t k = 0; before && k < merge->config_count; k++) {
		if (!isfinite(before[k].cost))
			continue;
		double one = before[k].cost + way_loss(merge, station - 1, k, config) + (k == config ? 0 : RANGE_LOSS);
		/* Of equal ones that which goes on. */
		if (one < cost || (one <= cost && k == config)) {
			cost = one;
			choice->before = k;
		}
	}
	choice->cost = cost + loss_or_far(merge, station, config);
}

static void solve(struct merge *merge) {
	for (size_t station = 0; station < merge->count; station++)
		for (size_t k = 0; k < merge->config_count; k++)
			choose(merge, station, k);
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

static size_t cheapest(const struct merge *merge) {
	const struct choice *last = &merge->choices[(merge->count - 1) * merge->config_count];
	size_t best = 0;
	for (size_t k = 1; k < merge->config_count; k++)
		if (last[k].cost < last[best].cost)
			best = k;
	return best;
}

static void range_begin(const struct merge *merge, size_t station, size_t config, struct sizes_range *range) {
	double n = merge->at[station]->point.n;
	*range = (struct sizes_range){.first = n, .last = n, .from = n, .to = n, .config = merge->configs[config]};
}

/* From the last station to the first; then from small sizes to large ones. */
static size_t ranges_read(const struct merge *merge, struct sizes_range *ranges) {
	size_t count = 0, config = cheapest(merge), of_station[SIZES_RANGES_MAX];
	for (size_t i = merge->count; i-- > 0;) {
		of_station[i] = config;
		config = merge->choices[i * merge->config_count + config].before;
	}
	for (size_t i = 0; i < merge->count; i++) {
		double loss = loss_at(merge, i, of_station[i]);
		if (i == 0 || of_station[i] != of_station[i - 1])
			range_begin(merge, i, of_station[i], &ranges[count++]);
		struct sizes_range *range = &ranges[count - 1];
		range->last = range->to = merge->at[i]->point.n;
		range->loss = fmax(range->loss, loss);
		if (range->first != merge->at[i]->point.n || count == 1)
			continue;
		range->from = range[-1].to = threshold(merge->at[i - 1], merge->at[i], range[-1].config, range->config);
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
