/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The best configuration between two sizes need not be the best of either. The one recommended there is therefore raced
 * against the best and the finalists of both neighbours and the best of the next two, in interleaved blocks and without
 * a search. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/stats.h"
#include "tuner/sizes/impl.h"

/* A configuration that takes this much longer than the best drops out from the second round on. The rest stay: if a
 * size is left out, together with what only its search found, they may be the best that is left. */
static const double OUT = 1.4;
enum { OUT_FROM = 2, ROUNDS_LEAST = 3 /* rounds for a ratio that counts */ };

struct midpoint_race {
	struct sizes_midpoint midpoint;
	json_t *configs[SIZES_MIDPOINT_RACE_MAX]; /* the first is the one recommended there so far */
	size_t count;
	double costs[SIZES_MIDPOINT_RACE_ROUNDS * SIZES_MIDPOINT_RACE_MAX]; /* [round * count + config]; NAN: none */
	bool out[SIZES_MIDPOINT_RACE_MAX];
};

static void config_add(struct midpoint_race *race, json_t *config) {
	for (size_t i = 0; i < race->count; i++)
		if (race->configs[i] == config)
			return;
	if (config && race->count < SIZES_MIDPOINT_RACE_MAX)
		race->configs[race->count++] = config;
}

static void candidate_add(struct midpoint_race *race, const struct sizes *sizes, size_t point, size_t rank) {
	if (point < sizes->count)
		config_add(race, json_array_get(sizes->entries[point].candidates, rank));
}

static void race_init(struct sizes *sizes, const struct sizes_midpoint *midpoint, struct midpoint_race *race) {
	size_t low = midpoint->near, high = low + 1;
	*race = (struct midpoint_race){.midpoint = *midpoint};
	config_add(race, sizes_config(sizes, midpoint->config));
	candidate_add(race, sizes, low, 0);
	candidate_add(race, sizes, high, 0);
	if (low > 0)
		candidate_add(race, sizes, low - 1, 0);
	candidate_add(race, sizes, high + 1, 0);
	for (size_t rank = 1; rank < SIZES_CANDIDATES_MAX; rank++) {
		candidate_add(race, sizes, low, rank);
		candidate_add(race, sizes, high, rank);
	}
	for (size_t i = 0; i < sizeof race->costs / sizeof *race->costs; i++)
		race->costs[i] = NAN;
}

/* The median ratio of a configuration to the first one within the same blocks; NAN: they share none. */
static double ratio_of(const double *costs, size_t count, size_t rounds, size_t config, size_t *pairs) {
	double logs[SIZES_MIDPOINT_RACE_ROUNDS];
	*pairs = 0;
	for (size_t round = 0; round < rounds; round++) {
		double log_ratio = log(costs[round * count + config] / costs[round * count]);
		if (isfinite(log_ratio))
			logs[(*pairs)++] = log_ratio;
	}
	return *pairs ? exp(stats_median(logs, *pairs)) : NAN;
}

static void out_set(struct midpoint_race *race, size_t rounds) {
	double ratios[SIZES_MIDPOINT_RACE_MAX], least = 1;
	size_t pairs;
	for (size_t i = 0; i < race->count; i++) {
		ratios[i] = ratio_of(race->costs, race->count, rounds, i, &pairs);
		least = fmin(least, ratios[i]);
	}
	for (size_t i = 1; i < race->count; i++)
		race->out[i] = race->out[i] || ratios[i] > OUT * least;
}

/* Returns 0, 1 if the budget allows no more, -1 with err. A configuration that fails or is invalid at this size is out.
 * The order of the others is reversed every other round, so that a slow drift hits all alike. */
static int round_run(const struct sizes_bench *bench, struct midpoint_race *race, int round, struct err *err) {
	for (size_t k = 0; k < race->count; k++) {
		size_t i = k && round % 2 ? race->count - k : k;
		struct sizes_midpoint midpoint = race->midpoint;
		double cost = NAN;
		if (race->out[i])
			continue;
		midpoint.config = race->configs[i];
		int answer = bench->midpoint_race(bench->ctx, &midpoint, round, &cost, err);
		if (answer)
			return answer;
		if (!(cost > 0) && i == 0)
			return 0;
		race->out[i] = race->out[i] || !(cost > 0);
		race->costs[(size_t)round * race->count + i] = cost;
	}
	return 0;
}

static void midpoint_race_remove(struct sizes *sizes, double n) {
	for (size_t i = 0; i < sizes->midpoint_race_count; i++) {
		if (sizes->midpoint_races[i].point.n != n)
			continue;
		sizes_entry_clear(&sizes->midpoint_races[i]);
		sizes->midpoint_races[i] = sizes->midpoint_races[--sizes->midpoint_race_count];
		return;
	}
}

void sizes_midpoint_race_record(struct sizes *sizes, double n, json_t *const *configs, size_t count,
                                const double *costs, size_t rounds) {
	struct sizes_entry entry = {.point = {.n = n, .cost = NAN, .ci = {NAN, NAN}}};
	if (count < 2 || sizes_is_tuned(sizes, n))
		return;
	midpoint_race_remove(sizes, n);
	if (sizes->midpoint_race_count == SIZES_MIDPOINTS_MAX)
		return;
	entry.point.config = json_incref(sizes_config(sizes, configs[0]));
	for (size_t i = 1; i < count; i++) {
		size_t pairs;
		double ratio = ratio_of(costs, count, rounds, i, &pairs);
		if (pairs >= ROUNDS_LEAST || ratio > OUT)
			sizes_entry_set(sizes, &entry, configs[i], ratio, pairs);
	}
	if (entry.ratio_count)
		sizes->midpoint_races[sizes->midpoint_race_count++] = entry;
	else
		sizes_entry_clear(&entry);
}

json_t *sizes_midpoint_race_json(const struct sizes *sizes, double n) {
	json_t *met = json_array();
	for (size_t i = 0; i < sizes->midpoint_race_count; i++) {
		const struct sizes_entry *midpoint_race = &sizes->midpoint_races[i];
		for (size_t k = 0; midpoint_race->point.n == n && k < midpoint_race->ratio_count; k++)
			json_array_append_new(met, json_pack("{s:O,s:o}", "config", midpoint_race->ratios[k].config, "ratio",
			                                     js_number(midpoint_race->ratios[k].ratio)));
	}
	return met;
}

int sizes_midpoint_races(struct sizes *sizes, const struct sizes_bench *bench, struct err *err) {
	struct sizes_midpoint midpoints[SIZES_MIDPOINTS_MAX];
	if (!bench->midpoint_race)
		return 0;
	size_t count = sizes_midpoints_plan(sizes, midpoints);
	struct midpoint_race *races = mem_alloc(count + 1, sizeof *races);
	int answer = 0, rounds = 0;
	for (size_t i = 0; i < count; i++)
		race_init(sizes, &midpoints[i], &races[i]);
	for (int round = 0; round < SIZES_MIDPOINT_RACE_ROUNDS && answer == 0; round++, rounds++) {
		for (size_t i = 0; i < count && answer == 0; i++) {
			answer = races[i].count > 1 ? round_run(bench, &races[i], round, err) : 0;
			if (round + 1 >= OUT_FROM)
				out_set(&races[i], (size_t)round + 1);
		}
	}
	for (size_t i = 0; i < count; i++)
		sizes_midpoint_race_record(sizes, races[i].midpoint.n, races[i].configs, races[i].count, races[i].costs,
		                           (size_t)rounds);
	free(races);
	return answer < 0 ? -1 : 0;
}
