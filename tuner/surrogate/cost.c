/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/surrogate/cost.h"

#include <math.h>
#include <string.h>

enum { COSTS_MAX = 512, SWEEPS = 4, FORETELL_FROM = 3 };
/* Shrinks an effect as if its value had been observed so many more times without any effect. */
static const double SHRINK = 2;
/* Costs whose logarithms deviate less than this count as equal. */
static const double ALIKE = 0.15;
/* Sum of squared deviations of logarithms at which predictions are trusted by half. */
static const double DOUBT = 0.5;

struct effect {
	double value, sum, count;
};

struct cost {
	const struct coding *coding;
	double budget, spent; /* seconds */
	size_t dims, count;
	struct effect *effects[GP_DIMS_MAX]; /* indexed by code */
	size_t values[GP_DIMS_MAX];
	uint16_t *codes; /* COSTS_MAX x dims */
	double logs[COSTS_MAX], rests[COSTS_MAX], mean;
	size_t foretold;          /* predictions that were made before the cost was known */
	double off, off_the_mean; /* sums of squared errors of these predictions, and of the mean in their place */
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

/* Backfitting (Hastie, Tibshirani, Generalized additive models, 1990, chapter 4): the effects of a dimension are fitted
 * to the residuals of all others. */
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

/* Scores the prediction before the cost is learned, so that predictions earn their trust on data that they have not
 * seen. */
static void foretell(struct cost *cost, const uint16_t *codes, double away) {
	double off = away - cost_predict(cost, codes);
	if (cost->count < FORETELL_FROM)
		return;
	cost->foretold++;
	cost->off += off * off;
	cost->off_the_mean += away * away;
}

void cost_report(struct cost *cost, uint64_t index, double seconds) {
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
