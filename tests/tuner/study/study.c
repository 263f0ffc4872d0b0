/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests studies: merging of trials, contrasts, and whether times follow the configurations at all. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tests/tap.h"
#include "tuner/study/contrast.h"

static void add(struct study *study, json_t *problem, json_t *config, const char *phase, const char *status,
                double value) {
	struct study_trial trial = {.problem = problem,
	                            .config = config,
	                            .phase = phase,
	                            .status = status,
	                            .value = value,
	                            .samples = &value,
	                            .sample_count = strcmp(status, "censored") != 0};
	study_add(study, &trial);
	json_decref(problem);
	json_decref(config);
}

static struct study *finished(struct study *study) {
	study_finish(study);
	return study;
}

/* The machine became slower by 30 % before the race, which must not make configurations that were only searched look 30
 * % faster. */
static void test_drift(double slower) {
	struct study *study = study_new("k", "cpu");
	for (int threads = 1; threads <= 8; threads++)
		add(study, json_pack("{s:i}", "n", 8), json_pack("{s:i}", "threads", threads), "search", "correct",
		    8.0 / threads);
	add(study, json_pack("{s:i}", "n", 9), json_pack("{s:i}", "threads", 1), "search", "correct", 9);
	for (int threads = 6; threads <= 8; threads++)
		add(study, json_pack("{s:i}", "n", 8), json_pack("{s:i}", "threads", threads), "race", "correct",
		    slower * 8.0 / threads);
	study_finish(study);
	double expected = fabs(slower - 1) < 0.05 ? 1 : slower, worst = 0;
	for (size_t i = 0; i < 5; i++)
		worst = fmax(worst, fabs(study_row(study, i)->value * (double)(i + 1) / 8 / expected - 1));
	ok(worst < 1e-9, "a race %.2f times as slow: the other rows are scaled by %.2f", slower, expected);
	ok(study_row(study, 8)->value == 9, "another problem is left alone");
	study_free(study);
}

static void test_rows(void) {
	struct study *study = study_new("k", "cpu");
	for (int i = 0; i < 3; i++)
		add(study, json_pack("{s:i}", "n", 8), json_pack("{s:i,s:s}", "threads", 4, "pad", "line"), "search", "correct",
		    1 + i);
	add(study, json_pack("{s:i}", "n", 8), json_pack("{s:s,s:i}", "pad", "line", "threads", 4), "race", "correct", 7);
	add(study, json_pack("{s:i}", "n", 8), json_pack("{s:i,s:s}", "threads", 2, "pad", "none"), "search", "censored",
	    5);
	add(study, json_pack("{s:i}", "n", 8), json_pack("{s:i,s:s}", "threads", 1, "pad", "none"), "search", "correct", 9);
	add(study, json_pack("{s:i}", "n", 8), json_pack("{s:i,s:s}", "threads", 3, "pad", "none"), "search", "runtime",
	    NAN);
	add(study, json_pack("{s:i}", "n", 8), json_pack("{s:i,s:s}", "threads", 3, "pad", "none"), "search", "correct",
	    -1);
	add(study, json_array(), json_pack("{s:i}", "threads", 3), "search", "correct", 1);
	study_finish(study);
	ok(study_rows(study) == 3, "a row for each configuration that has a time");
	ok(study_failures(study) == 1, "failures are counted");
	ok(study_row(study, 0)->value == 7 && study_row(study, 0)->trials == 1, "a race counts more than the search");
	ok(study_row(study, 1)->over, "a trial that was cut short is marked");
	ok(study_find(study, "n") == -1 && study_find(study, "pad") >= 0, "a constant is not a column");
	int threads = study_find(study, "threads");
	ok(study_column(study, (size_t)threads)->numeric && study_number(study, 2, (size_t)threads) == 1 &&
	       study_row(study, 0)->level[threads] == 2,
	   "numbers are in ascending order");
	ok(study_value_number(study, 0, "n", 0) == 8, "a constant value is available all the same");
	ok(study_winner(study) == 0 && study_baseline(study) == SIZE_MAX, "the fastest row wins if nothing was tuned");
	study_free(study);
}

/* variant x block x threads; schedule exists only if threads > 1. */
static struct study *conditional(void) {
	struct study *study = study_new("k", "cpu");
	for (int threads = 1; threads <= 8; threads *= 2)
		for (int block = 16; block <= 64; block *= 2)
			for (int schedule = 0; schedule < (threads > 1 ? 2 : 1); schedule++) {
				json_t *config = json_pack("{s:i,s:i}", "threads", threads, "block", block);
				if (threads > 1)
					json_object_set_new(config, "schedule", json_string(schedule ? "dynamic" : "static"));
				add(study, json_object(), config, "sweep", "correct", (schedule ? 1.5 : 1.0) * block / threads);
			}
	return finished(study);
}

struct met {
	size_t series, rows;
};

static bool series_meet(void *ctx, const size_t *rows, size_t count) {
	struct met *met = ctx;
	(void)rows;
	met->series++;
	met->rows += count;
	return true;
}

static void test_dependent(void) {
	struct study *study = conditional();
	struct met met = {0};
	size_t threads = (size_t)study_find(study, "threads"), schedule = (size_t)study_find(study, "schedule");
	study_series_each(study, threads, 3, NULL, NULL, series_meet, &met);
	ok(met.series == 6 && met.rows == 24, "a series over threads for each block and schedule includes 1 thread");
	struct study_ratio ratio = study_contrast(study, schedule, 1, 0, NULL, NULL);
	ok(ratio.pairs == 9 && fabs(ratio.ratio - 1.5) < 1e-9 && ratio.agree == 9,
	   "dynamic against static with everything else equal");
	ratio = study_contrast(study, threads, 0, 3, NULL, NULL);
	ok(ratio.pairs == 3 && fabs(ratio.ratio - 8) < 1e-9 && ratio.ci[0] < 8 && ratio.ci[1] > 8 && ratio.p < 0.01,
	   "1 against 8 threads: the better schedule counts");
	ratio = study_contrast(study, schedule, 0, 0, NULL, NULL);
	ok(ratio.pairs == 0 && isnan(ratio.ratio), "a level has no contrast with itself");
	size_t rows[8], count = study_envelope(study, threads, NULL, NULL, rows);
	ok(count == 4 && study_row(study, rows[3])->value == 2, "the best at each number of threads");
	study_free(study);
}

static struct study *table(struct rng *rng, size_t rows, bool shuffled) {
	struct study *study = study_new("k", "cpu");
	double value[200];
	json_t *configs[200];
	for (size_t i = 0; i < rows; i++) {
		int threads = 1 << rng_below(rng, 5), block = 16 << rng_below(rng, 4), variant = (int)rng_below(rng, 4);
		configs[i] = json_pack("{s:i,s:i,s:i}", "threads", threads, "block", block, "variant", variant);
		value[i] = exp(0.03 * rng_normal(rng)) * (1 + variant) / pow(threads, 0.8) * (block == 64 ? 1 : 1.3);
	}
	if (shuffled)
		rng_shuffle(rng, value, rows, sizeof *value);
	for (size_t i = 0; i < rows; i++)
		add(study, json_object(), configs[i], "search", "correct", value[i]);
	return finished(study);
}

static void test_pattern(void) {
	enum { TABLES = 200 };
	int found = 0, false_alarms = 0;
	struct rng rng;
	rng_seed(&rng, 7);
	for (size_t i = 0; i < TABLES; i++) {
		struct study *real = table(&rng, 20 + i % 100, false), *none = table(&rng, 20 + i % 100, true);
		found += study_pattern(real) <= 0.01;
		false_alarms += study_pattern(none) <= 0.01;
		study_free(real);
		study_free(none);
	}
	printf("# told apart from chance: %d of %d tables, %d of as many that were shuffled\n", found, TABLES,
	       false_alarms);
	ok(found >= TABLES * 95 / 100, "times that follow the configurations are distinguished from chance");
	ok(false_alarms <= TABLES * 3 / 100, "shuffled ones are not");
	struct study *few = table(&rng, 3, false);
	ok(isnan(study_pattern(few)), "a few rows do not decide it");
	study_free(few);
}

static size_t pairs_by_hand(const struct study *study, size_t column, int a, int b) {
	size_t pairs = 0;
	for (size_t i = 0; i < study_rows(study); i++)
		for (size_t j = 0; j < study_rows(study); j++) {
			const int *x = study_row(study, i)->level, *y = study_row(study, j)->level;
			bool same = x[column] == a && y[column] == b;
			for (size_t c = 0; c < study_columns(study); c++)
				same = same && (c == column || x[c] == y[c]);
			pairs += same;
		}
	return pairs;
}

static void test_pairs(void) {
	struct rng rng;
	rng_seed(&rng, 3);
	bool all = true;
	for (int round = 0; round < 30; round++) {
		struct study *study = table(&rng, 10 + rng_below(&rng, 60), false);
		for (size_t c = 0; c < study_columns(study); c++)
			for (int a = 0; a < (int)study_column(study, c)->levels; a++) {
				struct study_pair *pairs;
				size_t count = study_pairs(study, c, a, 0, NULL, NULL, &pairs);
				all = all && count == (a == 0 ? 0 : pairs_by_hand(study, c, a, 0));
				free(pairs);
			}
		study_free(study);
	}
	ok(all, "pairs are those of an exhaustive search");
}

/* The counted run of a program was slower than its others. */
static void test_parts(void) {
	struct study *study = study_new("k", "cpu");
	json_t *config = json_pack("{s:i}", "threads", 2);
	json_t *problem = json_object(),
		   *detail = json_pack("{s:[{s:s,s:s,s:f},{s:s,s:s,s:f}]}", "figures", "name", "wait", "unit", "s", "value",
	                           3.0, "name", "calls", "unit", "", "value", 7.0);
	const struct study_trial counted = {
		.problem = problem, .config = config, .phase = "counters", .status = "correct", .value = 4, .detail = detail};
	study_add(study, &counted);
	json_decref(detail);
	add(study, problem, config, "duel", "correct", 2);
	study_finish(study);
	ok(study_row(study, 0)->value == 2 && study_figure(study, 0, "wait") == 1.5 && study_figure(study, 0, "calls") == 7,
	   "the parts of a run that was only counted are in proportion to the time of the others");
	study_free(study);
}

static void test_machine(void) {
	struct study *study = study_new("k", "cpu");
	json_t *machine =
		json_pack("{s:i,s:i,s:{s:i,s:i}}", "cores", 4, "threads", 8, "caches", "l1d", 32768, "l2", 524288);
	json_t *ceilings = json_pack("[{s:s,s:s,s:i,s:f},{s:s,s:s,s:i,s:f},{s:s,s:s,s:s,s:f}]", "name", "read", "level",
	                             "dram", "threads", 1, "value", 10.0, "name", "read", "level", "dram", "threads", 4,
	                             "value", 30.0, "device", "cuda", "name", "read", "level", "dram", "value", 3000.0);
	study_machine(study, machine, ceilings, 0.002);
	study_finish(study);
	ok(study_host(study)->threads == 8 && study_host(study)->cache[2] == 524288 && study_host(study)->cache[3] == 0,
	   "the machine's figures");
	ok(study_ceiling(study, "read", "dram", 3) == 10 && study_ceiling(study, "read", "dram", 8) == 30 &&
	       study_ceiling(study, "read", "dram", 0) == 3000 && isnan(study_ceiling(study, "read", "l2", 8)),
	   "the ceiling of the largest team up to this; a GPU's by itself");
	ok(study_noise(study) == 0.01 && study_rows(study) == 0 && isnan(study_pattern(study)), "an empty study");
	json_decref(machine);
	json_decref(ceilings);
	study_free(study);
}

enum { LIMIT_N = 2, LIMIT_A = 12, LIMIT_B = 9, LIMIT_C = 40, LIMIT_ROWS = 700 };

static double limit_value(int n, int a, int b, int c) {
	return 1 + n + (a * 37 + b * 101 + c * 53) % 997 * 1e-3;
}

/* The smallest time over c at each pair of the others, among the remaining rows; 0 if there is none. */
static double limit_least(const struct study *study, int n, int a, int b) {
	double least = 0;
	for (size_t i = 0; i < study_rows(study); i++) {
		const struct study_row *row = study_row(study, i);
		if (study_value_number(study, i, "n", -1) == n && study_value_number(study, i, "a", -1) == a &&
		    study_value_number(study, i, "b", -1) == b && (least == 0 || row->value < least))
			least = row->value;
	}
	return least;
}

static double limit_true(int n, int a, int b) {
	double least = INFINITY;
	for (int c = 0; c < LIMIT_C; c++)
		least = fmin(least, limit_value(n, a, b, c));
	return least;
}

static void test_limit(void) {
	struct study *study = study_new("k", "cpu");
	size_t right = 0, rows;
	for (int i = 0; i < LIMIT_N * LIMIT_A * LIMIT_B * LIMIT_C; i++) {
		int n = i % LIMIT_N, a = i / LIMIT_N % LIMIT_A, rest = i / LIMIT_N / LIMIT_A, b = rest % LIMIT_B,
			c = rest / LIMIT_B;
		add(study, json_pack("{s:i}", "n", n), json_pack("{s:i,s:i,s:i}", "a", a, "b", b, "c", c), "search", "correct",
		    limit_value(n, a, b, c));
	}
	study_limit(study, LIMIT_ROWS);
	study_finish(study);
	rows = study_rows(study);
	ok(rows <= LIMIT_ROWS + LIMIT_ROWS / 2 && rows + study_left_out(study) == LIMIT_N * LIMIT_A * LIMIT_B * LIMIT_C,
	   "a large table has %zu rows that are looked at", rows);
	for (int i = 0; i < LIMIT_N * LIMIT_A * LIMIT_B; i++)
		right += limit_least(study, i % LIMIT_N, i / LIMIT_N % LIMIT_A, i / LIMIT_N / LIMIT_A) ==
		         limit_true(i % LIMIT_N, i / LIMIT_N % LIMIT_A, i / LIMIT_N / LIMIT_A);
	printf("# %zu of %d least values\n", right, LIMIT_N * LIMIT_A * LIMIT_B);
	ok(right >= LIMIT_N * LIMIT_A * LIMIT_B * 95 / 100, "among them the fastest of each pair of values");
	ok(study_columns(study) == 4 && study_column(study, 3)->levels == LIMIT_C,
	   "every value of a large table is among the rows");
	study_free(study);
}

int main(void) {
	test_drift(1.3);
	test_drift(0.8);
	test_drift(1.02);
	test_rows();
	test_dependent();
	test_pairs();
	test_pattern();
	test_parts();
	test_machine();
	test_limit();
	return tap_done();
}
