/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The duel: interleaved pairs until the verdict is clear, with looks on the schedule of look.c (ADR 14). */
#include <limits.h>
#include <math.h>

#include "base/mem.h"
#include "base/stats.h"
#include "tuner/race/look.h"
#include "tuner/race/numbers.h"
#include "tuner/race/race_impl.h"

enum { PAIRS_LIMIT = 100000 };
/* With a smaller gain than so many margins it is better to know first whether there is any. */
static const double REPLACE_MARGINS = 3;

static int options_check(const struct duel_options *options, struct err *err) {
	if (options->pairs_min < 1 || options->pairs_max < options->pairs_min || options->pairs_max > PAIRS_LIMIT)
		return err_set(err, ERR_USAGE, "give 1 <= least <= most <= 100000", "a duel of %d to %d pairs is not possible",
		               options->pairs_min, options->pairs_max);
	if (!(options->level > 0 && options->level < 1 && options->margin >= 0 && options->margin < 1))
		return err_set(err, ERR_USAGE, "both are fractions between 0 and 1",
		               "a duel needs a level and a margin below 1");
	return 0;
}

static struct look_rule duel_rule(const struct duel_options *options) {
	return (struct look_rule){.first = options->pairs_first,
	                          .pairs_min = options->pairs_min,
	                          .pairs_max = options->pairs_max,
	                          .margin = options->margin,
	                          .level = options->level,
	                          .width = options->width,
	                          .limit = options->limit};
}

/* The rule of each of the others, which share the error. Earlier blocks chose what they are asked about, so that as
 * many new ones are worth their time. */
static struct look_rule others_rule(const struct duel *duel) {
	const struct duel_options *options = duel->options;
	return (struct look_rule){.first = options->pairs_first ? options->pairs_first : RACE_PAIRS_SHORT,
	                          .pairs_min = RACE_PAIRS_OF_CHANGE_MIN,
	                          .pairs_max = RACE_PAIRS_OF_CHANGE_MAX + duel->recalled,
	                          .margin = options->margin,
	                          .level = 1 - (1 - options->level) / fmax(1, (double)options->other_count),
	                          .width = options->width};
}

static double duel_now(const struct duel_options *options) {
	return options->blocks != NULL ? options->blocks->now(options->blocks->ctx) : race_clock_now(&options->clock);
}

static size_t others_open(const struct duel *duel) {
	size_t count = 0;
	for (size_t arm = OTHERS; arm < duel->arm_count; arm++)
		count += !duel->arms[arm].over;
	return count;
}

/* The reason why a is fast is worth a question only where it is likely to be. */
static bool others_run(const struct duel *duel) {
	const struct duel_result *result = duel->result;
	if (duel->arms[SIDE_B].over)
		return result->verdict == PAIRED_FASTER;
	return !duel->looked || (duel->promising && result->paired.ratio < 1 - duel->options->margin);
}

/* Does this one of the others run in the next block? The first of them does where it may take the place of a. */
static bool other_runs(const struct duel *duel, size_t arm) {
	return !duel->arms[arm].over && (others_run(duel) || (arm == OTHERS && duel->options->others_first));
}

/* Seconds of the next block; 0: none has ended. */
static double duel_block_seconds(const struct duel *duel) {
	size_t trials = !duel->arms[SIDE_B].over + 1;
	for (size_t arm = OTHERS; arm < duel->arm_count; arm++)
		trials += other_runs(duel, arm);
	if (duel->options->blocks != NULL)
		return blocks_seconds(&duel->blocks);
	return duel->trials > 0 ? (duel_now(duel->options) - duel->start) / duel->trials * (double)trials : 0;
}

/* The control goes first where time gets short, because it proves nothing about the pairs. */
static bool duel_controls(const struct duel *duel) {
	const struct duel_options *options = duel->options;
	double left = duel->arms[SIDE_B].look - duel_pairs(duel, SIDE_B);
	int rows = duel->rows - duel->recalled, most = options->controls_max > 0 ? options->controls_max : INT_MAX;
	return options->control && rows < most && !duel->arms[SIDE_B].over && duel_pairs(duel, CONTROL) == rows &&
	       !race_clock_late(&options->clock, left * duel_block_seconds(duel));
}

/* Does the side that is asked about run first in this pair? At random, but of each two pairs in a row it is once first
 * and once second: what the first run leaves to the second, such as warm caches, favours neither side in few pairs.
 * before: the answer for the pair before. */
static bool look_first(struct rng *rng, size_t pair, bool before) {
	return pair % 2 ? !before : rng_below(rng, 2) == 0;
}

/* The order within a block is random, so that a drift (clock, temperature, other users) and what one run leaves in the
 * caches hit either side as often (look.h). The control is a second run of `a`: the difference of `a` from itself is
 * the noise floor. */
static size_t duel_plan(void *ctx, int *order) {
	struct duel *duel = ctx;
	size_t trials = 0, at[2] = {0};
	order[trials++] = SIDE_A;
	if (!duel->arms[SIDE_B].over)
		order[trials++] = SIDE_B;
	if (duel_controls(duel))
		order[trials++] = CONTROL;
	for (size_t arm = OTHERS; arm < duel->arm_count; arm++)
		if (other_runs(duel, arm))
			order[trials++] = (int)arm;
	rng_shuffle(&duel->rng, order, trials, sizeof *order);
	if (duel->arms[SIDE_B].over)
		return trials;
	for (size_t i = 0; i < trials; i++)
		if (order[i] <= SIDE_B)
			at[order[i]] = i;
	duel->a_first = look_first(&duel->rng, duel->planned++, duel->a_first);
	if ((at[SIDE_A] < at[SIDE_B]) != duel->a_first) {
		order[at[SIDE_A]] = SIDE_B;
		order[at[SIDE_B]] = SIDE_A;
	}
	return trials;
}

static struct race_entrant *side_of(void *ctx, int trial) {
	return &((struct duel *)ctx)->arms[trial == CONTROL ? SIDE_A : trial].entrant;
}

/* The control is the second run of its side in a block. */
static bool is_sample(const void *ctx, int trial) {
	(void)ctx;
	return trial != CONTROL;
}

static void block_begin(void *ctx) {
	struct duel *duel = ctx;
	const struct race_entrant *a = &duel->arms[SIDE_A].entrant;
	double cut = duel->options->others_cut, seconds = a->count ? stats_median(a->samples, a->count) : 0;
	seconds = seconds > 0 ? seconds : duel->options->expected;
	duel->arms[SIDE_B].entrant.bound = duel->options->bound > 0 ? fmax(duel->options->bound, cut * seconds) : 0;
	for (size_t arm = 0; arm < duel->arm_count; arm++) {
		duel->arms[arm].current = NAN;
		if (arm >= OTHERS)
			duel->arms[arm].entrant.bound = cut * seconds;
	}
}

static void trial_note(void *ctx, int trial, double seconds) {
	struct duel_arm *arm = &((struct duel *)ctx)->arms[trial];
	bool ended = arm->entrant.bound > 0 && seconds >= arm->entrant.bound;
	arm->current = ended ? -seconds : seconds;
}

/* A block in which a or b fails yields no pair, but the rest of it still runs, because the verdict also depends on
 * whether the rival works. A block that was lost with its node is evidence against neither side. */
static void block_end(void *ctx, size_t trials, size_t done, bool lost) {
	struct duel *duel = ctx;
	bool whole = !isnan(duel->arms[SIDE_A].current) && (duel->arms[SIDE_B].over || !isnan(duel->arms[SIDE_B].current));
	(void)trials;
	duel->context.block++;
	duel->trials += (int)done;
	if (lost)
		return;
	duel->failures += !whole;
	if (whole)
		duel_row_add(duel);
}

/* A side that is lost (it failed too often) ends the duel only once the other one is known to work: either it has given
 * a pair or it is lost as well. Otherwise both may fail for a reason that has nothing to do with the configuration. */
static bool duel_forfeited(const struct duel *duel) {
	const struct race_entrant *a = &duel->arms[SIDE_A].entrant, *b = &duel->arms[SIDE_B].entrant;
	return (a->lost && (b->lost || b->count > 0)) || (b->lost && a->count > 0);
}

static void duel_look(struct duel *duel, bool last) {
	struct duel_result *result = duel->result;
	const struct look_rule rule = duel_rule(duel->options);
	int count = duel_pairs(duel, SIDE_B);
	struct look_answer answer = look_take(&rule, duel->x, duel->y, (size_t)count, last);
	result->paired = answer.paired;
	result->verdict = answer.verdict;
	result->decided = answer.decided || count >= duel->options->pairs_min;
	if (duel->arms[SIDE_B].entrant.bounded > 0 &&
	    answer.verdict != PAIRED_FASTER) { /* b may take any time above its bound */
		result->verdict = PAIRED_TIE;
		result->decided = false;
	}
	duel->promising = answer.promising;
	duel->looked = true;
	duel->arms[SIDE_B].over = answer.decided || last;
	duel->arms[SIDE_B].look = look_next(&rule, count);
}

/* Another one is decided where it is clearly slower or faster, and where more blocks would hardly show that. */
static void other_look(struct duel *duel, size_t arm, bool last) {
	const struct look_rule rule = others_rule(duel);
	struct duel_other *other = &duel->result->others[arm - OTHERS];
	int count = duel_pairs(duel, arm);
	struct look_answer answer = look_take(&rule, duel->y, duel->x, (size_t)count, last);
	other->paired = answer.paired;
	other->verdict = answer.verdict;
	if (duel->arms[arm].entrant.bounded > 0) {
		duel_pairs_of(duel, arm, RACE_UNKNOWN);
		other->paired.ci[1] = look_take(&rule, duel->y, duel->x, (size_t)count, last).paired.ci[1];
		other->verdict = answer.verdict == PAIRED_SLOWER ? PAIRED_SLOWER : PAIRED_TIE;
	}
	bool vain = count >= RACE_PAIRS_OF_CHANGE_VAIN && answer.hopeless;
	other->decided =
		answer.decided || count >= rule.pairs_max ||
		(vain && !paired_leans(&other->paired, PAIRED_SLOWER) && !paired_leans(&other->paired, PAIRED_FASTER));
	duel->arms[arm].over = last || other->decided;
	duel->arms[arm].look = look_next(&rule, count);
}

static bool duel_late(const struct duel *duel) {
	return race_clock_late(&duel->options->clock, duel_block_seconds(duel));
}

static bool duel_passed(const struct duel *duel, double seconds) {
	return seconds > 0 && duel_now(duel->options) - duel->start > seconds;
}

/* The budget's clock always counts, but blocks on their way still do, too. The duel's own limits do so only from
 * pairs_min pairs on, because a verdict from fewer is not one that the caller asked for. */
static bool duel_ends(const struct duel *duel) {
	const struct duel_options *options = duel->options;
	if (duel->blocks.count == 0 && duel_late(duel))
		return true;
	return duel_pairs(duel, SIDE_B) >= options->pairs_min && duel_passed(duel, options->seconds_max);
}

/* Little can come of a duel whose last look was not promising, so it gets less time. */
static bool duel_gives_up(const struct duel *duel) {
	const struct duel_options *options = duel->options;
	return !duel->promising && duel_pairs(duel, SIDE_B) >= options->pairs_min &&
	       duel_passed(duel, options->seconds_vague);
}

/* Blocks that are needed for the next look at anything. */
static int blocks_wanted(const struct duel *duel) {
	int wanted = INT_MAX;
	for (size_t arm = SIDE_B; arm < duel->arm_count; arm++) {
		if (arm == CONTROL || duel->arms[arm].over || (arm >= OTHERS && !other_runs(duel, arm)))
			continue;
		int missing = duel->arms[arm].look - duel_pairs(duel, arm);
		wanted = missing < wanted ? missing : wanted;
	}
	return wanted;
}

/* Keeps the blocks since the last answer, or drops them, so that others take their place. */
static void duel_judge(struct duel *duel, bool at_once) {
	struct race_watch *watch = duel->options->watch;
	enum race_watch_answer answer = race_watch_ask(watch, duel->context.block - duel->judged_block, at_once);
	if (answer == RACE_WATCH_LATER)
		return;
	for (int block = duel->judged_block; answer == RACE_WATCH_REPEAT && block < duel->context.block; block++) {
		watch->pairs = watch->pairs ? watch->pairs : json_array();
		json_array_append_new(watch->pairs, json_integer(block));
	}
	if (answer == RACE_WATCH_REPEAT)
		duel->rows = duel->judged;
	for (size_t arm = 0; arm < duel->arm_count; arm++)
		race_entrant_judge(&duel->arms[arm].entrant, answer == RACE_WATCH_KEEP);
	duel->judged = duel->rows;
	duel->judged_block = duel->context.block;
}

/* Only pairs that count for certain are looked at. At the end of its time the duel takes what there is. */
static void duel_watch(struct duel *duel) {
	const struct duel_options *options = duel->options;
	int blocks = duel->context.block, pending = blocks - duel->judged_block;
	if (options->watch != NULL && options->blocks == NULL &&
	    race_clock_spares(&options->clock, duel->start, blocks, pending))
		duel_judge(duel, blocks_wanted(duel) <= 0);
}

static bool others_late(const struct duel *duel) {
	const struct duel_options *options = duel->options;
	return options->others_seconds > 0 &&
	       duel_now(options) - duel->start + duel_block_seconds(duel) > options->others_seconds;
}

static void others_decide(struct duel *duel, bool last) {
	last = last || others_late(duel);
	for (size_t arm = OTHERS; arm < duel->arm_count; arm++) {
		struct duel_arm *other = &duel->arms[arm];
		if (other->entrant.lost && !other->over)
			other_look(duel, arm, true);
		else if (!other->over && (last || duel_pairs(duel, arm) >= other->look))
			other_look(duel, arm, last);
	}
}

/* Once a has met b, whatever more is to be known is about the others. */
static void pairs_decide(struct duel *duel, bool ends) {
	int count = duel_pairs(duel, SIDE_B);
	bool due = count >= duel->arms[SIDE_B].look;
	bool last = ends || count >= duel->options->pairs_max || (!due && duel_gives_up(duel));
	if (duel->arms[SIDE_B].over || (!due && !last))
		return;
	duel_look(duel, last);
	duel->arms[SIDE_B].over = duel->arms[SIDE_B].over || duel_gives_up(duel);
}

/* The first of the others is to take the place of a where it is faster, or probably is while a hardly beats b. */
static bool first_replaces(const struct duel *duel) {
	const struct duel_result *result = duel->result;
	if (!duel->options->others_first || !duel->looked)
		return false;
	bool good = result->verdict == PAIRED_FASTER || paired_leans(&result->paired, PAIRED_FASTER);
	bool vain = !others_run(duel) && duel_pairs(duel, SIDE_B) >= duel->options->pairs_min;
	return result->others[0].verdict == PAIRED_FASTER || vain ||
	       (!good && paired_leans(&result->others[0].paired, PAIRED_FASTER));
}

/* May one of the others take the place of a, as it has fewer changes and is not slower, as far as the pairs tell? */
static bool any_replaces(const struct duel *duel) {
	for (size_t i = duel->options->others_first; i < duel->options->other_count; i++)
		if (duel->result->others[i].verdict != PAIRED_SLOWER &&
		    !paired_leans(&duel->result->others[i].paired, PAIRED_SLOWER))
			return true;
	return false;
}

/* Seconds that another duel takes until it has proven as much as this one. What the log has counts there, too. */
static double seconds_again(const struct duel *duel) {
	const struct look_rule rule = duel_rule(duel->options);
	if (!duel->options->log)
		return duel_now(duel->options) - duel->start;
	size_t count = (size_t)duel_pairs(duel, SIDE_B);
	bool faster = duel->result->verdict == PAIRED_FASTER;
	double missing = faster ? RACE_PAIRS_LEAST : look_missing(&rule, duel->x, duel->y, count, NAN);
	return missing * duel_block_seconds(duel);
}

/* Should one of the others take over? Only if there is time to prove it. */
static bool others_replace(const struct duel *duel) {
	const struct duel_options *options = duel->options;
	bool gains = duel->looked && duel->result->paired.ratio < 1 - REPLACE_MARGINS * options->margin;
	if (first_replaces(duel))
		return true;
	return options->others_end && gains && others_run(duel) && others_open(duel) == 0 && any_replaces(duel) &&
	       !race_clock_late(&options->clock, seconds_again(duel));
}

static bool duel_decide(void *ctx) {
	struct duel *duel = ctx;
	duel_watch(duel);
	bool ends = duel_ends(duel);
	pairs_decide(duel, ends);
	others_decide(duel, ends || (duel->arms[SIDE_B].over && !others_run(duel)));
	duel->over = duel->arms[SIDE_B].over && others_open(duel) == 0;
	duel->result->left_open = !duel->over && others_replace(duel);
	return duel->over || duel->result->left_open;
}

/* Never more pairs are on their way than the next look needs. The looks, and with them the error that the duel may
 * make, are thus the same on several nodes as on one. */
static bool may_begin(const void *ctx) {
	const struct duel *duel = ctx;
	if (duel_forfeited(duel))
		return false;
	if (duel->options->blocks == NULL)
		return !duel_ends(duel);
	return duel->blocks.count < (size_t)blocks_wanted(duel) && !duel_late(duel);
}

static int duel_measure(struct duel *duel, struct err *err) {
	const struct look_rule rule = duel_rule(duel->options);
	const struct race_blocks plan = {.ctx = duel,
	                                 .context = &duel->context,
	                                 .may_begin = may_begin,
	                                 .plan = duel_plan,
	                                 .trials_max = duel->arm_count,
	                                 .entrant = side_of,
	                                 .keeps = is_sample,
	                                 .begin = block_begin,
	                                 .note = trial_note,
	                                 .end = block_end,
	                                 .decide = duel_decide};
	duel_log_recall(duel);
	const struct look_rule others = others_rule(duel);
	duel->arms[SIDE_B].look = look_next(&rule, duel_pairs(duel, SIDE_B));
	for (size_t arm = OTHERS; arm < duel->arm_count; arm++)
		duel->arms[arm].look = look_next(&others, duel_pairs(duel, arm));
	duel->blocks.runner = duel->options->blocks;
	race_watch_begin(duel->options->watch);
	return race_blocks_run(&duel->blocks, &plan, err);
}

/* The signed ranks of fewer than 6 pairs cannot reach the level (five on one side have p = 2 / 2^5, 6 %), so Student's
 * t takes their place, as in the looks at so few pairs. */
static struct paired duel_control(const struct duel *duel, size_t count) {
	double level = duel->options->level;
	return count >= 2 && count < 6 && duel->options->pairs_first ? look_student(duel->x, duel->y, count, level)
	                                                             : paired_analyse(duel->x, duel->y, count, level);
}

static void side_report(const struct duel *duel, int i, struct duel_result *result) {
	const struct race_entrant *side = &duel->arms[i].entrant;
	result->failed[i] = side->failed;
	result->lost[i] = side->lost;
	result->cut[i] = side->cut && side->count == 0;
	result->median[i] = stats_median(side->samples, side->count);
	stats_median_ci(side->samples, side->count, duel->options->level, result->ci[i]);
}

static void others_report(const struct duel *duel, struct duel_result *result) {
	for (size_t i = 0; i < duel->options->other_count; i++) {
		const struct race_entrant *entrant = &duel->arms[OTHERS + i].entrant;
		result->others[i].median = stats_median(entrant->samples, entrant->count);
		result->others[i].failed = entrant->failed;
		result->others[i].lost = entrant->lost;
		if (entrant->lost)
			result->others[i].verdict = PAIRED_SLOWER;
	}
}

/* Sets what the samples say, and takes the pairs. */
static void duel_report(struct duel *duel, struct duel_result *result) {
	int controls = duel_pairs(duel, CONTROL);
	if (controls > 0)
		result->control = duel_control(duel, (size_t)controls);
	for (int i = 0; i < 2; i++)
		side_report(duel, i, result);
	others_report(duel, result);
	/* only the rows in which b was measured */
	result->paired.count = (size_t)duel_pairs(duel, SIDE_B);
	result->a = duel->x;
	result->b = duel->y;
	duel->x = duel->y = NULL;
}

static int duel_conclude(struct duel *duel, struct duel_result *result, struct err *err) {
	const struct race_entrant *a = &duel->arms[SIDE_A].entrant, *b = &duel->arms[SIDE_B].entrant;
	if (a->lost && b->lost)
		return err_set(err, ERR_NOTHING, "run each of them alone to see why",
		               "neither of the two configurations could be measured: %s, %s", trial_status_word(a->failed),
		               trial_status_word(b->failed));
	if (!duel->arms[SIDE_B].over)
		duel_look(duel, true);
	others_decide(duel, true);
	if (a->lost || b->lost) {
		result->verdict = a->lost ? PAIRED_SLOWER : PAIRED_FASTER;
		result->decided = true;
	}
	result->bounded = b->bounded;
	duel_report(duel, result);
	return 0;
}

static void arms_make(struct duel *duel, const json_t *a, const json_t *b) {
	const struct duel_options *options = duel->options;
	duel->arm_count = OTHERS + options->other_count;
	duel->arms = mem_alloc(duel->arm_count, sizeof *duel->arms);
	duel->arms[SIDE_A].entrant.config = a;
	duel->arms[SIDE_B].entrant = (struct race_entrant){.config = b, .bound = options->bound};
	duel->result->others = mem_alloc(options->other_count + 1, sizeof *duel->result->others);
	for (size_t i = 0; i < options->other_count; i++) {
		duel->arms[OTHERS + i].entrant =
			(struct race_entrant){.config = options->others[i], .phase = options->others_phase};
		duel->result->others[i] =
			(struct duel_other){.paired = {.ratio = NAN, .ci = {NAN, NAN}, .p = NAN}, .verdict = PAIRED_TIE};
	}
}

static void arms_free(struct duel *duel) {
	for (size_t arm = 0; arm < duel->arm_count; arm++) {
		free(duel->arms[arm].seconds);
		race_entrant_clear(&duel->arms[arm].entrant);
	}
	free(duel->arms);
	free(duel->x);
	free(duel->y);
}

int duel_run(struct runner *runner, const struct trial_request *request, const json_t *a, const json_t *b,
             const struct duel_options *options, const struct race_observer *observer, struct duel_result *result,
             struct err *err) {
	struct race_context context = {
		.runner = runner, .request = request, .observer = observer, .phase = options->phase, .clock = &options->clock};
	struct duel duel = {.options = options, .result = result, .context = context, .start = duel_now(options)};
	*result = (struct duel_result){0};
	if (options_check(options, err) != 0)
		return -1;
	rng_split(&duel.rng, options->seed, "duel");
	arms_make(&duel, a, b);
	int status = duel_measure(&duel, err);
	race_watch_end(options->watch, duel.context.block - duel.judged_block);
	result->failures = duel.failures;
	if (status == 0)
		status = duel_conclude(&duel, result, err);
	duel_log_add(&duel);
	arms_free(&duel);
	return status;
}
