/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs whose truth is known: is what remains of a winner the smallest that has the gain, do its prices hold, and
 * what does that cost? With "table" or "power" as argument it prints the operating characteristics of
 * doc/measurement.md instead. */

#include "base/json/js.h"
#include "tests/tap.h"
#include "tests/tuner/race/noise.h"
#include "tuner/race/numbers.h"
#include "tuner/race/race.h"

enum { REPEATS = 100, BLOCKS_ALL = 10000 };

/* The time of a set of changes; 1: today's. */
struct truth {
	const char *name;
	size_t changes;
	double (*factor)(uint64_t set);
	uint64_t least, also; /* the smallest sets that have the gain; also: as small, 0: none */
	uint64_t likely;      /* what the search takes for it; 0: it does not know */
};

static bool has(uint64_t set, uint64_t all) {
	return (set & all) == all;
}

static double one_of_six(uint64_t set) {
	return has(set, 4) ? 1 / 1.3 : 1;
}

static double two(uint64_t set) {
	return (has(set, 1) ? 1 / 1.4 : 1) * (has(set, 8) ? 1 / 1.05 : 1);
}

static double together(uint64_t set) {
	return has(set, 3) ? 1 / 1.5 : 1;
}

static double three_together(uint64_t set) {
	return has(set, 7) ? 1 / 1.4 : 1;
}

static double either(uint64_t set) {
	return set & 3 ? 1 / 1.3 : 1;
}

/* The second brings something only with the first. */
static double hierarchy(uint64_t set) {
	return !has(set, 1) ? 1 : has(set, 2) ? 1 / 1.4 : 1 / 1.15;
}

static double one_of_twelve(uint64_t set) {
	return has(set, 1 << 4) ? 1 / 1.4 : 1;
}

static double two_of_twelve(uint64_t set) {
	return (has(set, 1 << 2) ? 1 / 1.3 : 1) * (has(set, 1 << 8) ? 1 / 1.25 : 1);
}

static double all_of_three(uint64_t set) {
	return (has(set, 1) ? 1 / 1.2 : 1) * (has(set, 2) ? 1 / 1.15 : 1) * (has(set, 4) ? 1 / 1.1 : 1);
}

/* One of them costs what another brings. */
static double harmful(uint64_t set) {
	return (has(set, 1) ? 1 / 1.4 : 1) * (has(set, 2) ? 1.1 : 1);
}

static double nothing(uint64_t set) {
	(void)set;
	return 1;
}

static const struct truth truths[] = {
	{"one of six", 6, one_of_six, 4, 0, 0},
	{"two, independently", 5, two, 9, 0, 0},
	{"two, only together", 5, together, 3, 0, 0},
	{"three, only together", 5, three_together, 7, 0, 0},
	{"either of two", 5, either, 2, 1, 0},
	{"one that needs another", 4, hierarchy, 3, 0, 0},
	{"one of twelve", 12, one_of_twelve, 1 << 4, 0, 0},
	{"two of twelve", 12, two_of_twelve, 1 << 2 | 1 << 8, 0, 0},
	{"all of three", 3, all_of_three, 7, 0, 0},
	{"one that is harmful", 4, harmful, 1, 0, 0},
	{"none of six", 6, nothing, 0, 0, 0},
};
enum { TRUTHS = sizeof truths / sizeof *truths };

struct rig {
	struct sim sim;
	const struct truth *truth;
	json_t *only;  /* configuration that sim_run knows */
	double budget; /* in trials */
	int pairs;     /* of the duel that counts */
	double ci[2];  /* today's time over that of the set: of the duel that counts, and of the last one */
	double last_ci[2];
	int last_pairs, begun, duels;
	struct duel_log log;
};

static double ticks(void *ctx) {
	struct rig *rig = ctx;
	return rig->sim.trials - rig->begun;
}

static int room(void *ctx, uint64_t set) {
	struct rig *rig = ctx;
	double left = rig->budget - ticks(rig);
	int arms = (int)(left / 2 / 5) - 2;
	(void)set;
	return left < 10 ? -1 : arms < 0 ? 0 : arms;
}

static int run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct rig *rig = ctx;
	struct trial_request known = *request;
	known.config = rig->only;
	rig->sim.means[0] = 0.1 * rig->truth->factor((uint64_t)json_integer_value(json_object_get(request->config, "set")));
	return sim_run(&rig->sim, &known, result, err);
}

static json_t *config_of(uint64_t set) {
	return json_pack("{s:I}", "set", (json_int_t)set);
}

static int duel(void *ctx, uint64_t set, struct ablation_arm *arms, size_t count, bool first,
                struct ablation_gain *gain, struct err *err) {
	struct rig *rig = ctx;
	json_t *others[ABLATION_ARMS_MAX], *config = config_of(set), *today = config_of(0);
	struct trial_request request = {.kernel = "simulated", .whole_program = true};
	struct runner runner = {.ctx = rig, .run = run};
	struct duel_options options = duel_defaults;
	struct duel_result result;
	double left = rig->budget - ticks(rig);

	for (size_t i = 0; i < count; i++)
		others[i] = config_of(arms[i].set);
	options.pairs_first = 5;
	options.control = true;
	options.seconds_max = 0;
	options.others = (const json_t *const *)others;
	options.other_count = count;
	options.clock = (struct race_clock){.now = ticks, .ctx = rig, .end = rig->budget};
	options.others_seconds = left / 2;
	options.others_end = first;
	options.others_first = first && count > 0 && has(arms[0].set, set);
	options.level = first || gain->faster ? options.level : RACE_LEVEL_AGAIN;
	options.log = &rig->log;
	options.seed = (uint64_t)rig->begun + (uint64_t)rig->duels++;
	if (duel_run(&runner, &request, config, today, &options, NULL, &result, err))
		return -1;
	json_decref(config);
	json_decref(today);
	for (size_t i = 0; i < count; i++) {
		ablation_arm_take(&arms[i], &result.others[i]);
		json_decref(others[i]);
	}
	rig->last_pairs = (int)result.paired.count;
	rig->last_ci[0] = 1 / result.paired.ci[1];
	rig->last_ci[1] = 1 / result.paired.ci[0];
	*gain = (struct ablation_gain){.ratio = 1 / result.paired.ratio,
	                               .faster = result.verdict == PAIRED_FASTER,
	                               .likely = duel_leans(result.paired.ratio, result.paired.ci, PAIRED_FASTER),
	                               .open = result.left_open};
	duel_result_clear(&result);
	return 0;
}

static void keep(void *ctx) {
	struct rig *rig = ctx;
	rig->pairs = rig->last_pairs;
	memcpy(rig->ci, rig->last_ci, sizeof rig->ci);
}

struct rates {
	int runs, faster, minimal, complete;
	int prices, held, false_prices; /* prices that were given; whose interval has the truth; of what does not matter */
	int covered;                    /* intervals of the whole that have the truth */
	double trials;
};

static bool covers(const double ci[2], double truth) {
	return ci[0] <= truth * 1.0000001 && truth <= ci[1] * 1.0000001;
}

static void judge(const struct rig *rig, const struct ablation_result *result, struct rates *rates) {
	const struct truth *truth = rig->truth;
	double whole = truth->factor(result->kept), best = truth->factor(truth->least);

	rates->runs++;
	rates->trials += rig->sim.trials - rig->begun;
	rates->faster += result->faster;
	rates->minimal += result->kept == truth->least || (truth->also && result->kept == truth->also);
	rates->complete += whole <= best * 1.02;
	rates->covered += covers(rig->ci, 1 / whole);
	for (size_t i = 0; i < truth->changes && (result->kept & (result->kept - 1)); i++) {
		const struct ablation_arm *without = &result->without[i];

		if (!(result->kept >> i & 1) || isnan(without->ratio))
			continue;
		double price = truth->factor(result->kept & ~((uint64_t)1 << i)) / whole;
		rates->prices++;
		rates->held += covers(without->ci, price);
		rates->false_prices += without->slower && price < 1.005;
	}
}

static struct rates simulate(const struct truth *truth, const struct noise *noise, double budget, int repeats) {
	struct rates rates = {0};
	struct rig rig = {.truth = truth, .budget = budget, .only = json_pack("{s:i}", "i", 0)};

	for (int i = 0; i < repeats; i++) {
		double rank[ABLATION_CHANGES_MAX];
		const struct ablation_task task = {.ctx = &rig,
		                                   .count = truth->changes,
		                                   .rank = rank,
		                                   .likely = truth->likely,
		                                   .room = room,
		                                   .duel = duel,
		                                   .keep = keep};
		struct ablation_result result;
		struct err err = {0};

		for (size_t k = 0; k < truth->changes; k++)
			rank[k] = (double)k;
		rig.sim = sim_new(noise, (uint64_t)i);
		rig.begun = rig.sim.trials;
		if (ablation_run(&task, &result, &err) == 0)
			judge(&rig, &result, &rates);
		duel_log_clear(&rig.log);
	}
	json_decref(rig.only);
	return rates;
}

static const struct noise
	three_percent = {.name = "log-normal 3 %", .sigma = 0.03},
	two_speeds = {.name = "two speeds", .sigma = 0.01, .modes = 0.2},
	drifts = {.name = "1 % and drift", .sigma = 0.01, .drift = 0.05},
	bursts = {.name = "2 %, drift, bursts and spikes", .sigma = 0.02, .drift = 0.05, .bursts = 0.02, .tails = 0.05},
	loaded = {.name = "load: 20 %, half of the runs up to half longer", .sigma = 0.2, .tails = 0.5, .drift = 0.1};
static const struct noise *const kinds[] = {&three_percent, &two_speeds, &drifts, &bursts, &loaded};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void table(void) {
	printf("%-24s %-46s %6s %7s %8s %6s %6s %6s %6s\n", "truth", "noise", "faster", "minimal", "complete", "held",
	       "false", "whole", "runs");
	for (int t = 0; t < TRUTHS; t++)
		for (int k = 0; k < KINDS; k++) {
			struct rates r = simulate(&truths[t], kinds[k], kinds[k] == &loaded ? 600 : BLOCKS_ALL, 200);
			printf("%-24s %-46s %6d %7d %8d %3d/%3d %6d %6d %6.0f\n", truths[t].name, kinds[k]->name, r.faster,
			       r.minimal, r.complete, r.held, r.prices, r.false_prices, r.covered, r.trials / r.runs);
		}
}

/* What is worth 1.1 and more is found beside noise that is not extreme. */
static bool is_large(const struct truth *truth, const struct noise *noise) {
	return noise != &loaded && (noise != &two_speeds || (truth->factor != two && truth->factor != all_of_three));
}

static void test_truths(void) {
	for (int t = 0; t < TRUTHS; t++)
		for (int k = 0; k < KINDS; k++) {
			const struct truth *truth = &truths[t];
			bool gains = truth->least != 0;
			struct rates r = simulate(truth, kinds[k], kinds[k] == &loaded ? 600 : BLOCKS_ALL, REPEATS);

			if (gains && is_large(truth, kinds[k]))
				ok(r.faster >= 99 && r.minimal >= (truth->factor == two ? 80 : 95),
				   "%s, %s: the smallest set with the gain remains in %d of 100, after %.0f runs", truth->name,
				   kinds[k]->name, r.minimal, r.trials / r.runs);
			ok(gains ? r.faster >= 90 : r.faster <= 2, "%s, %s: proven faster in %d of 100", truth->name,
			   kinds[k]->name, r.faster);
			ok(r.false_prices <= 2, "%s, %s: %d prices are false", truth->name, kinds[k]->name, r.false_prices);
			ok(r.held >= 0.95 * r.prices - 1 && r.covered >= 95, "%s, %s: %d of %d prices hold, and %d of 100 gains",
			   truth->name, kinds[k]->name, r.held, r.prices, r.covered);
		}
}

/* Without time for single changes, groups of them are taken back, and without any time nothing is claimed. */
static void test_budgets(void) {
	static const double budgets[] = {15, 30, 60, 120, 240};
	int before = 0;
	for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
		struct rates r = simulate(&truths[6], &three_percent, budgets[i], REPEATS);
		ok(r.trials / r.runs <= budgets[i] + 14, "a final with time for %.0f runs takes %.0f", budgets[i],
		   r.trials / r.runs);
		ok(r.complete >= 98 && r.false_prices == 0 && r.minimal >= before - 5,
		   "one change of twelve is alone in %d of 100 finals with time for %.0f runs, and never lost", r.minimal,
		   budgets[i]);
		before = r.minimal;
	}
	ok(before >= 95, "one change of twelve is alone if there is time for 240 runs");
}

/* The search's opinion saves time where it is right, and costs some where it is wrong. */
static void test_likely(void) {
	struct truth right = truths[6], wrong = truths[6], half = truths[2], none = truths[10];
	right.likely = right.least;
	wrong.likely = 3;
	half.likely = 2;
	none.likely = 5;
	struct rates without = simulate(&truths[6], &three_percent, 80, REPEATS);
	struct rates r = simulate(&right, &three_percent, 80, REPEATS);
	ok(r.minimal >= 98 && r.minimal > without.minimal && r.trials < without.trials,
	   "what is likely to pay is alone in %d of 100 finals with time for 80 runs, and in %d if nobody knows", r.minimal,
	   without.minimal);
	r = simulate(&wrong, &three_percent, BLOCKS_ALL, REPEATS);
	ok(r.faster >= 99 && r.minimal >= 95, "a wrong opinion is corrected in %d of 100, after %.0f runs", r.minimal,
	   r.trials / r.runs);
	r = simulate(&half, &three_percent, BLOCKS_ALL, REPEATS);
	ok(r.faster >= 99 && r.minimal >= 95, "an opinion that lacks a part is completed in %d of 100, after %.0f runs",
	   r.minimal, r.trials / r.runs);
	r = simulate(&none, &loaded, 600, REPEATS);
	ok(r.faster <= 2 && r.false_prices <= 2, "where nothing matters, load and an opinion prove %d winners of 100",
	   r.faster);
}

static double gain_of_one;

static double one_of_four(uint64_t set) {
	return has(set, 4) ? 1 / gain_of_one : 1;
}

/* How often is a change that brings so much found among three that bring nothing? */
static void power(void) {
	static const double gains[] = {1, 1.02, 1.05, 1.1, 1.25, 1.5}, sigmas[] = {0.01, 0.03, 0.1, 0.3};
	printf("%-8s %-8s %8s %8s %8s %8s\n", "noise", "gain", "proven", "minimal", "false", "runs");
	for (size_t n = 0; n < sizeof sigmas / sizeof *sigmas; n++)
		for (size_t g = 0; g < sizeof gains / sizeof *gains; g++) {
			struct noise noise = {.sigma = sigmas[n]};
			struct truth truth = {"one of four", 4, one_of_four, gains[g] > 1 ? 4 : 0, 0, 0};
			gain_of_one = gains[g];
			struct rates r = simulate(&truth, &noise, BLOCKS_ALL, 200);
			printf("%-8.2g %-8.3g %8d %8d %8d %8.0f\n", sigmas[n], gains[g], r.faster, r.minimal, r.false_prices,
			       r.trials / r.runs);
		}
}

/* Runs that were ended may take any time: the upper end says so, and the lower one stays what the pairs tell. */
static void test_price(void) {
	const struct ablation_arm ended = {.ratio = 1.6, .ci = {1.2, 1.5 * RACE_UNKNOWN}, .slower = true};
	const struct ablation_arm unmeasured = {.ratio = NAN, .ci = {NAN, NAN}};
	json_t *price = ablation_price_json("level", NULL, &ended), *none = ablation_price_json("level", NULL, &unmeasured);
	ok(json_number_value(js_at(price, "ci.0")) == 1.2 && json_number_value(js_at(price, "ci.1")) == RACE_UNKNOWN,
	   "a price of which only a bound is known keeps that bound");
	ok(json_number_value(js_at(none, "ci.0")) == 0 && json_number_value(js_at(none, "ci.1")) == RACE_UNKNOWN,
	   "a price that was not measured may be anything");
	struct ablation_arm open = ended;
	open.slower = false;
	json_t *unproven = ablation_price_json("level", NULL, &open);
	ok(json_number_value(js_at(unproven, "ci.0")) == 1, "the interval of a price that is not proven has 1");
	json_decref(unproven);
	json_decref(price);
	json_decref(none);
}

int main(int argc, char **argv) {
	if (argc > 1) {
		(strcmp(argv[1], "power") == 0 ? power : table)();
		return 0;
	}
	test_truths();
	test_budgets();
	test_likely();
	test_price();
	return tap_done();
}
