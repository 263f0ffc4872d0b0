/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/sizes/stations.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tuner/race/numbers.h"

static size_t config_index(const json_t *const *configs, size_t count, const json_t *config) {
	size_t i = 0;
	while (i < count && configs[i] != config)
		i++;
	return i;
}

static void configs_add(struct stations *stations, const json_t *candidates) {
	size_t i;
	json_t *config;
	size_t most = stations->config_count + json_array_size(candidates) + 1;
	stations->configs = mem_grow(stations->configs, most, sizeof *stations->configs);
	json_array_foreach((json_t *)candidates, i, config) {
		if (config_index(stations->configs, stations->config_count, config) == stations->config_count)
			stations->configs[stations->config_count++] = config;
	}
}

static int by_size(const void *a, const void *b) {
	const struct sizes_entry *const *x = a, *const *y = b;
	return ((*x)->point.n > (*y)->point.n) - ((*x)->point.n < (*y)->point.n);
}

/* The loser of a race never counts as better than its winner, whatever the medians say: the winner may have been chosen
 * because it is cheaper. */
static double ratio_at(const struct sizes_entry *entry, const json_t *config, size_t *pairs) {
	double ratio = sizes_entry_ratio(entry, config, pairs);
	size_t i;
	json_t *candidate;
	json_array_foreach(entry->candidates, i, candidate) {
		if (candidate == config)
			return fmax(1, ratio);
	}
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

void stations_make(struct stations *stations, const struct sizes *sizes, size_t without) {
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

void stations_clear(struct stations *stations) {
	free(stations->configs);
	free(stations->loss);
}
