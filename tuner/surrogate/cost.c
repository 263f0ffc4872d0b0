/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/surrogate/cost.h"

#include <math.h>
#include <string.h>

enum { COSTS_MAX = 512, SWEEPS = 4, FORETELL_FROM = 3 };
/* An effect is that of its value's observations and of so many more without any. */
static const double SHRINK = 2;
/* Deviation of logarithms under which costs are alike. */
static const double ALIKE = 0.15;
/* Squared deviations of logarithms that must have been seen before half is believed. */
static const double DOUBT = 0.5;

struct effect {
	double value, sum, count;
};

struct cost {
	const struct coding *coding;
	double budget, spent; /* seconds */
	size_t dims, count;
	struct effect *effects[GP_DIMS_MAX]; /* by code */
	size_t values[GP_DIMS_MAX];
	uint16_t *codes; /* COSTS_MAX x dims */
	double logs[COSTS_MAX], rests[COSTS_MAX], mean;
	size_t foretold;          /* each before it was known */
	double off, off_the_mean; /* their squared errors, and those of the mean */
};

struct cost *cost_new(const struct strategy_task *task, const struct coding *coding) {
	struct arena *arena = task->arena;
	if (!(task->seconds > 0))
		return NULL;
	struct cost *cost = arena_alloc(arena, 1, sizeof *cost);
	cost->coding = coding;
	cost->budget = task->seconds;
	cost->dims = coding->count;
	cost->codes = arena_alloc(arena, COSTS_MAX * cost->dims, sizeof *cost->codes);
	for (size_t d = 0; d < cost->dims; d++) {
		cost->values[d] = coding->dim[d].values;
		cost->effects[d] = arena_alloc(arena, cost->values[d], sizeof *cost->effects[d]);
	}
	return cost;
}

double cost_predict(const struct cost *cost, const uint16_t *codes) {
	double sum = 0;
	for (size_t d = 0; d < cost->dims; d++)
		sum += cost->effects[d][codes[d]].value;
	return sum;
}

/* Backfitting: each dimension's effects by what the others leave (Hastie, Tibshirani, Generalized additive models,
 * 1990, chapter 4). */
static void fit_dim(struct cost *cost, size_t d) {
	struct effect *effects = cost->effects[d];
	for (size_t v = 0; v < cost->values[d]; v++)
		effects[v].sum = effects[v].count = 0;
	for (size_t i = 0; i < cost->count; i++) {
		struct effect *effect = &effects[cost->codes[i * cost->dims + d]];
		cost->rests[i] += effect->value;
		effect->sum += cost->rests[i];
		effect->count++;
	}
	for (size_t v = 0; v < cost->values[d]; v++)
		effects[v].value = effects[v].sum / (effects[v].count + SHRINK);
	for (size_t i = 0; i < cost->count; i++)
		cost->rests[i] -= effects[cost->codes[i * cost->dims + d]].value;
}

static void fit(struct cost *cost) {
	double sum = 0;
	for (size_t i = 0; i < cost->count; i++)
		sum += cost->logs[i];
	cost->mean = sum / (double)cost->count;
	for (size_t i = 0; i < cost->count; i++)
		cost->rests[i] = cost->logs[i] - cost->mean - cost_predict(cost, &cost->codes[i * cost->dims]);
	for (int sweep = 0; sweep < SWEEPS; sweep++)
		for (size_t d = 0; d < cost->dims; d++)
			fit_dim(cost, d);
}

/* How well could it have been told beforehand? */
static void foretell(struct cost *cost, const uint16_t *codes, double away) {
	double off = away - cost_predict(cost, codes);
	if (cost->count < FORETELL_FROM)
		return;
	cost->foretold++;
	cost->off += off * off;
	cost->off_the_mean += away * away;
}

void cost_tell(struct cost *cost, uint64_t index, double seconds) {
	uint16_t codes[GP_DIMS_MAX];
	if (!cost || !(seconds > 0))
		return;
	cost->spent += seconds;
	if (cost->count == COSTS_MAX)
		return;
	coding_index(cost->coding, index, codes);
	foretell(cost, codes, log(seconds) - cost->mean);
	memcpy(&cost->codes[cost->count * cost->dims], codes, cost->dims * sizeof *codes);
	cost->logs[cost->count++] = log(seconds);
	fit(cost);
}

double cost_power(const struct cost *cost) {
	if (!cost || !(cost->off_the_mean > (double)cost->foretold * ALIKE * ALIKE))
		return 0;
	double left = fmax(0, 1 - cost->spent / cost->budget);
	return left * fmax(0, cost->off_the_mean - cost->off) / (cost->off_the_mean + DOUBT);
}
