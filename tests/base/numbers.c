/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/rng.h"
#include "base/stats.h"
#include "tests/tap.h"

/* The authors' table of test vectors. */
static void test_hash(void) {
	ok(hash_text("") == UINT64_C(0xcbf29ce484222325) && hash_text("a") == UINT64_C(0xaf63dc4c8601ec8c) &&
	       hash_text("foobar") == UINT64_C(0x85944171f73967e8),
	   "hashes are those of FNV-1a");
	ok(hash_add(hash_text("foo"), "bar", 3) == hash_text("foobar"), "a hash goes on where it stopped");
	ok(hash_text("\xff") != hash_text("\x7f") && hash_text("\xff") == hash_add(HASH_START, (unsigned char[]){255}, 1),
	   "bytes have no sign");
}

static void test_generator(void) {
	struct rng rng;
	rng_seed(&rng, 1234567);
	ok(rng.s[0] == UINT64_C(6457827717110365317) && rng.s[1] == UINT64_C(3203168211198807973) &&
	       rng.s[2] == UINT64_C(9817491932198370423) && rng.s[3] == UINT64_C(4593380528125082431),
	   "seeds are those of splitmix64");
	rng = (struct rng){{1, 2, 3, 4}};
	uint64_t a = rng_u64(&rng), b = rng_u64(&rng), c = rng_u64(&rng), d = rng_u64(&rng);
	ok(a == 11520 && b == 0 && c == 1509978240 && d == UINT64_C(1215971899390074240),
	   "numbers are those of xoshiro256**");
}

static int common_numbers(struct rng a, struct rng b) {
	int common = 0;
	for (int i = 0; i < 1000; i++)
		common += rng_u64(&a) == rng_u64(&b);
	return common;
}

static void test_streams(void) {
	struct rng seed, search, race, again, other;
	rng_seed(&seed, 1);
	rng_split(&search, 1, "search");
	rng_split(&again, 1, "search");
	rng_split(&race, 1, "race");
	rng_split(&other, 2, "search");
	ok(common_numbers(search, again) == 1000, "the same seed and purpose give the same stream");
	ok(common_numbers(search, race) == 0 && common_numbers(search, other) == 0 && common_numbers(search, seed) == 0,
	   "another purpose or seed gives another one");
}

/* Chi-squared of `cells` equal parts of [0, bound). */
static double unevenness(uint64_t bound, int cells, int draws, uint64_t seed) {
	int *hits = calloc((size_t)cells, sizeof(*hits));
	double expected = (double)draws / cells, sum = 0;
	struct rng rng;
	rng_seed(&rng, seed);
	for (int i = 0; i < draws; i++) {
		uint64_t drawn = rng_below(&rng, bound);
		hits[drawn >= bound ? 0 : drawn / (bound / (uint64_t)cells)] += drawn >= bound ? draws : 1;
	}
	for (int i = 0; i < cells; i++)
		sum += (hits[i] - expected) * (hits[i] - expected) / expected;
	free(hits);
	return sum;
}

/* With 3 * 2^62 a plain remainder would return the first third twice as often. */
static void test_bound(void) {
	struct rng rng;
	rng_seed(&rng, 5);
	ok(rng_below(&rng, 1) == 0, "below 1 there is only 0");
	ok(unevenness(10, 10, 100000, 3) < 40, "small bounds are even (chi-squared of 9 degrees)");
	ok(unevenness(UINT64_C(3) << 62, 3, 30000, 4) < 25, "large bounds are even (chi-squared of 2 degrees)");
	ok(unevenness(UINT64_MAX, 3, 30000, 4) < 25, "the largest bound is even");
}

static void test_distributions(void) {
	enum { DRAWS = 200000 };
	double sum = 0, squares = 0, fourth = 0, units = 0;
	bool inside = true;
	struct rng rng;
	rng_seed(&rng, 6);
	for (int i = 0; i < DRAWS; i++) {
		double unit = rng_unit(&rng), normal = rng_normal(&rng);
		inside = inside && unit >= 0 && unit < 1 && isfinite(normal);
		units += unit / DRAWS;
		sum += normal / DRAWS;
		squares += normal * normal / DRAWS;
		fourth += pow(normal, 4) / DRAWS;
	}
	ok(inside, "units are in [0, 1) and normal numbers finite");
	ok(fabs(units - 0.5) < 0.003, "the mean of units is a half");
	ok(fabs(sum) < 0.01 && fabs(squares - 1) < 0.02 && fabs(fourth - 3) < 0.15,
	   "normal numbers have the normal moments");
}

struct item {
	char bytes[150];
	int number;
};

static void test_shuffle(void) {
	enum { ITEMS = 50 };
	struct item items[ITEMS];
	int seen[ITEMS] = {0}, moved = 0, torn = 0, first[4] = {0};
	struct rng rng;
	rng_seed(&rng, 7);
	for (int i = 0; i < ITEMS; i++) {
		items[i].number = i;
		memset(items[i].bytes, i, sizeof(items[i].bytes));
	}
	rng_shuffle(&rng, items, ITEMS, sizeof(*items));
	for (int i = 0; i < ITEMS; i++) {
		seen[items[i].number]++;
		moved += items[i].number != i;
		torn += items[i].bytes[0] != items[i].number || items[i].bytes[149] != items[i].number;
	}
	for (int i = 0; i < ITEMS; i++)
		torn += seen[i] != 1;
	ok(torn == 0 && moved > ITEMS / 2, "a shuffle is a permutation of whole items");
	for (int i = 0; i < 40000; i++) {
		int four[] = {0, 1, 2, 3};
		rng_shuffle(&rng, four, 4, sizeof(*four));
		first[four[0]]++;
	}
	ok(first[0] > 9500 && first[1] > 9500 && first[2] > 9500 && first[3] > 9500,
	   "every item comes first equally often");
	rng_shuffle(&rng, items, 0, sizeof(*items));
	ok(true, "an empty shuffle does nothing");
}

static int compare(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Properties of any sample, tested against its sorted copy. Returns the number of failures. */
static int order_faults(const double *x, const double *sorted, size_t n) {
	int faults = stats_min(x, n) != sorted[0];
	faults += stats_quantile(x, n, -1) != sorted[0] || stats_quantile(x, n, 2) != sorted[n - 1];
	for (size_t i = 0; i < n && n > 1; i++) {
		double q = stats_quantile(x, n, (double)i / (double)(n - 1));
		faults += fabs(q - sorted[i]) > 1e-9;
	}
	double last = sorted[0], median = stats_median(x, n);
	for (double p = 0; p <= 1; p += 1.0 / 64) {
		double q = stats_quantile(x, n, p);
		faults += q < last - 1e-12;
		last = q;
	}
	faults += median != (n % 2 ? sorted[n / 2] : sorted[n / 2 - 1] * 0.5 + sorted[n / 2] * 0.5);
	return faults;
}

static void test_order(void) {
	struct rng rng;
	int faults = 0, touched = 0;
	rng_seed(&rng, 8);
	for (int round = 0; round < 500; round++) {
		double x[64], kept[64], sorted[64];
		size_t n = 1 + rng_below(&rng, 64);
		for (size_t i = 0; i < n; i++)
			kept[i] = sorted[i] = x[i] = rng_below(&rng, 3) ? rng_normal(&rng) : (double)rng_below(&rng, 4);
		qsort(sorted, n, sizeof(*sorted), compare);
		faults += order_faults(x, sorted, n);
		touched += memcmp(x, kept, n * sizeof(*x)) != 0;
	}
	ok(faults == 0, "quantiles, median and minimum agree with the sorted data");
	ok(touched == 0, "the input is not changed");
}

static void test_edges(void) {
	double ci[2], one = 7, huge[] = {-1e308, 1e308}, infinite[] = {1, INFINITY, 2};
	ok(isnan(stats_median(NULL, 0)) && isnan(stats_quantile(NULL, 0, 0.5)) && isnan(stats_min(NULL, 0)) &&
	       isnan(stats_mean(NULL, 0)) && isnan(stats_mad(NULL, 0)),
	   "an empty sample does not have statistics");
	stats_median_ci(NULL, 0, 0.95, ci);
	ok(isnan(ci[0]) && isnan(ci[1]), "an empty sample does not have an interval");
	stats_median_ci(&one, 1, 0.95, ci);
	ok(stats_median(&one, 1) == 7 && stats_mad(&one, 1) == 0 && ci[0] == 7 && ci[1] == 7,
	   "one sample is all of its own statistics");
	ok(stats_median(huge, 2) == 0 && stats_mean(huge, 2) == 0, "large numbers do not overflow");
	ok(stats_median(infinite, 3) == 2, "an infinite sample is only the largest");
	ok(isnan(stats_quantile(&one, 1, NAN)), "no quantile of NaN");
}

static void test_spread(void) {
	enum { COUNT = 20001 };
	double *x = malloc(COUNT * sizeof(*x)), *moved = malloc(COUNT * sizeof(*moved));
	struct rng rng;
	rng_seed(&rng, 9);
	for (int i = 0; i < COUNT; i++) {
		x[i] = rng_normal(&rng);
		moved[i] = 5 - 3 * x[i];
	}
	ok(fabs(stats_mad(x, COUNT) - 1) < 0.03, "the scaled MAD of normal data is its deviation");
	ok(fabs(stats_mad(moved, COUNT) - 3 * stats_mad(x, COUNT)) < 1e-9,
	   "the MAD scales, and does not care where the data lie");
	ok(fabs(stats_median(moved, COUNT) - (5 - 3 * stats_median(x, COUNT))) < 1e-9, "the median moves with the data");
	ok(fabs(stats_mean(moved, COUNT) - (5 - 3 * stats_mean(x, COUNT))) < 1e-9, "the mean moves with the data");
	free(x);
	free(moved);
}

/* The chance that the interval from the k-th smallest to the k-th largest of n holds the median. */
static double exact_coverage(int n, int k) {
	double p = pow(0.5, n), missed = 0;
	for (int i = 0; i < k; i++) {
		missed += p;
		p = p * (n - i) / (i + 1);
	}
	return 1 - 2 * missed;
}

/* For the numbers 0 to n-1 the interval's ends are the ranks. */
static int rank_of(int n, double level, bool *symmetric) {
	double x[300], ci[2];
	for (int i = 0; i < n; i++)
		x[(i * 7 + 3) % n] = i; /* n is not a multiple of 7 */
	stats_median_ci(x, (size_t)n, level, ci);
	*symmetric = ci[0] + ci[1] == n - 1;
	return (int)ci[0] + 1;
}

static void test_interval_ranks(void) {
	static const double levels[] = {0.5, 0.9, 0.95, 0.99};
	int faults = 0;
	for (int n = 1; n < 300; n++)
		for (int l = 0; l < 4 && n % 7; l++) {
			bool symmetric;
			int k = rank_of(n, levels[l], &symmetric);
			bool enough = exact_coverage(n, k) >= levels[l] - 1e-12 || k == 1;
			bool tight = 2 * k > n - 1 || exact_coverage(n, k + 1) < levels[l];
			faults += !symmetric || !enough || !tight;
		}
	ok(faults == 0, "the interval of the median is the tightest that covers enough");
}

static double simulated_coverage(size_t n, double level, int rounds) {
	struct rng rng;
	int covered = 0;
	rng_seed(&rng, 10 + n);
	for (int i = 0; i < rounds; i++) {
		double x[128], ci[2];
		for (size_t k = 0; k < n; k++)
			x[k] = exp(rng_normal(&rng)); /* skewed, with median 1 */
		stats_median_ci(x, n, level, ci);
		covered += ci[0] <= 1 && ci[1] >= 1;
	}
	return (double)covered / rounds;
}

static void test_coverage(void) {
	static const size_t counts[] = {6, 9, 21, 50, 101};
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		double covered = simulated_coverage(counts[i], 0.95, 4000);
		ok(covered >= 0.938, "95%% interval of %zu skewed samples: covered in %.3f of 4000 simulations", counts[i],
		   covered);
	}
	double ci[2], *x = malloc(100000 * sizeof(*x));
	for (int i = 0; i < 100000; i++)
		x[i] = i;
	stats_median_ci(x, 100000, 0.95, ci);
	ok(fabs((ci[1] - ci[0]) / (2 * 1.959964 * 0.5 * sqrt(100000)) - 1) < 0.02,
	   "the interval of many samples is as wide as the normal one");
	free(x);
}

int main(void) {
	test_hash();
	test_generator();
	test_streams();
	test_bound();
	test_distributions();
	test_shuffle();
	test_order();
	test_edges();
	test_spread();
	test_interval_ranks();
	test_coverage();
	return tap_done();
}
