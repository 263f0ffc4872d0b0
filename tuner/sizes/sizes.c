/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/sizes/sizes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stats.h"
#include "tuner/sizes/impl.h"
#include "tuner/race/numbers.h"

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
