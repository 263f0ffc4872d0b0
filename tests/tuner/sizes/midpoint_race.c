/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Midpoint races on known costs: each configuration is the best of a short stretch of sizes, so that the best between
 * two sizes is the best of neither, but took part in the race of one. */
#include <math.h>
#include <stdlib.h>

#include "base/json/js.h"
#include "base/rng.h"
#include "base/stats.h"
#include "tests/tap.h"
#include "tuner/sizes/sizes.h"

enum { CONFIGS = 17, FINALISTS = 4 };
static const double LIST[] = {128, 256, 512, 1024, 2048, 4096};
enum { SIZES = sizeof LIST / sizeof *LIST };

struct bed {
	double noise;
	struct rng rng;
	size_t met, allowed; /* trials in midpoint races, and how many the budget allows */
	int broken;          /* works only at listed sizes; -1: none */
	json_t *finalists[SIZES];
	size_t tuned;
};

static json_t *config_of(int k) {
	return json_pack("{s:i}", "block", 16 << k);
}

static int number_of(const json_t *config) {
	return (int)lround(log2((double)js_int_or(config, "block", 0) / 16));
}

/* Configuration k is cheapest at 100 * 1.3^k. */
static double cost(int k, double n) {
	double off = log(n / (100 * pow(1.3, k)));
	return 1e-6 * n * (1 + 0.3 * off * off);
}

static double noisy(struct bed *bed, double value) {
	return value * exp(bed->noise * rng_normal(&bed->rng));
}

static double lowest(double n, bool *used, int *best) {
	*best = -1;
	for (int k = 0; k < CONFIGS; k++)
		if (!used[k] && (*best < 0 || cost(k, n) < cost(*best, n)))
			*best = k;
	return cost(*best, n);
}

static int tune(void *ctx, double n, size_t expected, struct sizes_point *point, struct err *err) {
	struct bed *bed = ctx;
	bool used[CONFIGS] = {false};
	json_t *finalists = json_array();
	(void)expected;
	(void)err;
	for (int i = 0; i < FINALISTS; i++) {
		int k;
		double median = lowest(n, used, &k);
		json_t *config = config_of(k);
		used[k] = true;
		if (i == 0) {
			point->cost = median;
			point->config = json_incref(config);
		}
		json_array_append_new(finalists,
		                      json_pack("{s:o,s:f,s:b}", "config", config, "median", median, "alive", i == 0));
	}
	point->ci[0] = point->ci[1] = NAN;
	point->finalists = bed->finalists[bed->tuned++] = finalists;
	return 0;
}

static int compare(void *ctx, const struct sizes_point *point, const json_t *config, double *ratio, size_t *pairs,
                   struct err *err) {
	(void)err;
	*ratio = noisy(ctx, cost(number_of(config), point->n) / cost(number_of(point->config), point->n));
	*pairs = 9;
	return 0;
}

static int again(void *ctx, const struct sizes_point *point, int round, double *out, struct err *err) {
	(void)err;
	(void)round;
	*out = noisy(ctx, cost(number_of(point->config), point->n));
	return 0;
}

static int between(void *ctx, const struct sizes_midpoint *midpoint, int round, double *out, struct err *err) {
	(void)err;
	(void)round;
	*out = noisy(ctx, cost(number_of(midpoint->config), midpoint->n));
	return 0;
}

static int midpoint_race(void *ctx, const struct sizes_midpoint *midpoint, int round, double *out, struct err *err) {
	struct bed *bed = ctx;
	int k = number_of(midpoint->config);
	if (bed->met == bed->allowed)
		return 1;
	bed->met++;
	*out = NAN;
	return k == bed->broken ? 0 : between(ctx, midpoint, round, out, err);
}

static struct sizes *explore(struct bed *bed, bool midpoint_races) {
	const struct sizes_plan plan = {.list = LIST, .count = SIZES, .whole = true};
	const struct sizes_bench bench = {.ctx = bed,
	                                  .tune = tune,
	                                  .compare = compare,
	                                  .again = again,
	                                  .between = between,
	                                  .midpoint_race = midpoint_races ? midpoint_race : NULL};
	struct sizes *sizes = sizes_new("made", "n");
	struct err err = {0};
	rng_seed(&bed->rng, 7);
	bed->tuned = 0;
	if (sizes_explore(sizes, &plan, &bench, &err))
		printf("# %s\n", err.what);
	for (size_t i = 0; i < bed->tuned; i++)
		json_decref(bed->finalists[i]);
	return sizes;
}

static double loss_of(const json_t *config, double n) {
	bool used[CONFIGS] = {false};
	int best;
	return cost(number_of(config), n) / lowest(n, used, &best) - 1;
}

/* The mean true loss at the listed sizes, each left out in turn. */
static double left_out_loss(const struct sizes *sizes) {
	double losses[SIZES];
	struct sizes_range ranges[SIZES_RANGES_MAX];
	for (size_t i = 0; i < SIZES; i++)
		losses[i] = loss_of(sizes_range_of(ranges, sizes_ranges(sizes, i, ranges), LIST[i])->config, LIST[i]);
	return stats_median(losses, SIZES);
}

/* The mean true loss between the sizes, none of which was tuned. */
static double gap_loss(const struct sizes *sizes, double *worst) {
	struct sizes_range ranges[SIZES_RANGES_MAX];
	size_t count = 0, ranges_count = sizes_ranges(sizes, SIZE_MAX, ranges);
	double sum = 0;
	*worst = 0;
	for (double n = 130; n < 4096; n *= 1.05, count++) {
		double loss = loss_of(sizes_range_of(ranges, ranges_count, n)->config, n);
		sum += loss;
		*worst = fmax(*worst, loss);
	}
	return sum / (double)count;
}

static void test_better(double noise) {
	struct bed bed = {.noise = noise, .allowed = SIZE_MAX, .broken = -1};
	struct sizes *plain = explore(&bed, false), *met = explore(&bed, true);
	double plain_worst, met_worst, plain_mean = gap_loss(plain, &plain_worst), met_mean = gap_loss(met, &met_worst);
	ok(met_mean < plain_mean / 2 && met_worst < plain_worst,
	   "noise %.3f: between sizes %.4f of the time is lost, at most %.4f; without races %.4f and %.4f", noise, met_mean,
	   met_worst, plain_mean, plain_worst);
	ok(left_out_loss(met) < left_out_loss(plain) / 2, "at a size left out %.4f, without races %.4f", left_out_loss(met),
	   left_out_loss(plain));
	ok(bed.met > 0 && bed.met < 5 * 12 * 7, "midpoint races take %zu trials", bed.met);
	sizes_free(plain);
	sizes_free(met);
}

/* If a size is left out, whatever only its search found does not count. */
static void test_honest(void) {
	struct bed bed = {.allowed = SIZE_MAX, .broken = -1};
	struct sizes *sizes = explore(&bed, true);
	struct sizes_range ranges[SIZES_RANGES_MAX];
	size_t wrong = 0;
	for (size_t i = 0; i < SIZES; i++) {
		size_t count = sizes_ranges(sizes, i, ranges);
		for (size_t r = 0; r < count; r++) {
			bool known = false;
			for (size_t k = 0; k < SIZES; k++) {
				bool used[CONFIGS] = {false};
				int best;
				for (int f = 0; f < FINALISTS; f++) {
					lowest(LIST[k], used, &best);
					used[best] = true;
				}
				known = known || (k != i && used[number_of(ranges[r].config)]);
			}
			wrong += !known;
		}
	}
	ok(wrong == 0, "a size that is left out does not count");
	for (size_t i = 0; i < SIZES; i++) {
		const struct sizes_range *range = sizes_range_of(ranges, sizes_ranges(sizes, SIZE_MAX, ranges), LIST[i]);
		ok(loss_of(range->config, LIST[i]) <= SIZES_MARGIN, "at %.0f the recommendation loses at most the margin",
		   LIST[i]);
	}
	sizes_free(sizes);
}

static void test_short(void) {
	struct bed bed = {.allowed = 0, .broken = -1}, plain_bed = {.allowed = 0, .broken = -1};
	struct sizes *none = explore(&bed, true), *plain = explore(&plain_bed, false);
	json_t *one = sizes_json(none), *other = sizes_json(plain);
	ok(json_equal(one, other), "nothing changes without a budget for races");
	json_decref(one);
	json_decref(other);
	sizes_free(none);
	sizes_free(plain);
	bed = (struct bed){.allowed = 70, .broken = -1};
	struct sizes *few = explore(&bed, true);
	double worst;
	ok(bed.met == 70 && isfinite(gap_loss(few, &worst)), "a budget for the first rounds only");
	sizes_free(few);
}

static void test_broken(void) {
	for (int k = 0; k < CONFIGS; k++) {
		struct bed bed = {.allowed = SIZE_MAX, .broken = k};
		struct sizes *sizes = explore(&bed, true);
		json_t *json = sizes_json(sizes), *midpoint, *met;
		size_t i, m, told = 0;
		json_array_foreach(json_object_get(json, "between"), i, midpoint)
			json_array_foreach(json_object_get(midpoint, "met"), m, met) told +=
			number_of(json_object_get(met, "config")) == k && json_is_number(json_object_get(met, "ratio"));
		ok(told == 0, "a configuration that fails at midpoints has no ratio there (%d)", k);
		json_decref(json);
		sizes_free(sizes);
	}
}

int main(void) {
	test_better(0);
	test_better(0.005);
	test_honest();
	test_short();
	test_broken();
	return tap_done();
}
