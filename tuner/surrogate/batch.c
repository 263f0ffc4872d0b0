/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Configurations that were proposed and have no result yet: their assumed outcomes, and which of them are still worth
 * measuring (ADR 15). */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "tuner/surrogate/cost.h"
#include "tuner/surrogate/impl.h"

/* A pending configuration is not worth measuring if it promises less than this share of what the next proposal does. */
static const double WORTH_MIN = 0.02;
enum { RANKED_MAX = 256 };

void surrogate_await(struct surrogate *surrogate, uint64_t index, bool own) {
	if (surrogate->pending_count == PENDING_MAX) /* the oldest never got a result and is forgotten */
		memmove(surrogate->pending, surrogate->pending + 1, --surrogate->pending_count * sizeof *surrogate->pending);
	surrogate->pending[surrogate->pending_count++] = (struct pending){index, own};
}

void surrogate_withdraw(struct surrogate *surrogate, uint64_t index) {
	for (size_t i = 0; i < surrogate->pending_count; i++)
		if (surrogate->pending[i].index == index) {
			surrogate->pending[i] = surrogate->pending[--surrogate->pending_count];
			return;
		}
}

void surrogate_believe(struct surrogate *surrogate) {
	uint16_t codes[GP_DIMS_MAX];
	size_t rows = surrogate->in_value;
	double variance;
	if (surrogate->pending_count == 0)
		return;
	for (size_t i = 0; i < surrogate->pending_count; i++) {
		surrogate_codes(surrogate, surrogate->pending[i].index, codes);
		gp_predict(surrogate->value, codes, &surrogate->target[rows + i], &variance);
	}
	for (size_t i = 0; i < surrogate->pending_count; i++) {
		surrogate_codes(surrogate, surrogate->pending[i].index, codes);
		gp_add(surrogate->value, codes, 0);
		surrogate->incumbent = fminf(surrogate->incumbent, (float)surrogate->target[rows + i]);
	}
	gp_target(surrogate->value, surrogate->target);
	gp_condition(surrogate->value);
}

struct ranked {
	uint64_t index;
	double mean, chance, share;
	bool own, done;
};

static bool is_own(const struct surrogate *surrogate, uint64_t index) {
	for (size_t i = 0; i < surrogate->pending_count; i++)
		if (surrogate->pending[i].index == index)
			return surrogate->pending[i].own;
	return false;
}

static void look_up(struct surrogate *surrogate, struct ranked *ranked, uint64_t index, uint16_t *codes) {
	double variance;
	surrogate_codes(surrogate, index, codes);
	gp_predict(surrogate->value, codes, &ranked->mean, &variance);
	ranked->index = index;
	ranked->chance = surrogate_chance_at(surrogate, codes);
	ranked->share = cost_share(surrogate->cost, cost_power(surrogate->cost), codes);
	ranked->own = is_own(surrogate, index);
	ranked->done = false;
}

/* The expected improvement of the configuration that the model would propose instead of a pending one. */
static double best_other(struct surrogate *surrogate) {
	uint64_t index;
	surrogate_believe(surrogate);
	gp_pool_predict(surrogate->values);
	return surrogate_most_promising(surrogate, &index);
}

static size_t best_left(const struct surrogate *surrogate, const struct ranked *ranked, const double *covariance,
                        size_t count, double incumbent, double *worth) {
	size_t best = SIZE_MAX;
	*worth = -1;
	for (size_t i = 0; i < count; i++) {
		double deviation = sqrt(surrogate->stretch * fmax(covariance[i * count + i], 1e-9));
		if (ranked[i].done)
			continue;
		double own = ranked[i].chance * ranked[i].share * surrogate_gain_of(incumbent - ranked[i].mean, deviation);
		if (own > *worth) {
			*worth = own;
			best = i;
		}
	}
	return best;
}

/* The covariances of all others once this one is measured, too. */
static void condition_on(double *covariance, size_t count, size_t at, double noise) {
	double variance = covariance[at * count + at] + noise;
	double *row = mem_alloc(count, sizeof *row);
	memcpy(row, covariance + at * count, count * sizeof *row);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++)
			covariance[i * count + j] -= row[i] * row[j] / variance;
	free(row);
}

/* One after the other, each given that those before it come out as their means. */
static size_t order(struct surrogate *surrogate, struct ranked *ranked, double *covariance, uint64_t *pending,
                    size_t count, double incumbent) {
	double worth, least = WORTH_MIN * best_other(surrogate);
	size_t kept = 0, dropped = 0;
	uint64_t *behind = mem_alloc(count, sizeof *behind);
	for (size_t n = 0; n < count; n++) {
		size_t at = best_left(surrogate, ranked, covariance, count, incumbent, &worth);
		ranked[at].done = true;
		if (ranked[at].own && worth < least) {
			behind[dropped++] = ranked[at].index;
			continue;
		}
		pending[kept++] = ranked[at].index;
		incumbent = fmin(incumbent, ranked[at].mean);
		condition_on(covariance, count, at, fmax(gp_noise(surrogate->value), 1e-6));
	}
	memcpy(pending + kept, behind, dropped * sizeof *behind);
	free(behind);
	return kept;
}

size_t surrogate_rank(struct surrogate *surrogate, uint64_t *pending, size_t count) {
	if (surrogate->worked == 0 || count > RANKED_MAX)
		return count;
	surrogate_refresh(surrogate);
	struct ranked *ranked = mem_alloc(count, sizeof *ranked);
	uint16_t *codes = mem_alloc(count * surrogate->dims + 1, sizeof *codes);
	double *covariance = mem_alloc(count * count, sizeof *covariance);
	for (size_t i = 0; i < count; i++)
		look_up(surrogate, &ranked[i], pending[i], codes + i * surrogate->dims);
	gp_covariances(surrogate->value, codes, count, covariance);
	size_t kept = order(surrogate, ranked, covariance, pending, count, surrogate->incumbent);
	free(covariance);
	free(codes);
	free(ranked);
	return kept;
}
