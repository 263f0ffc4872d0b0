/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choosing among noisy values with a known optimum: repeats of the leaders find a better one than the least value. */
#include <math.h>

#include "base/rng.h"
#include "tests/tap.h"
#include "tuner/search/search.h"

enum { CANDIDATES = 60, REPEATS = 10, SEEDS = 300 };

/* The best is 0, and each one is 1 % behind the one before. */
static double measure(uint64_t index, double noise, double fast, struct rng *rng) {
	double value = exp(.01 * (double)index + noise * rng_normal(rng));
	return fast > 0 && rng_unit(rng) < fast ? .4 * value : value;
}

/* Measures each once, then repeats up to `most` times; returns how often. */
static size_t play(struct leaders *leaders, double noise, double fast, size_t most, uint64_t seed) {
	struct rng rng;
	uint64_t index;
	size_t count = 0;
	rng_split(&rng, seed, "leaders");
	for (index = 0; index < CANDIDATES; index++)
		leaders_note(leaders, index, measure(index, noise, fast, &rng));
	for (; count < most && leaders_again(leaders, &index); count++)
		leaders_note(leaders, index, measure(index, noise, fast, &rng));
	return count;
}

/* The mean shortfall of the chosen one, in percent. */
static double shortfall(double noise, double fast, size_t most) {
	double sum = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct leaders *leaders = leaders_new();
		play(leaders, noise, fast, most, seed);
		sum += (double)leaders_best(leaders).index;
		leaders_free(leaders);
	}
	return sum / SEEDS;
}

static void choices(void) {
	static const double noises[] = {.05, .1, .2};
	for (size_t i = 0; i < sizeof noises / sizeof *noises; i++) {
		double least = shortfall(noises[i], 0, 0), repeated = shortfall(noises[i], 0, REPEATS);
		ok(repeated < .9 * least, "noise %.2f: repeats choose %.1f %% behind the best, the least value %.1f %%",
		   noises[i], repeated, least);
	}
	ok(shortfall(0, 0, REPEATS) == 0, "the best is chosen without noise");
}

/* One value in fifty is 2.5 times as fast as it should be. */
static void outliers(void) {
	double usual = shortfall(.05, 0, REPEATS), fast = shortfall(.05, .02, REPEATS);
	ok(fast < usual + 2, "values that are too fast cost %.1f %% beside %.1f %% without", fast, usual);
	ok(shortfall(.1, .02, REPEATS) < .25 * shortfall(.1, .02, 0), "repeats find out which value was too fast");
}

static void clear(void) {
	struct leaders *leaders = leaders_new();
	size_t count = play(leaders, 1e-4, 0, 100, 1);
	ok(count >= 3 && count < 10, "a clear lead ends the repeats after %zu", count);
	ok(fabs(leaders_noise(leaders)) < 1e-3, "because they show how small the noise is");
	leaders_free(leaders);
}

static void means(void) {
	struct leaders *leaders = leaders_new();
	uint64_t index;
	ok(leaders_best(leaders).index == UINT64_MAX && !leaders_again(leaders, &index), "nothing was measured");
	leaders_note(leaders, 7, 2);
	ok(!leaders_again(leaders, &index), "one alone leads");
	leaders_note(leaders, 7, 8);
	struct leader best = leaders_best(leaders);
	ok(best.index == 7 && best.times == 2 && fabs(best.value - 4) < 1e-12,
	   "measurements count by their geometric mean");
	ok(fabs(leaders_noise(leaders) - log(4) / sqrt(2)) < 1e-12, "repeated measurements tell the noise");
	leaders_note(leaders, 9, 3.9);
	ok(leaders_best(leaders).index == 7, "a single value that is hardly less does not beat them");
	ok(leaders_again(leaders, &index) && index == 9, "a challenger with a single value is measured again");
	leaders_free(leaders);
}

int main(void) {
	choices();
	outliers();
	clear();
	means();
	return tap_done();
}
