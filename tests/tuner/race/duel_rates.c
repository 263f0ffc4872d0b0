/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often a duel is right, how long it takes, and when it ends early. */
#include "base/stats.h"
#include "tests/tuner/race/duel.h"
#include "tuner/race/look.h"
#include "tuner/race/numbers.h"

enum { REPEATS = 100 };

struct rates {
	int verdicts[3], covered;
	double pairs;
};

static double trials_so_far(void *ctx) {
	return ((const struct sim *)ctx)->trials;
}

/* Runs duels with this true ratio of a to b; early ones are looked at after 3 or 5 pairs, too. After `ticks` trials
 * (0: never) they end unless they are promising. */
static struct rates simulate_looks(const struct noise *noise, double ratio, int repeats, bool early, double ticks) {
	struct rates rates = {0};

	for (int i = 0; i < repeats; i++) {
		struct duel_options options = duel_defaults;
		struct sim sim = sim_new(noise, (uint64_t)i);
		struct duel_result result;
		struct err err;

		options.seconds_max = 0;
		options.seconds_vague = ticks;
		options.clock = (struct race_clock){.now = trials_so_far, .ctx = &sim};
		options.seed = (uint64_t)i;
		if (early)
			options.pairs_first = i % 2 ? 3 : 5;
		sim.means[0] = sim.means[1] * ratio;
		if (duel_of(&sim, &options, NULL, &result, &err) != 0)
			continue;
		rates.verdicts[result.verdict]++;
		rates.covered += result.paired.ci[0] <= ratio && ratio <= result.paired.ci[1];
		rates.pairs += (double)result.paired.count / repeats;
		duel_result_clear(&result);
	}
	return rates;
}

static struct rates simulate(const struct noise *noise, double ratio, int repeats) {
	return simulate_looks(noise, ratio, repeats, false, 0);
}

static struct rates simulate_early(const struct noise *noise, double ratio, int repeats) {
	return simulate_looks(noise, ratio, repeats, true, 0);
}

static void test_rates(void) {
	for (int i = 0; i < NOISES; i++) {
		struct rates same = simulate(&noises[i], 1, REPEATS), slow = simulate(&noises[i], 1.03, REPEATS),
					 fast = simulate(&noises[i], 1 / 1.03, REPEATS);
		int least = i < TWO_PERCENT ? 95 : 90;

		ok(same.verdicts[PAIRED_TIE] >= 95, "%s: A/A is a tie in %d of 100, %.0f pairs", noises[i].name,
		   same.verdicts[PAIRED_TIE], same.pairs);
		ok(slow.verdicts[PAIRED_SLOWER] >= least && slow.verdicts[PAIRED_FASTER] == 0,
		   "%s: 3 %% slower is seen in %d of 100, %.0f pairs", noises[i].name, slow.verdicts[PAIRED_SLOWER],
		   slow.pairs);
		ok(fast.verdicts[PAIRED_FASTER] >= least && fast.verdicts[PAIRED_SLOWER] == 0,
		   "%s: 3 %% faster is seen in %d of 100, %.0f pairs", noises[i].name, fast.verdicts[PAIRED_FASTER],
		   fast.pairs);
	}
}

/* Repeated looks are most tempting if the true ratio lies at the edge of the margin, so that no duel is clear. */
static void test_looks(void) {
	for (int i = 0; i < NOISES; i++) {
		struct rates over = simulate(&noises[i], 1.01, 2 * REPEATS), under = simulate(&noises[i], 0.99, 2 * REPEATS);

		ok(over.verdicts[PAIRED_SLOWER] + over.verdicts[PAIRED_FASTER] <= 10,
		   "%s: 1 %% slower is called a difference in %.1f %%", noises[i].name, over.verdicts[PAIRED_SLOWER] / 2.0);
		ok(under.verdicts[PAIRED_SLOWER] + under.verdicts[PAIRED_FASTER] <= 10,
		   "%s: 1 %% faster is called a difference in %.1f %%", noises[i].name, under.verdicts[PAIRED_FASTER] / 2.0);
		ok(over.covered >= 188, "%s: the interval holds wherever the duel stopped (%.1f %%)", noises[i].name,
		   over.covered / 2.0);
	}
}

/* A limit that the interval must exclude keeps a duel going whose verdict is clear, and only that one. */
static void test_limit(void) {
	static const double limits[] = {0, 0.9, 0.8};
	int pairs[3];
	for (size_t i = 0; i < 3; i++) {
		struct duel_options options = duel_defaults;
		struct sim sim = sim_new(&noises[0], 7);
		struct duel_result result;
		struct err err;

		options.seconds_max = 0;
		options.limit = limits[i];
		sim.means[0] = sim.means[1] * 0.8;
		ok(duel_of(&sim, &options, NULL, &result, &err) == 0 && result.verdict == PAIRED_FASTER, "faster: %s",
		   err.what);
		pairs[i] = (int)result.paired.count;
		duel_result_clear(&result);
	}
	ok(pairs[0] == duel_defaults.pairs_min && pairs[1] == pairs[0], "a limit far away costs nothing (%d, %d)", pairs[0],
	   pairs[1]);
	ok(pairs[2] == duel_defaults.pairs_max, "a limit at the true ratio takes all %d pairs", pairs[2]);
}

/* The early looks spend a part of the same error: settings that are equal, or differ by the margin, win no more often.
 */
static void test_early(void) {
	static const struct noise quiet = {.name = "0.05 %", .sigma = 0.0005};
	for (int i = 0; i < NOISES; i++) {
		struct rates same = simulate_early(&noises[i], 1, 4 * REPEATS),
					 edge = simulate_early(&noises[i], 0.99, 2 * REPEATS),
					 slow = simulate_early(&noises[i], 1.03, 2 * REPEATS),
					 large = simulate_early(&noises[i], 1 / 1.47, REPEATS);
		int least = i < TWO_PERCENT ? 190 : 170;

		ok(same.verdicts[PAIRED_FASTER] + same.verdicts[PAIRED_SLOWER] <= 12,
		   "early looks, %s: A/A has %d false winners in 400, %.0f pairs", noises[i].name,
		   same.verdicts[PAIRED_FASTER] + same.verdicts[PAIRED_SLOWER], same.pairs);
		ok(same.pairs <= 40, "early looks, %s: A/A ends when nothing else can come of it", noises[i].name);
		ok(slow.verdicts[PAIRED_SLOWER] >= least, "early looks, %s: 3 %% slower is seen in %.1f %%, %.0f pairs",
		   noises[i].name, slow.verdicts[PAIRED_SLOWER] / 2.0, slow.pairs);
		ok(edge.verdicts[PAIRED_FASTER] + edge.verdicts[PAIRED_SLOWER] <= 10 && edge.covered >= 188,
		   "early looks, %s: 1 %% is called a difference in %.1f %%, the interval holds in %.1f %%", noises[i].name,
		   edge.verdicts[PAIRED_FASTER] / 2.0, edge.covered / 2.0);
		ok(large.verdicts[PAIRED_FASTER] >= 99 && large.pairs < 10, "early looks, %s: 1.47x is clear after %.1f pairs",
		   noises[i].name, large.pairs);
	}
	static const struct noise two = {.name = "two speeds", .sigma = 0.0005, .modes = 0.5};
	struct rates fast_or_slow = simulate_early(&two, 1, 4 * REPEATS);
	int false_winners = fast_or_slow.verdicts[PAIRED_FASTER] + fast_or_slow.verdicts[PAIRED_SLOWER];
	ok(false_winners <= 20, "two speeds: A/A has %d false winners in 400", false_winners);
	static const struct noise later = {.name = "the second is faster", .sigma = 0.001, .second = -0.05};
	struct rates ordered = simulate_early(&later, 1, 4 * REPEATS);
	int by_order = ordered.verdicts[PAIRED_FASTER] + ordered.verdicts[PAIRED_SLOWER];
	ok(by_order <= 4, "what runs second is 5 %% faster: A/A has %d false winners in 400", by_order);
	struct rates little = simulate_early(&quiet, 0.95, REPEATS), none = simulate_early(&quiet, 1, REPEATS);
	ok(little.verdicts[PAIRED_FASTER] == 100 && little.pairs <= 5, "quiet: 5 %% is clear after %.1f pairs",
	   little.pairs);
	ok(none.verdicts[PAIRED_TIE] == 100 && none.pairs <= 6, "quiet: a tie is clear after %.1f pairs", none.pairs);
}

static void test_length(void) {
	struct duel_options options = duel_defaults;
	struct duel_result result, again;
	struct err err;
	struct sim sim = sim_new(&noises[0], 1), noisy = sim_new(&noises[NOISES - 1], 1), replay = noisy, late = noisy;

	sim.means[0] = 0.2;
	duel_of(&sim, &options, NULL, &result, &err);
	ok(result.paired.count == 21 && result.verdict == PAIRED_SLOWER, "a clear difference takes the minimum of pairs");
	ok(result.median[0] == stats_median(result.a, 21) && result.median[1] == stats_median(result.b, 21),
	   "medians are computed from the samples");
	ok(result.ci[0][0] <= result.median[0] && result.median[0] <= result.ci[0][1], "medians lie in their intervals");
	duel_result_clear(&result);
	options.pairs_max = 50;
	duel_of(&noisy, &options, NULL, &result, &err);
	ok(result.paired.count == 50, "an undecided duel takes the maximum of pairs");
	duel_of(&replay, &options, NULL, &again, &err);
	ok(memcmp(result.a, again.a, 50 * sizeof *result.a) == 0 && result.paired.p == again.paired.p,
	   "the same seed gives the same duel");
	duel_result_clear(&result);
	duel_result_clear(&again);
	options.seconds_max = 1e-9;
	duel_of(&late, &options, NULL, &result, &err);
	ok(result.paired.count == 21, "out of time, it takes the minimum of pairs");
	duel_result_clear(&result);
}

static void test_control(void) {
	struct duel_options options = duel_defaults;
	struct duel_result result;
	struct err err;
	struct sim sim = sim_new(&noises[1], 3);
	int before = sim.trials, inside = 0;

	options.control = true;
	duel_of(&sim, &options, NULL, &result, &err);
	ok(result.control.count == result.paired.count && (size_t)(sim.trials - before) == 3 * result.paired.count,
	   "every block of a duel with control has three trials");
	ok(duel_noise_floor(&result) == fmax(1 - result.control.ci[0], result.control.ci[1] - 1),
	   "the noise floor is how far the control's interval reaches");
	duel_result_clear(&result);
	for (int i = 0; i < 100; i++) {
		sim = sim_new(&noises[1], (uint64_t)i);
		sim.means[0] = 0.3;
		options.seed = (uint64_t)i;
		duel_of(&sim, &options, NULL, &result, &err);
		inside += result.control.ci[0] <= 1 && 1 <= result.control.ci[1];
		duel_result_clear(&result);
	}
	ok(inside >= 90, "the control holds 1 in %d of 100", inside);
	options.control = false;
	duel_of(&sim, &options, NULL, &result, &err);
	ok(result.control.count == 0 && isnan(duel_noise_floor(&result)), "no control, no noise floor");
	duel_result_clear(&result);
}

/* Short of time, a duel whose interval is vague ends unless it would prove a difference. All others go on, so that a
 * small difference is seen as often. */
static void test_short(void) {
	static const struct noise loud[] = {{.name = "log-normal 5 %", .sigma = 0.05},
	                                    {.name = "log-normal 50 %", .sigma = 0.5},
	                                    {.name = "log-normal 80 %", .sigma = 0.8}};
	for (int i = 0; i < 3; i++) {
		const struct noise *noise = &loud[i];
		double difference = i ? 1 + 2 * noise->sigma : 1.03;
		struct rates same = simulate_looks(noise, 1, 4 * REPEATS, true, 1),
					 whole = simulate_looks(noise, 1, 4 * REPEATS, true, 0),
					 slow = simulate_looks(noise, difference, 4 * REPEATS, true, 1),
					 longer = simulate_looks(noise, difference, 4 * REPEATS, true, 0);
		int seen = slow.verdicts[PAIRED_SLOWER], all = longer.verdicts[PAIRED_SLOWER];

		ok(same.verdicts[PAIRED_FASTER] + same.verdicts[PAIRED_SLOWER] <= 12,
		   "short, %s: A/A has %d false winners in 400", noise->name,
		   same.verdicts[PAIRED_FASTER] + same.verdicts[PAIRED_SLOWER]);
		ok(i ? same.pairs < 0.6 * whole.pairs : same.pairs == whole.pairs,
		   "short, %s: A/A takes %.0f instead of %.0f pairs", noise->name, same.pairs, whole.pairs);
		ok((i ? seen >= 0.9 * all : seen == all) && slow.verdicts[PAIRED_FASTER] == 0,
		   "short, %s: a ratio of %.2f is seen in %.1f instead of %.1f %%, %.0f instead of %.0f pairs", noise->name,
		   difference, seen / 4.0, all / 4.0, slow.pairs, longer.pairs);
	}
}

/* A budget that ends between two looks: the error that is left suffices to prove what is large, and makes no winners.
 */
static void test_ended(void) {
	static const struct noise ended[] = {{.name = "10 %", .sigma = 0.1},
	                                     {.name = "two speeds", .sigma = 0.01, .modes = 0.3}};
	const struct look_rule rule = {.first = RACE_PAIRS_LEAST,
	                               .pairs_min = duel_defaults.pairs_min,
	                               .pairs_max = duel_defaults.pairs_max,
	                               .margin = duel_defaults.margin,
	                               .level = duel_defaults.level};
	for (size_t n = 0; n < 2; n++)
		for (int count = 6; count < 9; count++) {
			int proven = 0, winners = 0;
			struct sim sim = sim_new(&ended[n], (uint64_t)count);
			for (int i = 0; i < 1000; i++) {
				double a[8], b[8], slow[8];
				for (int k = 0; k < count; k++) {
					a[k] = sim_seconds(&sim, 0);
					b[k] = sim_seconds(&sim, 0);
					slow[k] = 1.5 * b[k];
				}
				proven += look_take(&rule, a, slow, (size_t)count, true).verdict == PAIRED_FASTER;
				winners += look_take(&rule, a, b, (size_t)count, true).verdict != PAIRED_TIE;
			}
			ok(winners <= 10, "%d pairs that the time ends, %s: %d of 1000 equal ones have a winner", count,
			   ended[n].name, winners);
			ok(proven >= (n ? 700 : 850), "%d pairs that the time ends, %s: 1.5x is proven in %d of 1000", count,
			   ended[n].name, proven);
		}
}

/* The number of missing pairs hardly depends on how the first few happen to fall. */
static void test_missing(void) {
	static const double sigmas[] = {0.1, 0.2};
	static const size_t counts[] = {5, 8};
	const struct look_rule rule = {.first = RACE_PAIRS_SHORT,
	                               .pairs_min = duel_defaults.pairs_min,
	                               .pairs_max = duel_defaults.pairs_max,
	                               .margin = duel_defaults.margin,
	                               .level = duel_defaults.level};
	for (size_t s = 0; s < sizeof sigmas / sizeof *sigmas; s++)
		for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
			double missing[REPEATS], a[8], b[8];
			struct rng rng;
			rng_split(&rng, s, "missing");
			for (int i = 0; i < REPEATS; i++) {
				for (size_t k = 0; k < counts[c]; k++) {
					a[k] = exp(sigmas[s] * rng_normal(&rng));
					b[k] = exp(sigmas[s] * rng_normal(&rng));
				}
				missing[i] = look_missing(&rule, a, b, counts[c], sqrt(2) * sigmas[s]);
			}
			double low = stats_quantile(missing, REPEATS, 0.1), high = stats_quantile(missing, REPEATS, 0.9);
			ok(high < 8 * low && stats_quantile(missing, REPEATS, 0.5) > 40,
			   "%zu pairs of one setting with itself at %.0f %% noise say that %.0f to %.0f more would decide",
			   counts[c], 100 * sigmas[s], low, high);
		}
	double a[] = {1.3, 1.31, 1.29, 1.3, 1.32}, b[] = {1, 1.01, 0.99, 1, 1.02};
	ok(look_missing(&rule, a, b, 5, NAN) <= 8, "a clear difference needs no more pairs than the next look has");
	ok(isinf(look_missing(&rule, a, b, 1, NAN)), "nobody can tell from one pair what is missing");
}

int main(void) {
	duel_configs_make();
	test_rates();
	test_looks();
	test_early();
	test_limit();
	test_length();
	test_short();
	test_control();
	test_ended();
	test_missing();
	duel_configs_free();
	return tap_done();
}
