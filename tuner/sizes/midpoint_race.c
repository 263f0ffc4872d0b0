/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between two sizes, the best of neither need be the best. Who came to the race of a neighbour, or is the best of one
 * further off, meets what is recommended there so far: in blocks, as in a race, and without a search. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/base/mem.h"
#include "src/base/stats.h"
#include "tuner/sizes/impl.h"

/* Who takes this much longer than the best is out, from the second round on. Others are kept: without a size, and what
 * only its search found, they may be the best that is left. */
static const double OUT = 1.4;
enum { OUT_FROM = 2, ROUNDS_LEAST = 3 /* of a ratio that counts */ };

struct meeting {
	struct sizes_way way;
	json_t *configs[SIZES_BRIDGE_MAX]; /* the first is what is recommended there so far */
	size_t count;
	double costs[SIZES_BRIDGE_ROUNDS * SIZES_BRIDGE_MAX]; /* [round * count + config]; NAN: none */
	bool out[SIZES_BRIDGE_MAX];
};

static void config_add(struct meeting *meeting, json_t *config) {
	for (size_t i = 0; i < meeting->count; i++)
		if (meeting->configs[i] == config)
			return;
	if (config && meeting->count < SIZES_BRIDGE_MAX)
		meeting->configs[meeting->count++] = config;
}

static void offer_add(struct meeting *meeting, const struct sizes *sizes, size_t point, size_t rank) {
	if (point < sizes->count)
		config_add(meeting, json_array_get(sizes->entries[point].offers, rank));
}

static void meeting_make(struct sizes *sizes, const struct sizes_way *way, struct meeting *meeting) {
	size_t low = way->near, high = low + 1;
	*meeting = (struct meeting){.way = *way};
	config_add(meeting, sizes_config(sizes, way->config));
	offer_add(meeting, sizes, low, 0);
	offer_add(meeting, sizes, high, 0);
	if (low > 0)
		offer_add(meeting, sizes, low - 1, 0);
	offer_add(meeting, sizes, high + 1, 0);
	for (size_t rank = 1; rank < SIZES_OFFERS_MAX; rank++) {
		offer_add(meeting, sizes, low, rank);
		offer_add(meeting, sizes, high, rank);
	}
	for (size_t i = 0; i < sizeof meeting->costs / sizeof *meeting->costs; i++)
		meeting->costs[i] = NAN;
}

/* The median of a configuration's costs over those of the first in the same blocks; NAN: there are none. */
static double ratio_of(const double *costs, size_t count, size_t rounds, size_t config, size_t *pairs) {
	double logs[SIZES_BRIDGE_ROUNDS];
	*pairs = 0;
	for (size_t round = 0; round < rounds; round++) {
		double log_ratio = log(costs[round * count + config] / costs[round * count]);
		if (isfinite(log_ratio))
			logs[(*pairs)++] = log_ratio;
	}
	return *pairs ? exp(stats_median(logs, *pairs)) : NAN;
}

static void out_set(struct meeting *meeting, size_t rounds) {
	double ratios[SIZES_BRIDGE_MAX], least = 1;
	size_t pairs;
	for (size_t i = 0; i < meeting->count; i++) {
		ratios[i] = ratio_of(meeting->costs, meeting->count, rounds, i, &pairs);
		least = fmin(least, ratios[i]);
	}
	for (size_t i = 1; i < meeting->count; i++)
		meeting->out[i] = meeting->out[i] || ratios[i] > OUT * least;
}

/* 0, 1: the budget allows no more, -1: err. What can't be had at this size, or fails, is out. */
static int round_run(const struct sizes_bench *bench, struct meeting *meeting, int round, struct err *err) {
	for (size_t k = 0; k < meeting->count; k++) {
		size_t i = k && round % 2 ? meeting->count - k : k;
		struct sizes_way way = meeting->way;
		double cost = NAN;
		if (meeting->out[i])
			continue;
		way.config = meeting->configs[i];
		int answer = bench->bridge(bench->ctx, &way, round, &cost, err);
		if (answer)
			return answer;
		if (!(cost > 0) && i == 0)
			return 0;
		meeting->out[i] = meeting->out[i] || !(cost > 0);
		meeting->costs[(size_t)round * meeting->count + i] = cost;
	}
	return 0;
}

static void bridge_remove(struct sizes *sizes, double n) {
	for (size_t i = 0; i < sizes->bridge_count; i++) {
		if (sizes->bridges[i].point.n != n)
			continue;
		sizes_entry_clear(&sizes->bridges[i]);
		sizes->bridges[i] = sizes->bridges[--sizes->bridge_count];
		return;
	}
}

void sizes_bridge_take(struct sizes *sizes, double n, json_t *const *configs, size_t count, const double *costs,
                       size_t rounds) {
	struct sizes_entry entry = {.point = {.n = n, .cost = NAN, .ci = {NAN, NAN}}};
	if (count < 2 || sizes_is_tuned(sizes, n))
		return;
	bridge_remove(sizes, n);
	if (sizes->bridge_count == SIZES_WAYS_MAX)
		return;
	entry.point.config = json_incref(sizes_config(sizes, configs[0]));
	for (size_t i = 1; i < count; i++) {
		size_t pairs;
		double ratio = ratio_of(costs, count, rounds, i, &pairs);
		if (pairs >= ROUNDS_LEAST || ratio > OUT)
			sizes_entry_set(sizes, &entry, configs[i], ratio, pairs);
	}
	if (entry.ratio_count)
		sizes->bridges[sizes->bridge_count++] = entry;
	else
		sizes_entry_clear(&entry);
}

json_t *sizes_bridge_json(const struct sizes *sizes, double n) {
	json_t *met = json_array();
	for (size_t i = 0; i < sizes->bridge_count; i++) {
		const struct sizes_entry *bridge = &sizes->bridges[i];
		for (size_t k = 0; bridge->point.n == n && k < bridge->ratio_count; k++)
			json_array_append_new(met, json_pack("{s:O,s:o}", "config", bridge->ratios[k].config, "ratio",
			                                     js_number(bridge->ratios[k].ratio)));
	}
	return met;
}

int sizes_bridges(struct sizes *sizes, const struct sizes_bench *bench, struct err *err) {
	struct sizes_way ways[SIZES_WAYS_MAX];
	if (!bench->bridge)
		return 0;
	size_t count = sizes_ways_plan(sizes, ways);
	struct meeting *meetings = mem_alloc(count + 1, sizeof *meetings);
	int answer = 0, rounds = 0;
	for (size_t i = 0; i < count; i++)
		meeting_make(sizes, &ways[i], &meetings[i]);
	for (int round = 0; round < SIZES_BRIDGE_ROUNDS && answer == 0; round++, rounds++) {
		for (size_t i = 0; i < count && answer == 0; i++) {
			answer = meetings[i].count > 1 ? round_run(bench, &meetings[i], round, err) : 0;
			if (round + 1 >= OUT_FROM)
				out_set(&meetings[i], (size_t)round + 1);
		}
	}
	for (size_t i = 0; i < count; i++)
		sizes_bridge_take(sizes, meetings[i].way.n, meetings[i].configs, meetings[i].count, meetings[i].costs,
		                  (size_t)rounds);
	free(meetings);
	return answer < 0 ? -1 : 0;
}
