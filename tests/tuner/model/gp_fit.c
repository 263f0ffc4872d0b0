/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests what a fit finds, and that it survives extreme input. */
#include <gsl/gsl_errno.h>

#include "tests/tuner/model/gp_help.h"
#include "tests/tap.h"

enum { LEVELS = 9, ROWS = 60 };

/* How much the targets vary along a dimension, 0 to 1. */
static double relevance(const struct gp *gp, size_t dim) {
	return 1 - gp_matern(exp(-gp->theta[dim]), NULL);
}

static bool is_sane(struct gp *gp, const struct gp_dim *dims, size_t count) {
	uint16_t codes[GP_DIMS_MAX];
	double mean, variance;
	bool sane = true;
	for (size_t t = 0; t < count + GP_SHAPES; t++)
		sane &= isfinite(gp->theta[t]);
	for (size_t i = 0; i < 40; i++) {
		for (size_t d = 0; d < count; d++)
			codes[d] = (uint16_t)(i * (d + 3) % dims[d].values);
		gp_predict(gp, codes, &mean, &variance);
		sane &= isfinite(mean) && isfinite(variance) && variance >= 0;
	}
	double *left = mem_alloc(gp_count(gp) + 1, sizeof *left), *wide = mem_alloc(gp_count(gp) + 1, sizeof *wide);
	gp_leave_one_out(gp, left, wide);
	for (size_t i = 0; i < gp_count(gp); i++)
		sane &= isfinite(left[i]) && wide[i] > 0 && isfinite(wide[i]);
	free(left);
	free(wide);
	return sane;
}

/* A pool over the same configurations as is_sane must not give NAN either. */
static bool is_pool_sane(struct gp *gp, const struct gp_dim *dims, size_t count) {
	uint16_t codes[40 * GP_DIMS_MAX];
	bool sane = true;
	struct gp_pool *pool = gp_pool_new(gp, 40);
	for (size_t i = 0; i < 40; i++)
		for (size_t d = 0; d < count; d++)
			codes[i * count + d] = (uint16_t)(i * (d + 3) % dims[d].values);
	gp_pool_set(pool, codes, 40);
	gp_pool_predict(pool);
	for (size_t i = 0; i < 40; i++)
		sane &= isfinite(gp_pool_mean(pool)[i]) && isfinite(gp_pool_variance(pool)[i]);
	gp_pool_free(pool);
	return sane;
}

static const double *places(double *at, size_t count) {
	for (size_t v = 0; v < count; v++)
		at[v] = count > 1 ? (double)v / (double)(count - 1) : 0;
	return at;
}

/* Targets depend on the second of four dimensions only. */
static struct gp *one_matters(uint64_t seed) {
	double at[LEVELS], target[ROWS];
	struct gp_dim dims[4];
	struct rng rng;
	rng_seed(&rng, seed);
	for (size_t d = 0; d < 4; d++)
		dims[d] = (struct gp_dim){.values = LEVELS, .at = d < 3 ? places(at, LEVELS) : NULL, .length = 1};
	struct gp *gp = gp_new(dims, 4);
	for (size_t i = 0; i < ROWS; i++) {
		uint16_t codes[4];
		for (size_t d = 0; d < 4; d++)
			codes[d] = (uint16_t)rng_below(&rng, LEVELS);
		gp_add(gp, codes, 0);
		target[i] = sin(6 * at[codes[1]]) + 0.05 * rng_normal(&rng);
	}
	gp_target(gp, target);
	return gp;
}

static void finds(void) {
	bool finds = true, rises = true, same = true;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct gp *gp = one_matters(seed), *again = one_matters(seed);
		double last = -INFINITY;
		for (int round = 0; round < 4; round++) {
			gp_fit(gp, round ? 6 : 20);
			gp_fit(again, round ? 6 : 20);
			rises &= gp_likelihood(gp) >= last;
			last = gp_likelihood(gp);
			same &= memcmp(gp->theta, again->theta, (4 + GP_SHAPES) * sizeof *gp->theta) == 0;
		}
		for (size_t d = 0; d < 4; d++)
			finds &= d == 1 || relevance(gp, d) < 0.6 * relevance(gp, 1);
		gp_free(gp);
		gp_free(again);
	}
	ok(finds, "the dimension that matters is found");
	ok(rises, "fitting again never lowers the likelihood");
	ok(same, "the same data, the same parameters");
}

enum data { EQUAL, NOISE, HUGE_NOISE, CONTRADICTING, TINY_NOISE };

static const struct hard {
	const char *what;
	size_t values[3], count; /* dimensions, ended by 0 */
	enum data data;
	double scale;
} HARD[] = {
	{"nothing", {4, 3, 0}, 0, NOISE, 1},
	{"one observation", {4, 3, 0}, 1, NOISE, 1},
	{"two observations", {4, 3, 0}, 2, NOISE, 1},
	{"equal targets", {9, 9, 3}, 40, EQUAL, 1},
	{"targets of 0", {9, 9, 3}, 40, EQUAL, 0},
	{"contradicting targets of one configuration", {5, 5, 0}, 30, CONTRADICTING, 1},
	{"contradicting targets of 10^6", {5, 5, 0}, 60, CONTRADICTING, 1e6},
	{"targets of 10^6", {9, 9, 3}, 60, NOISE, 1e6},
	{"equal targets of 10^6", {9, 9, 3}, 60, EQUAL, 1e6},
	{"targets of 10^-9", {9, 9, 3}, 60, NOISE, 1e-9},
	{"600 observations", {50, 9, 9}, 600, NOISE, 1},
	{"600 observations of 12 configurations", {4, 3, 0}, 600, NOISE, 1},
	{"a dimension of one value", {1, 9, 0}, 30, NOISE, 1},
	{"nothing but one value", {1, 0, 0}, 10, NOISE, 1},
	{"no dimension", {0, 0, 0}, 10, NOISE, 1},
	{"4096 values", {4096, 4096, 3}, 80, NOISE, 1},
};

static void hard(const struct hard *hard) {
	static double at[4096], target[600];
	struct gp_dim dims[3];
	size_t count = 0;
	struct rng rng;
	rng_seed(&rng, 9);
	for (; count < 3 && hard->values[count]; count++)
		dims[count] = (struct gp_dim){
			.values = hard->values[count], .at = count == 1 ? NULL : places(at, hard->values[count]), .length = 1};
	struct gp *gp = gp_new(dims, count);
	for (size_t i = 0; i < hard->count; i++) {
		uint16_t codes[3];
		for (size_t d = 0; d < count; d++)
			codes[d] = hard->data == CONTRADICTING ? 1 : (uint16_t)rng_below(&rng, dims[d].values);
		gp_add(gp, codes, 0);
		target[i] = hard->scale * (hard->data == EQUAL ? 1 : rng_normal(&rng));
	}
	gp_target(gp, target);
	bool sane = true;
	for (int round = 0; round < 3; round++) {
		gp_fit(gp, hard->count > 200 ? 4 : 15);
		gp_condition(gp);
		sane &= is_sane(gp, dims, count) && is_pool_sane(gp, dims, count);
	}
	ok(sane, "%s: nothing but finite numbers", hard->what);
	gp_free(gp);
}

/* A handler that must never be called. */
static void abort_on(const char *reason, const char *file, int line, int code) {
	fprintf(stderr, "%s:%d: %s (%d)\n", file, line, reason, code);
	abort();
}

/* A trend of an earlier search, in which code c was c/255 slower. */
static double follows(bool shuffled, size_t rows, double *slope) {
	double at[256], target[200], low, high, variance;
	struct rng rng;
	rng_seed(&rng, 3);
	struct gp_dim dims[] = {
		{.values = 256, .at = places(at, 256), .length = 1, .trend = true, .slope = 0.7, .slope_deviation = 0.5},
		{.values = LEVELS, .length = 1}};
	struct gp *gp = gp_new(dims, 2);
	for (size_t i = 0; i < rows; i++) {
		uint16_t code = (uint16_t)rng_below(&rng, 256), other = (uint16_t)rng_below(&rng, LEVELS);
		gp_add(gp, (uint16_t[]){code, other}, 0);
		target[i] = (shuffled ? rng_unit(&rng) : at[code]) + 0.02 * rng_normal(&rng);
	}
	gp_target(gp, target);
	gp_fit(gp, 20);
	gp_condition(gp);
	gp_predict(gp, (uint16_t[]){0, 3}, &low, &variance);
	gp_predict(gp, (uint16_t[]){255, 3}, &high, &variance);
	*slope = high - low;
	gp_free(gp);
	return high;
}

static void trends(void) {
	double none, few, many, shuffled;
	follows(false, 0, &none);
	follows(false, 3, &few);
	follows(false, 60, &many);
	follows(true, 120, &shuffled);
	ok(near(none, 0.7, 1e-9), "before anything is measured a trend is the prior's (%.2f)", none);
	ok(few > 0.4 && fabs(many - 1) < 0.1, "a perfect source is followed (%.2f, %.2f)", few, many);
	ok(fabs(shuffled) < 0.25, "a shuffled one is dropped (%.2f)", shuffled);
}

int main(void) {
	gsl_set_error_handler(abort_on); /* gp_new removes it */
	finds();
	for (size_t i = 0; i < sizeof HARD / sizeof *HARD; i++)
		hard(&HARD[i]);
	trends();
	return tap_done();
}
