/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests large spaces with known counts: published kernels' spaces, and chains over 10^12 combinations. */
#include <math.h>

#include "tests/tap.h"
#include "tests/tuner/space/help.h"

/* Compares with the published exhaustive measurements of these spaces. */
static void check_figures(struct space *space, const char *name, double cartesian, uint64_t valid) {
	struct rng rng;
	uint64_t wrong = 0;
	int config[SPACE_PARAMS_MAX];
	built(space);
	ok(space_cartesian(space) == cartesian && space_valid(space) == valid, "%s: %.0f combinations, %llu valid", name,
	   space_cartesian(space), (unsigned long long)space_valid(space));
	rng_seed(&rng, 3);
	for (int i = 0; i < 2000; i++) {
		uint64_t index = space_sample(space, &rng), back = UINT64_MAX;
		space_config(space, index, config);
		wrong += !space_index(space, config, &back) || back != index;
	}
	ok(wrong == 0, "%s: numbers go back and forth", name);
	space_free(space);
}

static struct space *dedispersion_space(void) {
	struct space *space = space_new();
	add_param(space, "block_size_x", "pow2(1,32)", NULL);
	add_param(space, "block_size_y", "32..256+8", NULL);
	add_param(space, "block_size_z", "1", NULL);
	add_param(space, "tile_size_x", "1..4", NULL);
	add_param(space, "tile_size_y", "1..8", NULL);
	add_param(space, "tile_stride_x", "0,1", NULL);
	add_param(space, "tile_stride_y", "0,1", NULL);
	add_param(space, "loop_unroll_factor_channel", "0", NULL);
	add_constraint(space, "32 <= block_size_x * block_size_y <= 1024");
	add_constraint(space, "tile_size_x > 1 or tile_stride_x == 0");
	add_constraint(space, "tile_size_y > 1 or tile_stride_y == 0");
	return space;
}

static struct space *gemm_space(void) {
	struct space *space = space_new();
	add_param(space, "GEMMK", "0", NULL);
	add_param(space, "MWG", "16,32,64,128", NULL);
	add_param(space, "NWG", "16,32,64,128", NULL);
	add_param(space, "KWG", "16,32", NULL);
	add_param(space, "MDIMC", "8,16,32", NULL);
	add_param(space, "NDIMC", "8,16,32", NULL);
	add_param(space, "MDIMA", "8,16,32", NULL);
	add_param(space, "NDIMB", "8,16,32", NULL);
	add_param(space, "KWI", "2", NULL);
	add_param(space, "VWM", "1,2,4,8", NULL);
	add_param(space, "VWN", "1,2,4,8", NULL);
	add_param(space, "STRM", "0,1", NULL);
	add_param(space, "STRN", "0,1", NULL);
	add_param(space, "SA", "0,1", NULL);
	add_param(space, "SB", "0,1", NULL);
	add_param(space, "KREG", "1", NULL);
	add_param(space, "PRECISION", "32", NULL);
	add_constraint(space, "KWG % KWI == 0");
	add_constraint(space, "MWG % (MDIMC * VWM) == 0");
	add_constraint(space, "NWG % (NDIMC * VWN) == 0");
	add_constraint(space, "MWG % (MDIMA * VWM) == 0");
	add_constraint(space, "NWG % (NDIMB * VWN) == 0");
	add_constraint(space, "KWG % ((MDIMC * NDIMC)/MDIMA) == 0");
	add_constraint(space, "KWG % ((MDIMC * NDIMC)/NDIMB) == 0");
	add_constraint(space, "not (MWG == 128 and NWG == 128 and MDIMC == 8 and NDIMC == 8)");
	return space;
}

static struct space *line_space(int params, int values, const char *link) {
	struct space *space = space_new();
	char name[16], range[32], text[64];
	for (int i = 0; i < params; i++) {
		snprintf(name, sizeof name, "p%d", i);
		snprintf(range, sizeof range, "1..%d", values);
		add_param(space, name, range, NULL);
	}
	for (int i = 0; link && i + 1 < params; i++) {
		snprintf(text, sizeof text, link, i, i + 1);
		add_constraint(space, text);
	}
	return space;
}

static double choose(int n, int k) {
	double product = 1;
	for (int i = 1; i <= k; i++)
		product = product * (n - k + i) / i;
	return round(product);
}

/* p0 of a rising chain is v in choose(values - v + params - 1, params - 1) of the configurations. */
static void check_marginal(const struct space *space, int params, int values) {
	enum { DRAWS = 20000 };
	struct rng rng;
	int config[SPACE_PARAMS_MAX];
	size_t hits[16] = {0};
	double chi = 0;
	rng_seed(&rng, 9);
	for (int i = 0; i < DRAWS; i++) {
		space_config(space, space_sample(space, &rng), config);
		hits[config[0]]++;
	}
	int freedom = -1;
	for (int v = 1; v <= values; v++) {
		double expect = DRAWS * choose(values - v + params - 1, params - 1) / (double)space_valid(space);
		if (expect < 5)
			continue;
		chi += ((double)hits[v - 1] - expect) * ((double)hits[v - 1] - expect) / expect;
		freedom++;
	}
	ok(freedom > 2 && chi < freedom + 6 * sqrt(2.0 * freedom),
	   "samples of the chain are uniform (chi-square %.1f of %d)", chi, freedom);
}

static void test_rising(void) {
	struct space *narrow = built(line_space(12, 10, "p%d <= p%d")), *wide = built(line_space(4, 1000, "p%d <= p%d"));
	ok((double)space_valid(narrow) == choose(21, 12), "12 rising values of 10 each: %llu of 10^12",
	   (unsigned long long)space_valid(narrow));
	ok((double)space_valid(wide) == choose(1003, 4), "4 rising values of 1000 each: %llu of 10^12",
	   (unsigned long long)space_valid(wide));
	check_marginal(narrow, 12, 10);
	space_free(narrow);
	space_free(wide);
	struct space *one = line_space(4, 1000, NULL);
	add_constraint(one, "p3 >= p2 >= p1 >= p0");
	ok((double)space_valid(built(one)) == choose(1003, 4), "the same as one chained comparison");
	space_free(one);
}

/* Counts, position by position, neighbours in a line with p * q <= limit. */
static uint64_t count_product_line(int params, int values, int limit) {
	uint64_t ways[1001], next[1001], sum = 0;
	for (int v = 1; v <= values; v++)
		ways[v] = 1;
	for (int i = 1; i < params; i++) {
		for (int v = 1; v <= values; v++) {
			next[v] = 0;
			for (int w = 1; w <= values && w * v <= limit; w++)
				next[v] += ways[w];
		}
		memcpy(ways, next, sizeof ways);
	}
	for (int v = 1; v <= values; v++)
		sum += ways[v];
	return sum;
}

static void test_product_lines(void) {
	struct space *narrow = built(line_space(6, 100, "p%d * p%d <= 1000"));
	struct space *wide = built(line_space(4, 1000, "100000 >= p%d * p%d"));
	ok(space_valid(narrow) == count_product_line(6, 100, 1000), "6 products of 100 values each: %llu of 10^12",
	   (unsigned long long)space_valid(narrow));
	ok(space_valid(wide) == count_product_line(4, 1000, 100000), "4 products of 1000 values each: %llu of 10^12",
	   (unsigned long long)space_valid(wide));
	space_free(narrow);
	space_free(wide);
}

/* ways[s]: number of combinations of `params` values 1..values whose sum (or product) is s, for s up to limit. */
static uint64_t count_total(int params, int values, int limit, bool product) {
	uint64_t *ways = mem_alloc((size_t)limit + 1, sizeof *ways), sum = 0;
	ways[product ? 1 : 0] = 1;
	for (int i = 0; i < params; i++) {
		uint64_t *next = mem_alloc((size_t)limit + 1, sizeof *next);
		for (int s = 0; s <= limit; s++)
			for (int v = 1; v <= values && ways[s] && (product ? s * v : s + v) <= limit; v++)
				next[product ? s * v : s + v] += ways[s];
		free(ways);
		ways = next;
	}
	for (int s = 0; s <= limit; s++)
		sum += ways[s];
	free(ways);
	return sum;
}

static void test_totals(void) {
	struct space *product = line_space(6, 100, NULL), *sum = line_space(12, 10, NULL), *less = line_space(6, 100, NULL);
	add_constraint(product, "p5 * p3 * p1 * p0 * p2 * p4 <= 1000000");
	add_constraint(less, "p0 * p1 * p2 * p3 * p4 * p5 > 999999");
	add_constraint(sum, "p0+p1+p2+p3+p4+p5+p6+p7+p8+p9+p10+p11 < 61");
	ok(space_valid(built(product)) == count_total(6, 100, 1000000, true), "a product of six: %llu of 10^12",
	   (unsigned long long)space_valid(product));
	ok(space_valid(built(less)) == UINT64_C(1000000000000) - count_total(6, 100, 999999, true),
	   "the complement of a product of six is counted");
	ok(space_valid(built(sum)) == count_total(12, 10, 60, false), "a sum of twelve: %llu of 10^12",
	   (unsigned long long)space_valid(sum));
	space_free(product);
	space_free(less);
	space_free(sum);
}

/* The order of declaration keeps every pair open until the end. */
static void test_bad_order(void) {
	struct space *space = line_space(12, 10, NULL);
	char text[32];
	for (int i = 0; i < 6; i++) {
		snprintf(text, sizeof text, "p%d * p%d <= 30", i, 11 - i);
		add_constraint(space, text);
	}
	uint64_t pair = count_product_line(2, 10, 30);
	ok(space_valid(built(space)) == pair * pair * pair * pair * pair * pair, "crossed pairs are put in a better order");
	space_free(space);
}

static void test_overflow(void) {
	struct err err = {0};
	struct space *space = line_space(64, 2, NULL);
	ok(space_build(space, &err) != 0 && err.code == ERR_USAGE && strstr(err.what, "2^64"), "2^64 is too many: %s",
	   err.what);
	space_free(space);
	space = line_space(64, 2, NULL);
	add_constraint(space, "p0 + p63 < 4");
	built(space);
	uint64_t last = space_valid(space) - 1, back;
	int config[SPACE_PARAMS_MAX];
	space_config(space, last, config);
	ok(space_valid(space) == 3 * (UINT64_C(1) << 62) && space_index(space, config, &back) && back == last,
	   "3 * 2^62 are accepted, up to the last one");
	space_free(space);
}

static void test_entangled(void) {
	struct err err = {0};
	struct space *space = line_space(2, 1000000, "p%d * 7919 %% 1000003 <= p%d");
	ok(space_build(space, &err) == 0, "a space that cannot be counted is drawn from: %s", err.what);
	double drawn = (double)space_valid(space), about = space_estimate(space), half = 0.5e12;
	ok(drawn >= 1000 && about > 0.9 * half && about < 1.1 * half,
	   "%g configurations of about %g are drawn, where half of 10^12 are valid", drawn, about);
	space_free(space);
}

int main(void) {
	check_figures(convolution_space(), "convolution", 10240, 4362);
	check_figures(hotspot_space(), "hotspot", 4440000, 82984);
	check_figures(dedispersion_space(), "dedispersion", 22272, 11130);
	check_figures(gemm_space(), "gemm", 663552, 116928);
	test_rising();
	test_product_lines();
	test_totals();
	test_bad_order();
	test_overflow();
	test_entangled();
	return tap_done();
}
