/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranges of sizes and the search for their thresholds on known costs: three configurations, each the best of one part
 * of the sizes. */
#include <math.h>
#include <stdlib.h>

#include "base/json/js.h"
#include "base/rng.h"
#include "tests/tap.h"
#include "tuner/sizes/sizes.h"

struct bed {
	double threshold[2]; /* a is best up to the first, b up to the second, then c */
	double noise, cap;   /* cap: the largest size that c works at least at; a fails above; INFINITY: never */
	struct rng rng;
	size_t tuned, compared, asked_again;
	double sizes[SIZES_MAX];
	size_t budget;
};

static json_t *config_of(char letter) {
	return json_pack("{s:s%}", "lock", &letter, (size_t)1);
}

/* Steep and shallow laws: both cost the same at a threshold. */
static double cost(const struct bed *bed, char letter, double n) {
	double b = 1e-6 * n * n;
	if (letter == 'a')
		return b * pow(n / bed->threshold[0], 0.8);
	return letter == 'b' ? b : b * pow(n / bed->threshold[1], -0.6);
}

static char best_at(const struct bed *bed, double n) {
	return n <= bed->threshold[0] ? 'a' : n <= bed->threshold[1] ? 'b' : 'c';
}

static int tune(void *ctx, double n, size_t expected, struct sizes_point *point, struct err *err) {
	struct bed *bed = ctx;
	char letter = best_at(bed, n);
	(void)err;
	if (bed->tuned == bed->budget)
		return 2;
	for (size_t i = 0; i < bed->tuned; i++)
		bed->asked_again += bed->sizes[i] == n;
	bed->asked_again += expected == 0;
	bed->sizes[bed->tuned++] = n;
	if (n > bed->cap)
		return 1;
	point->cost = cost(bed, letter, n) * exp(bed->noise * rng_normal(&bed->rng));
	point->config = config_of(letter);
	point->ci[0] = point->ci[1] = NAN;
	return 0;
}

static int compare(void *ctx, const struct sizes_point *point, const json_t *config, double *ratio, size_t *pairs,
                   struct err *err) {
	struct bed *bed = ctx;
	(void)err;
	char mine = *js_string_or(config, "lock", "?"), best = *js_string_or(point->config, "lock", "?");
	*ratio = cost(bed, mine, point->n) / cost(bed, best, point->n) * exp(0.2 * bed->noise * rng_normal(&bed->rng));
	*pairs = 9;
	bed->compared++;
	return 0;
}

/* Half of the first cost, which shows that the costs measured in rounds count. */
static int again(void *ctx, const struct sizes_point *point, int round, double *out, struct err *err) {
	(void)err;
	*out = round == 4 ? 1e3 : cost(ctx, best_at(ctx, point->n), point->n) / 2;
	return 0;
}

/* Half as well; at 800 and above nothing can be set up. */
static int between(void *ctx, const struct sizes_midpoint *midpoint, int round, double *out, struct err *err) {
	struct bed *bed = ctx;
	(void)err;
	*out = cost(bed, *js_string_or(midpoint->config, "lock", "?"), midpoint->n) / 2;
	bed->compared += round == 0;
	return midpoint->n >= 800;
}

static struct sizes *explore(struct bed *bed, const struct sizes_plan *plan) {
	struct sizes *sizes = sizes_new("made", "n");
	const struct sizes_bench bench = {.ctx = bed, .tune = tune, .compare = compare};
	bed->budget = bed->budget ? bed->budget : SIZES_MAX;
	rng_seed(&bed->rng, 3);
	int failed = sizes_explore(sizes, plan, &bench, NULL);
	ok(failed == 0, "explored %zu sizes, %zu comparisons", bed->tuned, bed->compared);
	ok(bed->asked_again == 0, "each once");
	return sizes;
}

/* The configuration that loses little: near a threshold either one will do. */
static double loss(const struct bed *bed, const struct sizes *sizes, double n) {
	struct sizes_range ranges[SIZES_RANGES_MAX];
	const struct sizes_range *range = sizes_range_of(ranges, sizes_ranges(sizes, SIZE_MAX, ranges), n);
	return range ? cost(bed, *js_string_or(range->config, "lock", "?"), n) / cost(bed, best_at(bed, n), n) - 1
	             : INFINITY;
}

/* What the fitted law says of a size; NAN: no piece of it is about that size. */
static double law_at(const struct sizes *sizes, double n) {
	js_auto json_t *json = sizes_json(sizes);
	js_each (piece, js_at(json, "laws.0.pieces"))
		if (n >= js_real_or(piece, "from", NAN) && n <= js_real_or(piece, "to", NAN))
			return js_real_or(piece, "overhead", NAN) +
			       js_real_or(piece, "factor", NAN) * pow(n, js_real_or(piece, "exponent", NAN));
	return NAN;
}

static void test_thresholds(double noise) {
	struct bed bed = {.threshold = {700, 5000}, .noise = noise, .cap = INFINITY};
	struct sizes_plan plan = {.from = 64, .to = 16384, .whole = true};
	struct sizes *sizes = explore(&bed, &plan);
	struct sizes_range ranges[SIZES_RANGES_MAX];
	size_t count = sizes_ranges(sizes, SIZE_MAX, ranges);
	double worst = 0;
	ok(count == 3, "three ranges (%zu)", count);
	for (size_t i = 0; i < count && i < 3; i++)
		ok(*js_string_or(ranges[i].config, "lock", "") == "abc"[i], "range %c is where it should be", "abc"[i]);
	for (size_t i = 0; i + 1 < count; i++) {
		ok(fabs(log(ranges[i].to / bed.threshold[i])) < log(1.12), "threshold %.0f found at %.0f", bed.threshold[i],
		   ranges[i].to);
		ok(ranges[i].to == ranges[i + 1].from, "the ranges meet");
	}
	for (double n = 64; n <= 16384; n *= 1.05)
		worst = fmax(worst, loss(&bed, sizes, n));
	ok(worst < 2 * SIZES_MARGIN, "the recommendation at any size loses at most %.3f", worst);
	ok(bed.tuned <= 20, "the search tunes %zu sizes", bed.tuned);
	double truth = cost(&bed, 'b', 2000), law = law_at(sizes, 2000);
	ok(fabs(law / truth - 1) < 0.15, "predicted %.4g where it takes %.4g", law, truth);
	sizes_free(sizes);
}

/* One configuration for all sizes: both ends, the middle and enough sizes for a law. */
static void test_one_range(void) {
	struct bed bed = {.threshold = {1e6, 1e7}, .cap = INFINITY};
	struct sizes_plan plan = {.from = 100, .to = 10000, .whole = true};
	struct sizes *sizes = explore(&bed, &plan);
	struct sizes_range ranges[SIZES_RANGES_MAX];
	ok(sizes_ranges(sizes, SIZE_MAX, ranges) == 1 && bed.tuned == 5, "no threshold: %zu sizes", bed.tuned);
	json_t *json = sizes_json(sizes);
	const json_t *threshold = json_array_get(json_object_get(json, "thresholds"), 0);
	ok(js_int_or(threshold, "from", 0) == 100 && js_int_or(threshold, "to", 0) == 10000, "one range from end to end");
	ok(js_real_or(json_object_get(json, "leave_one_out"), "worst_error", 1) < 0.01, "predicted well");
	json_decref(json);
	sizes_free(sizes);
}

static void test_list(void) {
	const double list[] = {50, 300, 800, 2000};
	struct bed bed = {.threshold = {700, 5000}, .cap = INFINITY};
	struct sizes_plan plan = {.list = list, .count = 4};
	struct sizes *sizes = explore(&bed, &plan);
	ok(bed.tuned == 4 && bed.sizes[0] == 50 && bed.sizes[3] == 2000, "a list is tuned as given, small sizes first");
	struct sizes_range ranges[SIZES_RANGES_MAX];
	ok(sizes_ranges(sizes, SIZE_MAX, ranges) == 2 && ranges[0].to > 300 && ranges[0].to < 800, "two ranges");
	ok(fabs(ranges[0].to - 700) < 10, "the threshold by the ratios on either side (%.1f)", ranges[0].to);
	sizes_free(sizes);
}

static void test_turns(void) {
	struct bed bed = {.threshold = {1e6, 1e7}, .cap = INFINITY};
	const double list[] = {100, 200, 400};
	struct sizes_plan plan = {.list = list, .count = 3};
	struct sizes *sizes = sizes_new("made", "n");
	const struct sizes_bench bench = {.ctx = &bed, .tune = tune, .compare = compare, .again = again};
	bed.budget = SIZES_MAX;
	rng_seed(&bed.rng, 3);
	ok(sizes_explore(sizes, &plan, &bench, NULL) == 0, "sizes measured in rounds");
	for (size_t i = 0; i < sizes_count(sizes); i++)
		ok(fabs(sizes_point(sizes, i)->cost / cost(&bed, 'a', list[i]) - 0.5) < 1e-9, "the median of a size counts");
	sizes_free(sizes);
}

/* The recommended configuration is measured between sizes that are far apart, and supports the law. */
static void test_between(void) {
	struct bed bed = {.threshold = {1e6, 1e7}, .cap = INFINITY};
	const double list[] = {100, 140, 400, 1600};
	struct sizes_plan plan = {.list = list, .count = 4};
	struct sizes *sizes = sizes_new("made", "n");
	const struct sizes_bench bench = {
		.ctx = &bed, .tune = tune, .compare = compare, .again = again, .between = between};
	bed.budget = SIZES_MAX;
	rng_seed(&bed.rng, 3);
	ok(sizes_explore(sizes, &plan, &bench, NULL) == 0 && sizes_count(sizes) == 4, "a list stays as it is");
	json_t *json = sizes_json(sizes), *midpoints = json_object_get(json, "between"), *midpoint;
	size_t i, good = 0;
	json_array_foreach(midpoints, i, midpoint) {
		double n = js_real_or(midpoint, "size", NAN);
		good += n > 140 && n < 800 && fabs(js_real_or(midpoint, "median", NAN) / cost(&bed, 'a', n) - 0.5) < 1e-9;
	}
	ok(json_array_size(midpoints) == sizes_midpoint_count(sizes) && good == json_array_size(midpoints) && good >= 2 &&
	       good <= 5,
	   "%zu midpoints, where they can be set up", good);
	ok(js_int_or(json_array_get(json_object_get(json, "laws"), 0), "sizes", 0) == (json_int_t)(4 + good),
	   "the law is fitted to all of them");
	ok(json_array_size(json_object_get(json, "measured")) == 4 &&
	       json_array_size(json_object_get(json, "checked")) == 4,
	   "tuned sizes and midpoints are kept apart");
	json_decref(json);
	const json_t *config = sizes_point(sizes, 0)->config;
	ok(!sizes_midpoint_add(sizes, 400, config, 1) && !sizes_midpoint_add(sizes, 300, config, NAN),
	   "a tuned size or an invalid cost is refused");
	for (double n = 401; n < 480; n++)
		sizes_midpoint_add(sizes, n, config, 1);
	ok(sizes_midpoint_count(sizes) < 32 && sizes_midpoint_add(sizes, 401, config, 2),
	   "the number of midpoints is limited, and one may be replaced");
	sizes_free(sizes);
}

/* A size at which nothing works is tried once, and a used-up budget ends the exploration. */
static void test_limits(void) {
	struct bed bed = {.threshold = {700, 5000}, .cap = 6000},
			   few = {.threshold = {700, 5000}, .cap = INFINITY, .budget = 4};
	struct sizes_plan plan = {.from = 64, .to = 16384, .whole = true};
	struct sizes *sizes = explore(&bed, &plan);
	ok(sizes_count(sizes) >= 2 && sizes_point(sizes, sizes_count(sizes) - 1)->n <= 6000,
	   "sizes that fail are left out");
	sizes_free(sizes);
	sizes = explore(&few, &plan);
	ok(few.tuned == 4 && sizes_count(sizes) == 4, "no more comparisons than the budget allows");
	sizes_free(sizes);
	sizes = sizes_new("made", "n");
	json_t *json = sizes_json(sizes);
	ok(json_is_string(json_object_get(json, "refused")), "the JSON of no sizes says why there is no law");
	json_decref(json);
	sizes_free(sizes);
}

static void point_add(struct sizes *sizes, double n, double cost_of_it, char letter) {
	json_t *config = config_of(letter);
	const struct sizes_point point = {.n = n, .cost = cost_of_it, .ci = {NAN, NAN}, .config = config};
	sizes_add(sizes, &point);
	json_decref(config);
}

/* b was measured nowhere else: a stands for its size if two extra ranges would not save enough, and only within 3 %. */
static void test_merge(void) {
	static const struct {
		double of_a, of_c;
		size_t ranges;
	} cases[] = {{1.015, 1.5, 1}, {1.025, 1.5, 3}, {1.05, 1.5, 3}, {NAN, 1.02, 3}, {INFINITY, INFINITY, 3}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sizes *sizes = sizes_new("made", "n");
		struct sizes_range ranges[SIZES_RANGES_MAX];
		json_t *a = config_of('a'), *c = config_of('c');
		point_add(sizes, 30, 3, 'a');
		point_add(sizes, 10, 1, 'a');
		point_add(sizes, 20, 2, 'b');
		sizes_ratio_set(sizes, 1, a, cases[i].of_a, 9);
		sizes_ratio_set(sizes, 1, c, cases[i].of_c, 9);
		size_t count = sizes_ranges(sizes, SIZE_MAX, ranges);
		ok(count == cases[i].ranges, "a loses %.3f at the middle size: %zu range(s)", cases[i].of_a - 1, count);
		ok(sizes_ranges(sizes, 1, ranges) == 1, "there is one range without the middle size");
		json_decref(a);
		json_decref(c);
		sizes_free(sizes);
	}
}

int main(void) {
	test_thresholds(0);
	test_thresholds(0.02);
	test_one_range();
	test_list();
	test_turns();
	test_between();
	test_limits();
	test_merge();
	return tap_done();
}
