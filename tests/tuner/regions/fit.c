/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Effects are found under noise, and where the work of a region grows over the run. */
#include "tests/tap.h"
#include "tests/tuner/regions/made.h"
#include "tuner/regions/regions_impl.h"

enum { REGIONS = 3, COLUMNS = 4, SEEDS = 20 };
static const double truth[REGIONS * COLUMNS] = {0, -0.7, -0.2, 0.3, 0, 0, 0, 0, 0, 0.5, -0.05, -1.2};

static int seeds_right(double noise, double growth, double tolerance) {
	int right = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const struct made made = {.regions = REGIONS,
		                          .columns = COLUMNS,
		                          .blocks = 10,
		                          .calls = 5,
		                          .log = truth,
		                          .noise = noise,
		                          .growth = growth,
		                          .seed = seed};
		struct regions_effect effects[REGIONS * COLUMNS];
		struct regions_record *record = record_made(&made);
		bool good = true;
		regions_fit(record, NULL, COLUMNS, effects);
		for (size_t i = 0; i < REGIONS * COLUMNS; i++)
			good = good && fabs(effects[i].log - truth[i]) < tolerance;
		right += good;
		regions_record_free(record);
	}
	return right;
}

static void test_unseen(void) {
	struct omp_record *raw = raw_new(2, 40);
	struct regions_effect effects[4];
	for (size_t i = 0; i < 40; i++)
		raw->calls[raw->call_count++] =
			(struct omp_call){.seconds = 1e-3f, .region = 0, .setting = (uint8_t)(i / 5 % 2), .switched = i % 5 == 0};
	struct regions_record *record = record_around(raw);
	regions_fit(record, NULL, 2, effects);
	ok(fabs(effects[1].log) < 1e-9 && effects[1].stretches > 1, "equal times have no effect");
	ok(isnan(effects[2].log) && isnan(effects[3].log), "a region that is never called has no known effect");
	regions_record_free(record);
}

/* A program may write any time into its record, the last one that there is, too. */
static void test_settled(void) {
	struct omp_record *raw = raw_new(1, 3);
	raw->call_count = 3;
	raw->calls[0].start_ns = 1000;
	raw->calls[1].start_ns = 2000;
	ok(regions_settled(raw, 2, 0) == 1200, "a stretch has settled after a fifth of it");
	raw->calls[1].start_ns = raw->calls[2].start_ns = UINT64_MAX;
	ok(regions_settled(raw, 3, 1) == UINT64_MAX, "one that begins at the last time of all settles then");
	ok(regions_settled(raw, 3, 0) < UINT64_MAX / 4, "one that ends there settles before");
	raw->calls[1].start_ns = 0;
	ok(regions_settled(raw, 2, 0) == 1000, "one that ends before it begins settles at once");
	free(raw);
}

/* A column that is faster in one region and slower in another one: all of them together count, by their time. Of the
 * first calls of a stretch, which take ten times as long, that of the first region does not count. */
static void test_total(void) {
	static const double none[REGIONS] = {0};
	const struct made quiet = {
		.regions = REGIONS, .columns = 1, .blocks = 40, .calls = 5, .log = none, .noise = 0.05, .growth = 1, .seed = 1};
	const struct made made = {.regions = REGIONS,
	                          .columns = COLUMNS,
	                          .blocks = 10,
	                          .calls = 5,
	                          .log = truth,
	                          .noise = 0.05,
	                          .growth = 2,
	                          .seed = 2};
	struct regions_record *today = record_made(&quiet), *record = record_made(&made);
	struct regions_effect effects[COLUMNS];
	regions_total(record, today, COLUMNS, effects);
	for (size_t c = 1; c < COLUMNS; c++) {
		double calls = 0;
		for (size_t r = 0; r < REGIONS; r++)
			calls += (r ? 14 : 4) * exp(truth[r * COLUMNS + c]);
		double expected = log(calls / 32);
		ok(fabs(effects[c].log - expected) < 0.04 && effects[c].stretches == 10 && effects[c].error < 0.05,
		   "all regions with column %zu: %.3f, error %.3f, true %.3f", c, effects[c].log, effects[c].error, expected);
	}
	regions_record_free(today);
	regions_record_free(record);
}

int main(void) {
	int quiet = seeds_right(0.02, 1, 0.03), noisy = seeds_right(0.2, 1, 0.25), growing = seeds_right(0.02, 2, 0.05);
	ok(quiet == SEEDS, "quiet: %d of %d seeds right", quiet, SEEDS);
	ok(noisy >= SEEDS - 1, "20 %% noise: %d of %d seeds right", noisy, SEEDS);
	ok(growing >= SEEDS - 1, "work that doubles over the run: %d of %d seeds right", growing, SEEDS);
	test_unseen();
	test_settled();
	test_total();
	return tap_done();
}
