/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/stats.h"
#include "tuner/sizes/impl.h"
#include "tuner/race/numbers.h"

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
	struct rank *ranks = mem_alloc(count + 1, sizeof *ranks);
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
	free(ranks);
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

const char *sizes_over(const struct sizes *sizes) {
	return sizes->over;
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

void sizes_failed_add(struct sizes *sizes, double n) {
	if (sizes->failed_count < SIZES_MAX)
		sizes->failed[sizes->failed_count++] = n;
}

static struct sizes_ratio *ratio_find(const struct sizes_entry *entry, const json_t *config) {
	for (size_t i = 0; i < entry->ratio_count; i++)
		if (entry->ratios[i].config == config)
			return &entry->ratios[i];
	return NULL;
}

double sizes_entry_ratio(const struct sizes_entry *entry, const json_t *config, size_t *pairs) {
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

/* The lowest ratio known at a point: 1, or less if the best of another size was found to be faster. */
static double sizes_least(const struct sizes *sizes, size_t point) {
	const struct sizes_entry *entry = &sizes->entries[point];
	double least = 1;
	for (size_t i = 0; i < entry->ratio_count; i++)
		if (entry->ratios[i].pairs >= RACE_PAIRS_OF_RATIO) /* separate trials are too noisy to replace the best */
			least = fmin(least, entry->ratios[i].ratio);
	return least;
}

double sizes_loss(const struct sizes *sizes, size_t point, const json_t *config) {
	double loss = sizes_ratio(sizes, point, config, NULL) / sizes_least(sizes, point) - 1;
	return loss < 0 ? 0 : loss;
}
