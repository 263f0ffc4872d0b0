/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/stats.h"
#include "tuner/race/numbers.h"
#include "tuner/sizes/impl.h"

static const json_t *sizes_config_find(const struct sizes *sizes, const json_t *config);

/* The configurations that the search of one size contributes to other sizes: its best, then the others of its race. */
json_t *sizes_config(struct sizes *sizes, const json_t *config) {
	const json_t *known = sizes_config_find(sizes, config);
	if (!known)
		json_array_append(sizes->configs, (json_t *)config);
	return (json_t *)(known ? known : config);
}

/* NULL: unknown */
static const json_t *sizes_config_find(const struct sizes *sizes, const json_t *config) {
	js_each (known, sizes->configs)
		if (known == config || json_equal(known, (json_t *)config))
			return known;
	return NULL;
}

struct rank {
	const json_t *config;
	bool alive;
	double median;
	size_t at;
};

/* Survivors of the race come first. */
static int by_rank(const void *a, const void *b) {
	const struct rank *x = a, *y = b;
	if (x->alive != y->alive)
		return x->alive ? -1 : 1;
	if (x->median != y->median)
		return x->median < y->median ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* new reference */
static json_t *sizes_candidates(struct sizes *sizes, const struct sizes_point *point) {
	json_t *candidates = json_array();
	size_t count = json_array_size(point->finalists), i;
	mem_auto struct rank *ranks = mem_alloc(count + 1, sizeof *ranks);
	json_array_append(candidates, sizes_config(sizes, point->config));
	js_each (one, point->finalists) {
		double median = js_real_or(one, "median", INFINITY);
		ranks[one_at] = (struct rank){.config = json_object_get(one, "config"),
		                              .alive = json_is_true(json_object_get(one, "alive")),
		                              .median = median > 0 ? median : INFINITY,
		                              .at = one_at};
	}
	qsort(ranks, count, sizeof *ranks, by_rank);
	for (i = 0; i < count && json_array_size(candidates) < SIZES_CANDIDATES_MAX; i++) {
		if (!json_is_object(ranks[i].config))
			continue;
		json_t *config = sizes_config(sizes, ranks[i].config);
		if (config != json_array_get(candidates, 0))
			json_array_append(candidates, config);
	}
	return candidates;
}

struct sizes *sizes_new(const char *kernel, const char *over) {
	struct sizes *sizes = mem_alloc(1, sizeof *sizes);
	sizes->kernel = mem_strdup(kernel);
	sizes->over = mem_strdup(over);
	sizes->configs = json_array();
	return sizes;
}

void sizes_entry_clear(struct sizes_entry *entry) {
	for (size_t i = 0; i < entry->ratio_count; i++)
		json_decref((json_t *)entry->ratios[i].config);
	free(entry->ratios);
	json_decref((json_t *)entry->point.config);
	json_decref(entry->candidates);
}

void sizes_free(struct sizes *sizes) {
	if (!sizes)
		return;
	for (size_t i = 0; i < sizes->count; i++)
		sizes_entry_clear(&sizes->entries[i]);
	for (size_t i = 0; i < sizes->midpoint_count; i++)
		json_decref((json_t *)sizes->midpoints[i].config);
	for (size_t i = 0; i < sizes->midpoint_race_count; i++)
		sizes_entry_clear(&sizes->midpoint_races[i]);
	json_decref(sizes->configs);
	json_decref(sizes->about);
	free(sizes->kernel);
	free(sizes->over);
	free(sizes);
}

void sizes_about(struct sizes *sizes, json_t *about) {
	json_decref(sizes->about);
	sizes->about = about;
}

size_t sizes_count(const struct sizes *sizes) {
	return sizes->count;
}

const struct sizes_point *sizes_point(const struct sizes *sizes, size_t i) {
	return i < sizes->count ? &sizes->entries[i].point : NULL;
}

bool sizes_add(struct sizes *sizes, const struct sizes_point *point) {
	size_t at = 0;
	while (at < sizes->count && sizes->entries[at].point.n < point->n)
		at++;
	struct sizes_entry *entry = &sizes->entries[at];
	bool known = at < sizes->count && entry->point.n == point->n;
	if (!known && sizes->count == SIZES_MAX)
		return false;
	json_t *candidates = sizes_candidates(sizes, point);
	if (known)
		sizes_entry_clear(entry);
	else
		memmove(entry + 1, entry, (sizes->count++ - at) * sizeof *entry);
	*entry = (struct sizes_entry){.point = *point, .candidates = candidates};
	entry->point.config = json_incref(json_array_get(candidates, 0));
	entry->point.finalists = NULL;
	return true;
}

bool sizes_is_tuned(const struct sizes *sizes, double n) {
	for (size_t i = 0; i < sizes->count; i++)
		if (sizes->entries[i].point.n == n)
			return true;
	return false;
}

static struct sizes_ratio *ratio_find(const struct sizes_entry *entry, const json_t *config) {
	for (size_t i = 0; i < entry->ratio_count; i++)
		if (entry->ratios[i].config == config)
			return &entry->ratios[i];
	return NULL;
}

/* NAN: not known. config must come from sizes_config. */
static double sizes_entry_ratio(const struct sizes_entry *entry, const json_t *config, size_t *pairs) {
	const struct sizes_ratio *found = ratio_find(entry, config);
	if (found) {
		*pairs = found->pairs;
		return found->ratio;
	}
	*pairs = entry->point.config == config ? SIZE_MAX : 0; /* the best against itself */
	return entry->point.config == config ? 1 : NAN;
}

void sizes_entry_set(struct sizes *sizes, struct sizes_entry *entry, const json_t *config, double ratio, size_t pairs) {
	json_t *own = sizes_config(sizes, config);
	struct sizes_ratio *found = ratio_find(entry, own);
	if (entry->point.config == own || isnan(ratio))
		return;
	if (!found) {
		entry->ratios = mem_grow(entry->ratios, entry->ratio_count + 1, sizeof *entry->ratios);
		found = &entry->ratios[entry->ratio_count++];
		*found = (struct sizes_ratio){.config = json_incref(own)};
	} else if (found->pairs > pairs) {
		return;
	}
	found->ratio = ratio;
	found->pairs = pairs;
}

double sizes_ratio(const struct sizes *sizes, size_t point, const json_t *config, size_t *pairs) {
	const json_t *own = sizes_config_find(sizes, config);
	size_t none;
	pairs = pairs ? pairs : &none;
	*pairs = 0;
	return own ? sizes_entry_ratio(&sizes->entries[point], own, pairs) : NAN;
}

void sizes_ratio_set(struct sizes *sizes, size_t point, const json_t *config, double ratio, size_t pairs) {
	sizes_entry_set(sizes, &sizes->entries[point], config, ratio, pairs);
}

void sizes_rounds_record(struct sizes *sizes, size_t point, const double *cost, size_t count) {
	struct sizes_point *it = &sizes->entries[point].point;
	if (count < SIZES_ROUNDS_MIN)
		return;
	it->cost = stats_median(cost, count);
	stats_median_ci(cost, count, 0.95, it->ci);
}

/* Merges neighbouring sizes into ranges with one configuration each: dynamic programming over stations (sizes with
 * measured ratios) and configurations, as in optimal segmentation (Bellman, "On the approximation of curves by line
 * segments using dynamic programming", CACM 1961). */
struct stations {
	const struct sizes_entry *at[SIZES_RANGES_MAX]; /* ascending */
	size_t count, own[SIZES_RANGES_MAX];            /* own: the configuration that may always represent a station */
	const json_t **configs;                         /* the configurations in question, each once */
	size_t config_count;
	double *loss; /* [station * config_count + config], against the best in question; NAN: not known */
};

/* Stations: all sizes with measured ratios (points and raced midpoints), and the loss of each configuration there. */

static size_t config_index(const json_t *const *configs, size_t count, const json_t *config) {
	size_t i = 0;
	while (i < count && configs[i] != config)
		i++;
	return i;
}

static void configs_add(struct stations *stations, const json_t *candidates) {
	size_t most = stations->config_count + json_array_size(candidates) + 1;
	stations->configs = mem_grow(stations->configs, most, sizeof *stations->configs);
	js_each (config, candidates)
		if (config_index(stations->configs, stations->config_count, config) == stations->config_count)
			stations->configs[stations->config_count++] = config;
}

static int by_size(const void *a, const void *b) {
	const struct sizes_entry *const *x = a, *const *y = b;
	return ((*x)->point.n > (*y)->point.n) - ((*x)->point.n < (*y)->point.n);
}

/* The loser of a race never counts as better than its winner, whatever the medians say: the winner may have been chosen
 * because it is cheaper. */
static double ratio_at(const struct sizes_entry *entry, const json_t *config, size_t *pairs) {
	double ratio = sizes_entry_ratio(entry, config, pairs);
	js_each (candidate, entry->candidates)
		if (candidate == config)
			return fmax(1, ratio);
	return ratio;
}

/* Separate trials are too noisy to replace the best. */
static double least_of(const struct stations *stations, const struct sizes_entry *entry, size_t *config) {
	double least = INFINITY;
	*config = SIZE_MAX;
	for (size_t k = 0; k < stations->config_count; k++) {
		size_t pairs;
		double ratio = ratio_at(entry, stations->configs[k], &pairs);
		if (!(ratio < least) || (entry->candidates && pairs < RACE_PAIRS_OF_RATIO))
			continue;
		least = ratio;
		*config = k;
	}
	if (entry->candidates)
		*config = config_index(stations->configs, stations->config_count, entry->point.config);
	return least;
}

/* Returns false if nothing is known there about the configurations in question. */
static bool station_make(struct stations *stations, size_t at) {
	double *loss = &stations->loss[at * stations->config_count];
	double least = least_of(stations, stations->at[at], &stations->own[at]);
	if (stations->own[at] == SIZE_MAX)
		return false;
	for (size_t k = 0; k < stations->config_count; k++) {
		size_t pairs;
		loss[k] = ratio_at(stations->at[at], stations->configs[k], &pairs) / least - 1;
		if (loss[k] < 0)
			loss[k] = 0;
	}
	return true;
}

/* without: a point that is left out, together with the configurations that only its search found; SIZE_MAX: none. */
static void stations_make(struct stations *stations, const struct sizes *sizes, size_t without) {
	size_t count = 0;
	*stations = (struct stations){0};
	for (size_t i = 0; i < sizes->count; i++) {
		if (i == without)
			continue;
		stations->at[count++] = &sizes->entries[i];
		configs_add(stations, sizes->entries[i].candidates);
	}
	for (size_t i = 0; i < sizes->midpoint_race_count; i++)
		stations->at[count++] = &sizes->midpoint_races[i];
	qsort(stations->at, count, sizeof *stations->at, by_size);
	stations->loss = mem_alloc(count + 1, (stations->config_count + 1) * sizeof *stations->loss);
	for (size_t i = 0; i < count; i++) {
		stations->at[stations->count] = stations->at[i];
		stations->count += station_make(stations, stations->count);
	}
}

static void stations_clear(struct stations *stations) {
	free(stations->configs);
	free(stations->loss);
}

/* A threshold keeps at least this share of the gap away from both measured sizes, because ratios measured so far apart
 * do not tell more. */
static const double NEAREST = 0.1;
/* An extra range must save at least this loss, summed over the sizes: the smallest difference that a duel calls a
 * difference. */
static const double RANGE_LOSS = 0.01;
/* The loss that counts between sizes if it is unknown or larger. */
static const double FAR_LOSS = 0.5;

struct choice {    /* the cheapest cover of stations 0 .. i whose last range has this configuration */
	double cost;   /* INFINITY: it cannot represent station i */
	size_t before; /* the configuration at station i - 1 */
};

struct merge {
	struct stations stations;
	struct choice *choices; /* [station * config_count + config] */
};

static double loss_at(const struct merge *merge, size_t station, size_t config) {
	return merge->stations.loss[station * merge->stations.config_count + config];
}

static double loss_or_far(const struct merge *merge, size_t station, size_t config) {
	double loss = loss_at(merge, station, config);
	return loss <= FAR_LOSS ? loss : FAR_LOSS;
}

/* The mean loss in the gap behind a station, where the ratios are taken to be linear between the two: `low` is used up
 * to the size at which both cost the same, and `high` from there on. */
static double gap_loss(const struct merge *merge, size_t station, size_t low, size_t high) {
	double a = loss_or_far(merge, station, low), a_end = loss_or_far(merge, station + 1, low);
	double b = loss_or_far(merge, station, high), b_end = loss_or_far(merge, station + 1, high);
	double share = a < b && a_end > b_end ? (b - a) / (b - a + a_end - b_end) : 0.5;
	share = fmin(1 - NEAREST, fmax(NEAREST, share));
	double a_there = a + share * (a_end - a), b_there = b + share * (b_end - b);
	return share * (a + a_there) / 2 + (1 - share) * (b_there + b_end) / 2;
}

/* A configuration may represent a size if it loses little there; the best of that size always may. */
static bool stands(const struct merge *merge, size_t station, size_t config) {
	return loss_at(merge, station, config) <= SIZES_MARGIN || merge->stations.own[station] == config;
}

static void choose(struct merge *merge, size_t station, size_t config) {
	struct choice *choice = &merge->choices[station * merge->stations.config_count + config];
	const struct choice *before = station ? choice - config - merge->stations.config_count : NULL;
	*choice = (struct choice){.cost = INFINITY, .before = config};
	if (!stands(merge, station, config))
		return;
	double cost = before ? INFINITY : RANGE_LOSS;
	for (size_t k = 0; before && k < merge->stations.config_count; k++) {
		if (!isfinite(before[k].cost))
			continue;
		double one = before[k].cost + gap_loss(merge, station - 1, k, config) + (k == config ? 0 : RANGE_LOSS);
		/* On a tie the configuration is continued, which keeps the number of ranges small. */
		if (one < cost || (one <= cost && k == config)) {
			cost = one;
			choice->before = k;
		}
	}
	choice->cost = cost + loss_or_far(merge, station, config);
}

static void solve(struct merge *merge) {
	for (size_t station = 0; station < merge->stations.count; station++)
		for (size_t k = 0; k < merge->stations.config_count; k++)
			choose(merge, station, k);
}

/* The logarithm of the ratio of the first configuration to the second. */
static double behind(const struct sizes_entry *entry, const json_t *first, const json_t *second) {
	size_t pairs;
	return log(sizes_entry_ratio(entry, first, &pairs) / sizes_entry_ratio(entry, second, &pairs));
}

/* The size at which two ranges meet: where both configurations would cost the same, by the ratios on either side; if
 * those do not cross, the geometric mean. */
static double threshold(const struct sizes_entry *left, const struct sizes_entry *right, const json_t *low_config,
                        const json_t *high_config) {
	double a = log(left->point.n), b = log(right->point.n), share = 0.5;
	double low = behind(left, low_config, high_config), high = behind(right, low_config, high_config);
	if (isfinite(low) && isfinite(high) && low < 0 && high > 0)
		share = fmin(1 - NEAREST, fmax(NEAREST, low / (low - high)));
	return exp(a + share * (b - a));
}

static size_t cheapest(const struct merge *merge) {
	const struct choice *last = &merge->choices[(merge->stations.count - 1) * merge->stations.config_count];
	size_t best = 0;
	for (size_t k = 1; k < merge->stations.config_count; k++)
		if (last[k].cost < last[best].cost)
			best = k;
	return best;
}

static void range_begin(const struct merge *merge, size_t station, size_t config, struct sizes_range *range) {
	double n = merge->stations.at[station]->point.n;
	*range = (struct sizes_range){.first = n, .last = n, .from = n, .to = n, .config = merge->stations.configs[config]};
}

/* Follows the choices back from the last station, then writes the ranges in ascending order. */
static size_t ranges_read(const struct merge *merge, struct sizes_range *ranges) {
	size_t count = 0, config = cheapest(merge), config_at[SIZES_RANGES_MAX];
	for (size_t i = merge->stations.count; i-- > 0;) {
		config_at[i] = config;
		config = merge->choices[i * merge->stations.config_count + config].before;
	}
	for (size_t i = 0; i < merge->stations.count; i++) {
		double loss = loss_at(merge, i, config_at[i]);
		if (i == 0 || config_at[i] != config_at[i - 1])
			range_begin(merge, i, config_at[i], &ranges[count++]);
		struct sizes_range *range = &ranges[count - 1];
		range->last = range->to = merge->stations.at[i]->point.n;
		range->loss = fmax(range->loss, loss);
		if (range->first != merge->stations.at[i]->point.n || count == 1)
			continue;
		const struct sizes_entry *const *at = &merge->stations.at[i];
		range->from = range[-1].to = threshold(at[-1], at[0], range[-1].config, range->config);
	}
	return count;
}

size_t sizes_ranges(const struct sizes *sizes, size_t without, struct sizes_range *ranges) {
	struct merge merge;
	stations_make(&merge.stations, sizes, without);
	merge.choices = mem_alloc(merge.stations.count + 1, (merge.stations.config_count + 1) * sizeof *merge.choices);
	solve(&merge);
	size_t count = merge.stations.count ? ranges_read(&merge, ranges) : 0;
	free(merge.choices);
	stations_clear(&merge.stations);
	return count;
}

const struct sizes_range *sizes_range_of(const struct sizes_range *ranges, size_t count, double n) {
	size_t i = 0;
	while (i + 1 < count && n > ranges[i].to)
		i++;
	return count ? &ranges[i] : NULL;
}

bool sizes_is_whole(const struct sizes *sizes) {
	for (size_t i = 0; i < sizes->count; i++)
		if (sizes->entries[i].point.n != floor(sizes->entries[i].point.n))
			return false;
	return true;
}

/* Midpoints: sizes between those that were tuned. A law over sizes that lie far apart says little about the gaps;
 * measuring the recommended configuration there costs a few trials and no search. */
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

void sizes_midpoint_record(struct sizes *sizes, double n, const json_t *config, const double *cost, size_t count) {
	if (count >= SIZES_ROUNDS_MIN)
		sizes_midpoint_add(sizes, n, config, stats_median(cost, count));
}
