/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of the budget is left. A budget in seconds is a promise: it is kept within 5 % or 2 s, whichever is more.
 * What is too long is not begun, what takes longer than expected is cut, and a budget that is too short is reported
 * before the search begins. */
#include <math.h>

#include "tuner/race/look.h"
#include "base/json/js.h"
#include "tuner/tune/bench_impl.h"

/* Even the shortest budget allows a few evaluations, because the duel that follows takes longer anyway. */
static const uint64_t EVALUATIONS_MIN = 8, EVALUATIONS_MIN_OF_PROGRAM = 4;
/* Shares of the promised tolerance: work that probably ends in time may use the first, and a trial is cut at the
 * second. The rest is for ending processes and for writing results. */
static const double BEGIN_SHARE = 0.25, CUT_SHARE = 0.5, TOLERANCE = 0.05, TOLERANCE_SECONDS = 2;
/* A trial of the search may take this many times as long as the longest before it uses the time of the finals. */
static const double CUT_TIMES = 1.5;
/* A trial that is cut leaves this many times what the shortest proof is expected to take; what a kernel needs to be set
 * up is estimated. */
static const double PROOF_TIMES = 1.05, PROOF_TIMES_OF_KERNEL = 1.5;
/* Runs of this length are compared in RACE_PAIRS_LEAST pairs if that is clear. */
static const double LONG_SECONDS = 0.5;
/* The standard deviation of the logarithm of one run, until it is known. */
static const double NOISE_UNKNOWN = 0.02;
enum { TRIALS_EXPECTED = 3 };
/* A gain above this is hardly noise. */
static const double USEFUL_GAIN = 1.05, SAME = 0.98;
/* Trials of the winner that race and duel usually take, besides its pairs. */
enum { CHECKED_USUALLY = 5 };
/* Arms of the blocks that tell which changes pay. */
enum { ARMS_EXPECTED = 6 };
/* Failures of a program, its baseline included, before the search gives up. */
static const uint64_t BROKEN_AFTER = 2;
/* The finals take this share of the budget at most in what the search keeps for them, and the race that one. After some
 * evaluations it is worth more to know which changes pay than to try more of them. */
static const double SHARE_KEPT = 0.35, SHARE_KEPT_LATE = 0.5, RACE_SHARE_KEPT = 0.15;
static const uint64_t EVALUATIONS_EARLY = 32;
/* A space whose rest takes less than this share of the budget is tried whole. */
static const double SHARE_OF_REST = 0.25;

static double node_seconds_left(const struct tune *tune) {
	return fmax(0, tune->money.budget.node_seconds - tune->money.spent_before - fleet_held(tune->bench.fleet).seconds);
}

double tune_budget_time(const struct tune *tune) {
	if (!(tune->money.budget.node_seconds > 0))
		return tune->money.budget.seconds;
	return tune_elapsed(tune) + node_seconds_left(tune) / tune_nodes(tune);
}

void tune_budget_alone(struct tune_budget *budget) {
	if (budget->node_seconds > 0)
		*budget = (struct tune_budget){.seconds = budget->node_seconds};
}

bool tune_promised(const struct tune *tune) {
	const struct tune_budget *budget = &tune->money.budget;
	return tune_budget_time(tune) > 0 && !(budget->may_grow && tune->task->whole_programs);
}

/* A budget in node-seconds ends a share earlier the more nodes there are, so that its tolerance is a share, too. */
static double tolerance(const struct tune *tune) {
	double share = TOLERANCE * tune_budget_time(tune);
	return tune->money.budget.seconds > 0 ? fmax(TOLERANCE_SECONDS, share) : share;
}

static double end(const struct tune *tune) {
	double budget = tune_budget_time(tune);
	return tune->task->resume && tune->money.budget.seconds > 0
	           ? fmax(budget, tune->money.spent_before + RACE_SHARE_RESUMED * budget)
	           : budget;
}

double tune_left(const struct tune *tune) {
	return tune_promised(tune) ? end(tune) + BEGIN_SHARE * tolerance(tune) - tune_elapsed(tune) : INFINITY;
}

/* Seconds until whatever runs must be cut to keep the promise. */
static double cut_left(const struct tune *tune) {
	return end(tune) + CUT_SHARE * tolerance(tune) - tune_elapsed(tune);
}

static double elapsed_now(void *ctx) {
	return tune_elapsed(ctx);
}

struct race_clock tune_race_clock(struct tune *tune, double left) {
	struct race_clock clock = {.now = elapsed_now, .ctx = tune};
	if (tune_promised(tune)) {
		clock.end = tune_elapsed(tune) + fmax(left, 1e-3);
		clock.cut = end(tune) + CUT_SHARE * tolerance(tune);
	}
	return clock;
}

int tune_pairs_first(const struct tune *tune) {
	if (!tune->task->whole_programs || tune->bench.times.run < LONG_SECONDS)
		return RACE_PAIRS_SHORT;
	bool cheap =
		tune_promised(tune) && RACE_PAIRS_SHORT * tune_pair_seconds(tune) < RACE_SHARE_SHORT * tune_budget_time(tune);
	return cheap ? RACE_PAIRS_SHORT : RACE_PAIRS_LEAST;
}

static struct look_rule rule_of(const struct tune *tune) {
	return (struct look_rule){.first = tune_pairs_first(tune),
	                          .pairs_min = duel_defaults.pairs_min,
	                          .pairs_max = duel_defaults.pairs_max,
	                          .margin = duel_defaults.margin,
	                          .level = duel_defaults.level};
}

double tune_rounds(const struct tune *tune, int pairs) {
	const struct look_rule rule = rule_of(tune);
	double nodes = tune_nodes(tune), rounds = 0;
	for (int count = 0, next; count < pairs; count = next) {
		next = look_next(&rule, count);
		if (next > pairs || next <= count)
			next = pairs;
		rounds += ceil((next - count) / nodes);
	}
	return rounds;
}

double tune_proof_seconds(const struct tune *tune) {
	if (!tune_has_reference(tune))
		return 0;
	return tune_rounds(tune, RACE_PAIRS_LEAST) * tune_pair_seconds(tune) + tune_return_seconds(tune) +
	       tune->bench.times.restart;
}

int tune_pairs_expected(const struct tune *tune) {
	const struct look_rule rule = rule_of(tune);
	double noise = tune_noise(tune), ratio = tune->memory.best / tune->memory.baseline.value;
	if (!(ratio > 0))
		return rule.pairs_min;
	/* The ratio of a pair has the noise of two runs. */
	return look_expected(&rule, ratio, sqrt(2) * (isnan(noise) ? NOISE_UNKNOWN : noise));
}

bool tune_is_useful(const struct tune *tune) {
	return tune->memory.best_index != UINT64_MAX && tune->memory.baseline.value / tune->memory.best > USEFUL_GAIN;
}

/* The seconds that the search leaves for tune_winner_check, which runs the winner until TUNE_CHECKED_RUNS of its runs
 * were checked, it falls, or the time is over. */
static double tune_check_seconds(const struct tune *tune) {
	double pairs = 2 * tune_pairs_expected(tune) + CHECKED_USUALLY, most = RACE_SHARE_CHECK * tune_budget_time(tune);
	if (!tune->task->checked || isnan(tune->memory.best) || !tune_is_useful(tune))
		return 0;
	return fmin(most,
	            fmax(0, TUNE_CHECKED_RUNS - pairs) / tune_nodes(tune) * tune_final_seconds(tune, tune->memory.best));
}

/* The changes of the best so far from the baseline. */
static int changes_expected(const struct tune *tune) {
	if (tune->memory.best_index == UINT64_MAX)
		return 0;
	js_auto json_t *config = space_config_json(tune->task->space, tune->memory.best_index);
	int count = 0;
	js_members (name, value, config) {
		const json_t *today = json_object_get(tune->task->baseline, name);
		count += today && !json_equal(value, today);
	}
	return count;
}

/* Runs of the baseline that are ended prove what the time allows. */
static int pairs_wanted(const struct tune *tune) {
	return tune_base_seconds(tune) < tune->memory.baseline.value ? RACE_PAIRS_LEAST : tune_pairs_expected(tune);
}

/* Each change is taken back in as many blocks as it takes to see a few per cent, and what is left is proven again. */
double tune_rent_seconds(const struct tune *tune) {
	int count = changes_expected(tune);
	double best = tune_final_seconds(tune, tune->memory.best), arm = tune_arm_seconds(tune, tune_arm_cut(tune));
	double taken = tune_rounds(tune, RACE_PAIRS_MIN) * (fmin(count, ARMS_EXPECTED) * arm + 2 * best);
	double again = tune_rounds(tune, RACE_PAIRS_OF_CHANGE_MIN) * (arm + 2 * best);
	double today = 2 * tune_rounds(tune, pairs_wanted(tune)) * tune_base_seconds(tune);
	double most = tune_budget_time(tune) > 0 ? RACE_SHARE_CHANGES * tune_budget_time(tune) : INFINITY;
	return count < 2 ? 0 : fmin(most, taken + again + today);
}

/* How many would race: those within the margin of the best. */
static double entries_expected(const struct tune *tune) {
	double count = 0;
	for (size_t i = 0; i < tune->memory.worked_count; i++)
		count += tune->memory.worked[i].least <= TUNE_FINALIST_MARGIN * tune->memory.best;
	return fmin(fmax(1, count), FINALISTS_MAX);
}

/* As long as everything else fails there is nothing to compare, and the search needs the time to find something. */
static bool only_baseline_works(const struct tune *tune) {
	return tune->tally.evaluations > 1 && tune->memory.baseline.status == TRIAL_CORRECT &&
	       tune->tally.failures[TRIAL_CORRECT] + tune->tally.failures[TRIAL_CENSORED] <= 1;
}

/* A race of one is none. It only chooses among what is about as fast. */
static double race_expected(const struct tune *tune) {
	double entries = entries_expected(tune), best = tune_final_seconds(tune, tune->memory.best);
	double seconds = entries > 1 ? ceil(RACE_BLOCKS_KEPT / tune_nodes(tune)) * entries * 1.05 * best : 0;
	return tune_promised(tune) ? fmin(seconds, RACE_SHARE_KEPT * tune_budget_time(tune)) : seconds;
}

/* Is nothing found since the last finals that is clearly faster than what won them, or tied? */
static bool is_decided(const struct tune *tune) {
	const struct tune_finals *last = &tune->finals;
	bool faster = last->dueled && last->duel.verdict == PAIRED_FASTER;
	return last->met == tune->memory.best_index || tune->memory.best > SAME * tune_finals_value(tune, faster);
}

/* The noise at hand tells how long the finals take. As long as nothing better is found than what they have decided
 * about, the time of the shortest proof is kept, which is what something much better would need. */
static double finals_expected(const struct tune *tune) {
	bool found = tune_is_useful(tune);
	if (only_baseline_works(tune) || (tune_promised(tune) && (!found || is_decided(tune))))
		return tune_proof_seconds(tune);
	double best = isnan(tune->memory.best) ? 0 : tune_final_seconds(tune, tune->memory.best);
	double pairs = tune_rounds(tune, pairs_wanted(tune)) * (tune_base_seconds(tune) + 2 * best);
	return (isnan(tune->memory.best) ? 0 : race_expected(tune)) + pairs + tune_return_seconds(tune) +
	       tune_rent_seconds(tune) + tune_check_seconds(tune);
}

double tune_finals_kept(const struct tune *tune) {
	if (!tune_promised(tune))
		return fmin(RACE_SHARE_MAX * tune_budget_time(tune), finals_expected(tune));
	/* time that is missing in the end costs little, because the search goes on for as long as it can */
	double share = tune->tally.evaluations < EVALUATIONS_EARLY ? SHARE_KEPT : SHARE_KEPT_LATE;
	return fmax(tune_proof_seconds(tune), fmin(share * tune_budget_time(tune), finals_expected(tune)));
}

/* Is there something whose proof fits into the time left? The best of a few noisy trials looks good, but as many pairs
 * as it takes to prove a small gain may take too long. */
static bool may_be_proven(const struct tune *tune) {
	return !tune_has_reference(tune) ||
	       (tune_is_useful(tune) && tune_rounds(tune, pairs_wanted(tune)) * tune_pair_seconds(tune) <= tune_left(tune));
}

/* May another configuration be measured? least: evaluations that a search should have; finals: kept seconds. */
static bool tune_another_fits(const struct tune *tune, uint64_t least, double finals) {
	/* a program's search that goes on after a proof may use the tolerance; a kernel would lose its worker */
	bool spare = tune->task->whole_programs && tune->money.budget.seconds > 0 && tune->finals.met != UINT64_MAX;
	double left = spare ? tune_left(tune) : tune_budget_time(tune) - tune_elapsed(tune);
	double proof = tune_proof_seconds(tune), next = tune_evaluation_seconds(tune);
	if (next > left)
		return false;
	if (proof > tune_left(tune)) /* nothing can be proven any more, but something better may be found */
		return true;
	if (next + proof > left) /* what is proven stays so */
		return (tune->finals.met != UINT64_MAX && is_decided(tune)) || !may_be_proven(tune);
	return tune->tally.evaluations < least || next + finals <= left;
}

/* Returns the time of the longest trial of a kernel so far, including its build. */
static double longest_seconds(const struct tune *tune) {
	return tune->task->whole_programs || tune->bench.fleet ? 0
	                                                       : fmax(tune->bench.times.longest, tune_first_seconds(tune));
}

/* The time for a trial that leaves enough for the proof. A kernel that is cut needs a new worker first, which may take
 * longer than all of its trials: where a trial as long as those so far leaves no time for that, cutting it would lose
 * the proof, which a hang loses in any case. */
static double search_left(const struct tune *tune) {
	double usual = CUT_TIMES * fmax(tune_evaluation_seconds(tune), longest_seconds(tune));
	double left = tune_left(tune) - PROOF_TIMES * tune_proof_seconds(tune);
	if (tune->task->whole_programs)
		return fmax(left, usual);
	double restart = tune->bench.times.restart > 0 ? 0 : tune_restart_seconds(tune);
	double safe = tune_left(tune) - PROOF_TIMES_OF_KERNEL * tune_proof_seconds(tune) - restart;
	return safe >= usual ? safe : fmax(left, usual);
}

void tune_limit(const struct tune *tune, struct trial_request *request) {
	if (!tune_promised(tune))
		return;
	double left = cut_left(tune);
	if (tune->tally.evaluations > 0) /* the finals keep what they need */
		left = fmin(left, search_left(tune));
	request->left_s = fmax(left, 1e-3);
	request->timeout_s = request->timeout_s > 0 ? fmin(request->timeout_s, request->left_s) : request->left_s;
}

bool tune_was_cut(const struct trial_request *request, const struct trial_result *result) {
	bool ended = result->status == TRIAL_TIMEOUT || result->status == TRIAL_CENSORED || result->status == TRIAL_COMPILE;
	return request->left_s > 0 && ended && result->elapsed_s >= 0.99 * request->left_s;
}

static const char *seconds_text(double seconds, char text[32]) {
	if (seconds < 10)
		snprintf(text, 32, "%.2g s", seconds);
	else
		snprintf(text, 32, "%.0f s", seconds);
	return text;
}

/* Returns the --budget that gives this search the seconds that it needs, because it may get only a share. Round numbers
 * are easier to type. */
static double rounded_up(const struct tune *tune, double needed) {
	double seconds = needed * (tune->task->limits.sharers > 1 ? (double)tune->task->limits.sharers : 1);
	double step = seconds < 20 ? 1 : seconds < 200 ? 10 : 60;
	return ceil(seconds / step) * step;
}

/* "the budget of 7 s", and of several searches "its share of 7 s of the budget". */
static const char *budget_text(const struct tune *tune, char text[64]) {
	char seconds[32];
	bool shared = tune->task->limits.sharers > 1;
	seconds_text(tune->money.budget.seconds, seconds);
	snprintf(text, 64, "%s of %s%s", shared ? "its share" : "the budget", seconds, shared ? " of the budget" : "");
	return text;
}

/* A trial of a kernel also prepares, verifies and runs several times, so that its run would not explain the time. */
static double explaining(const struct tune *tune) {
	return tune->task->whole_programs ? tune_seconds(tune, tune->memory.baseline.value) : tune_evaluation_seconds(tune);
}

/* A search that shares a budget with others may get more of it at their end. */
static int refuse(struct tune *tune, const char *longer, double seconds, double needed, struct err *err) {
	char budget[64], time[32];
	bool cut = *longer && *tune->money.cut_message;
	enum err_code code = tune->task->limits.sharers > 1 ? ERR_NOTHING : ERR_USAGE;
	tune->stopped = "share";
	err_set(err, code, NULL, "%s is too short: %s the baseline takes %s%s%s%s%s", budget_text(tune, budget),
	        tune->task->whole_programs ? "one run of" : "measuring", longer, seconds_text(seconds, time),
	        cut ? " (" : "", cut ? tune->money.cut_message : "", cut ? ")" : "");
	/* Workers of one machine share its processors, so that more of them make each run longer. */
	if (tune->bench.fleet && tune->task->whole_programs && tune_nodes(tune) > 1)
		return err_hint(
			err,
			"if the runs keep processors busy that the workers share, they disturb each other: measure on fewer "
			"GPUs or nodes, or with about --budget %.0fs",
			rounded_up(tune, needed));
	return err_hint(err, "about --budget %.0fs%s is needed for a result that is proven", rounded_up(tune, needed),
	                *longer ? " or more" : "");
}

/* For a few evaluations and the proof, after what was spent. */
static double needed_seconds(const struct tune *tune, double trials) {
	double trial = tune_evaluation_seconds(tune);
	return tune_elapsed(tune) + ceil(trials / tune_nodes(tune)) * trial + tune_proof_seconds(tune);
}

static double trials_expected(const struct tune *tune) {
	uint64_t valid = space_valid(tune->task->space), others = valid - (tune->task->start != UINT64_MAX && valid > 0);
	return (double)(others < TRIALS_EXPECTED ? others : TRIALS_EXPECTED);
}

int tune_budget_short(struct tune *tune, struct err *err) {
	double seconds = tune->memory.baseline.value, trials = trials_expected(tune) + 1 + 2 * RACE_PAIRS_LEAST;
	return refuse(tune, "longer than ", seconds, tune_elapsed(tune) + trials * seconds, err);
}

static void bound_warn(const struct tune *tune) {
	char text[256], budget[64], time[32];
	double seconds = tune->memory.baseline.value, pairs = 2 * RACE_PAIRS_LEAST + 1;
	if (!tune->observer || !tune->observer->warn)
		return;
	snprintf(
		text, sizeof text,
		"the baseline takes longer than %s of %s: only what is much faster can be proven; more than --budget %.0fs is "
		"needed for anything else",
		seconds_text(seconds, time), budget_text(tune, budget),
		rounded_up(tune, (trials_expected(tune) + pairs) * seconds));
	tune->observer->warn(tune->observer->ctx, text);
}

int tune_budget_check(struct tune *tune, bool cut, struct err *err) {
	if (tune->memory.baseline.status == TRIAL_CENSORED && !tune_is_recalling(tune)) {
		if (tune->task->limits.sharers > 1)
			return tune_budget_short(tune, err);
		bound_warn(tune);
	}
	if (!tune_promised(tune) || !(tune->money.budget.seconds > 0) || tune_is_recalling(tune) ||
	    (tune->memory.baseline.status != TRIAL_CORRECT && !cut))
		return 0;
	double trials = trials_expected(tune);
	double next = tune_evaluation_seconds(tune), elapsed = tune_elapsed(tune);
	if (cut)
		return refuse(tune, "longer than ", elapsed, (1 + trials + 2 * RACE_PAIRS_LEAST) * elapsed, err);
	double needed = needed_seconds(tune, trials);
	if (needed <= tune->money.budget.seconds || trials == 0)
		return 0;
	if (next > tune_left(tune))
		return refuse(tune, "", explaining(tune), needed, err);
	if (tune->observer && tune->observer->warn) {
		char text[256], budget[64], time[32];
		snprintf(text, sizeof text, "%s is too short to prove %s, because a %s takes %s: about --budget %.0fs would do",
		         budget_text(tune, budget), tune_can_bound(tune) ? "a small gain" : "a result",
		         tune->task->whole_programs ? "run" : "measurement", seconds_text(explaining(tune), time),
		         rounded_up(tune, needed));
		tune->observer->warn(tune->observer->ctx, text);
	}
	return 0;
}

/* Nothing else was tried, because builds took the time: there is nothing to compare the baseline with. */
int tune_budget_used(const struct tune *tune, struct err *err) {
	char budget[64];
	bool tried = tune->tally.evaluations > 1 || tune->memory.baseline.status != TRIAL_CORRECT || tune->money.cut;
	if (!(tune->money.budget.seconds > 0) || !tune_promised(tune) || !tune->task->builder || tried || !tune->stopped ||
	    strcmp(tune->stopped, "budget") != 0)
		return 0;
	err_set(err, ERR_USAGE, NULL, "%s is too short: it ended before another setting was built and run",
	        budget_text(tune, budget));
	return err_hint(err, "about --budget %.0fs is needed for a result that is proven",
	                rounded_up(tune, needed_seconds(tune, trials_expected(tune))));
}

/* Is the budget of the search used up? */
static bool tune_spent(const struct tune *tune) {
	const struct tune_budget *budget = &tune->money.budget;
	uint64_t least = tune->task->whole_programs ? EVALUATIONS_MIN_OF_PROGRAM : EVALUATIONS_MIN;
	if (budget->evaluations && tune->tally.evaluations >= budget->evaluations)
		return true;
	double time = tune_budget_time(tune);
	if (!(time > 0) || tune_is_recalling(tune))
		return false;
	if (recall_searched(tune->memory.recall))
		return true;
	return !tune_another_fits(tune, least, tune_finals_kept(tune));
}

/* Configurations that were not tried. Today's may be tried, and none of the space. */
static double untried(const struct tune *tune) {
	return fmax(0, (double)space_valid(tune->task->space) - (double)tune->tally.evaluations);
}

/* How many more evaluations it allows, judged by those so far; at least 1. */
static uint64_t tune_evaluations_left(const struct tune *tune) {
	const struct tune_budget *budget = &tune->money.budget;
	double time = tune_budget_time(tune), seconds = time - tune_elapsed(tune) - tune_finals_kept(tune);
	double left = untried(tune);
	if (budget->evaluations)
		left = fmin(left, (double)(budget->evaluations - tune->tally.evaluations));
	else if (time > 0)
		left = fmin(left, seconds * (double)tune->tally.evaluations / tune_elapsed(tune));
	return left < 1 ? 1 : (uint64_t)left;
}

bool tune_may_repeat(const struct tune *tune, const struct trial_result *result) {
	return !tune_interrupted(tune) && tune_left(tune) > tune_proof_seconds(tune) + result->elapsed_s;
}

/* No expectation is as sure as the measurement of all that is left, where there is time for it before the finals. */
static bool rest_is_cheap(const struct tune *tune) {
	double time = tune_budget_time(tune), seconds = untried(tune) * tune_evaluation_seconds(tune) / tune_nodes(tune);
	return tune_promised(tune) &&
	       seconds <= fmin(SHARE_OF_REST * time, time - tune_elapsed(tune) - tune_finals_kept(tune));
}

static bool hopeless(const struct tune *tune) {
	double gain = tune->task->limits.stop_gain;
	return gain > 0 && !tune_is_recalling(tune) && !rest_is_cheap(tune) &&
	       search_hopeless(tune->search, gain, tune_evaluations_left(tune));
}

/* A program that fails as it is run today, and fails with another configuration as well, has a mistake in its command,
 * so that more trials would only repeat it, and so has code that does not compile. A number that cannot be compared is
 * a configuration's own. */
static bool is_broken(const struct tune *tune) {
	bool compiles = tune->tally.failures[TRIAL_COMPILE] < tune->tally.evaluations;
	return (tune->task->whole_programs || !compiles) && tune->memory.baseline.status != TRIAL_CORRECT &&
	       tune->tally.evaluations >= BROKEN_AFTER &&
	       tune->tally.failures[TRIAL_CORRECT] + tune->tally.failures[TRIAL_CENSORED] + tune->tally.incomparable == 0;
}

const char *tune_over(const struct tune *tune) {
	return is_broken(tune) ? "baseline" : tune_spent(tune) ? "budget" : hopeless(tune) ? "gain" : NULL;
}
