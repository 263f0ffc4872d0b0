/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Proofs of settings whose true gain is known, on runs with several kinds of noise. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "tests/tap.h"
#include "tuner/regions/regions_impl.h"

enum { PROOFS = 400 };

static struct {
	struct rng rng;
	double now, ratio;       /* ratio: true time with the settings / without */
	double noise;            /* standard deviation of a run's logarithm */
	double slow_share, slow; /* this share of the runs takes so many times as long */
	double drift;            /* of the logarithm, in one run */
	double second;           /* of the logarithm, of the second run of a pair: in warm caches, perhaps */
	int runs;
} self;

int regions_run_plain(struct regions_runs *runs, const char *table, bool records, double limit_s, const char *phase,
                      struct regions_run *run, struct err *err) {
	double log_s = self.noise * rng_normal(&self.rng) + self.drift * self.runs;
	log_s += self.runs++ % 2 ? self.second : 0;
	(void)runs;
	(void)records;
	(void)limit_s;
	(void)phase;
	(void)err;
	*run = (struct regions_run){.seconds = exp(log_s) * (table ? self.ratio : 1)};
	if (rng_unit(&self.rng) < self.slow_share)
		run->seconds *= self.slow;
	self.now += run->seconds;
	return 0;
}

double regions_left(const struct regions_runs *runs, double budget_s) {
	(void)runs;
	return budget_s - self.now;
}

struct tally {
	int faster, slower, tie, undecided, pairs, covered;
};

static const char *prove(uint64_t seed, double budget_s, double spare_s, struct tally *tally) {
	const struct regions_options options = {.table = "table", .seed = seed};
	const struct regions_proving proving = {
		.plain_s = 1, .budget_s = budget_s, .spare_s = spare_s, .level = 0.95, .set = 1};
	struct regions_runs runs = {.options = &options};
	struct regions_proof proof;
	struct err err = {0};
	rng_seed(&self.rng, seed);
	self.now = 0;
	self.runs = 0;
	regions_prove(&runs, &proving, &proof, &err);
	const char *verdict = verdict_word(proof.verdict);
	tally->faster += strcmp(verdict, "faster") == 0;
	tally->slower += strcmp(verdict, "slower") == 0;
	tally->tie += strcmp(verdict, "tie") == 0;
	tally->undecided += strcmp(verdict, "undecided") == 0;
	tally->covered += proof.told.ci[0] <= self.ratio && self.ratio <= proof.told.ci[1];
	tally->pairs += (int)proof.told.count;
	regions_proof_clear(&proof);
	return verdict;
}

static struct tally tally_of(double ratio, double budget_s) {
	struct tally tally = {0};
	self.ratio = ratio;
	for (uint64_t seed = 1; seed <= PROOFS; seed++)
		prove(seed, budget_s, 0, &tally);
	return tally;
}

static void noise_set(double noise, double slow_share, double slow, double drift, double second) {
	self.noise = noise;
	self.slow_share = slow_share;
	self.slow = slow;
	self.drift = drift;
	self.second = second;
}

static const struct {
	const char *name;
	double noise, slow_share, slow, drift, second;
} kinds[] = {{"0.5 % of noise", 0.005, 0, 1, 0, 0},
             {"2 % of noise", 0.02, 0, 1, 0, 0},
             {"8 % of noise", 0.08, 0, 1, 0, 0},
             {"a tenth of the runs 40 % slower", 0.01, 0.1, 1.4, 0, 0},
             {"a third of the runs 20 % slower", 0.005, 1.0 / 3, 1.2, 0, 0},
             {"a machine that becomes slower", 0.01, 0, 1, 0.005, 0},
             {"the second run of a pair 5 % faster", 0.001, 0, 1, 0, -0.05}};

static void print(const char *what, const struct tally *tally) {
	printf("# %s: %d faster, %d slower, %d tie, %d undecided of %d; interval holds in %d; %.1f pairs\n", what,
	       tally->faster, tally->slower, tally->tie, tally->undecided, PROOFS, tally->covered,
	       (double)tally->pairs / PROOFS);
}

/* No more than duels of the same length (tests/tuner/race/duel_rates): in 2000 proofs of each kind at most 0.7 % call
 * equal settings faster, and with noise of one kind only 0.2 %. */
static void test_equal(void) {
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		noise_set(kinds[i].noise, kinds[i].slow_share, kinds[i].slow, kinds[i].drift, kinds[i].second);
		for (double budget_s = 8; budget_s < 100; budget_s *= 8) {
			struct tally tally = tally_of(1, budget_s);
			print(kinds[i].name, &tally);
			double most = kinds[i].slow_share > 0.2 ? 0.05 : 0.03;
			ok(tally.faster + tally.slower <= most * PROOFS, "equal settings, %s, %g runs: %d winners", kinds[i].name,
			   budget_s, tally.faster + tally.slower);
			ok(tally.covered >= 0.94 * PROOFS, "the interval holds in %d", tally.covered);
		}
	}
}

static void test_large(void) {
	noise_set(0.02, 0, 1, 0, 0);
	struct tally tally = tally_of(0.7, 12);
	print("1.43x", &tally);
	ok(tally.faster >= 0.99 * PROOFS, "a large gain is faster, in %d", tally.faster);
	ok(tally.pairs <= 4 * PROOFS, "after %.1f pairs", (double)tally.pairs / PROOFS);
}

/* Short programs among others' work: what they gain is less than what they vary. */
static void test_small(void) {
	noise_set(0.02, 0.15, 1.3, 0, 0);
	struct tally tally = tally_of(0.98, 190);
	print("1.02x", &tally);
	ok(tally.undecided <= 0.02 * PROOFS, "a gain of 2 %% where runs vary by 11 %%: undecided in %d", tally.undecided);
	/* 5 of 3000 proofs are, by chance */
	ok(tally.slower <= 0.01 * PROOFS, "a small gain is hardly ever called slower (%d)", tally.slower);
}

/* Settings that are slower must not be applied. */
static void test_loss(void) {
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		noise_set(kinds[i].noise, kinds[i].slow_share, kinds[i].slow, kinds[i].drift, kinds[i].second);
		struct tally tally = tally_of(1.05, 100);
		print("0.95x", &tally);
		ok(tally.faster + tally.tie <= 0.06 * PROOFS, "a loss of 5 %%, %s: accepted %d times", kinds[i].name,
		   tally.faster + tally.tie);
	}
}

static void test_spare(void) {
	struct tally tally = {0};
	noise_set(0.05, 0, 1, 0, 0);
	self.ratio = 1.04;
	for (uint64_t seed = 1; seed <= PROOFS; seed++)
		prove(seed, 40, 10, &tally);
	print("with time for others", &tally);
	ok(tally.pairs <= 15 * PROOFS, "settings that gain nothing leave the time that others need: %.1f pairs of 20",
	   (double)tally.pairs / PROOFS);
}

int main(void) {
	test_equal();
	test_large();
	test_small();
	test_loss();
	test_spare();
	return tap_done();
}
