/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The duel: interleaved pairs until the verdict is clear, with looks on the schedule of look.c (ADR 14). */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/stats.h"
#include "tuner/race/entrant_impl.h"
#include "tuner/race/look.h"
#include "tuner/race/numbers.h"

enum { PAIRS_LIMIT = 100000 };

const struct duel_options duel_defaults = {
	.pairs_min = RACE_PAIRS_MIN,
	.pairs_max = RACE_PAIRS_MAX,
	.margin = 0.01,
	.level = 0.95,
	.seconds_max = 30,
	.phase = "duel",
};

enum duel_trial { SIDE_A, SIDE_B, CONTROL, TRIALS_MAX };

struct duel {
	const struct duel_options *options;
	struct duel_result *result;
	struct race_context context;
	struct race_entrant sides[2];
	struct rng rng;
	size_t planned;            /* blocks */
	bool a_first;              /* in the latest of them */
	double *pairs[TRIALS_MAX]; /* seconds of a, b and the control, `count` each */
	int count, controls;       /* of them have a control: the first ones */
	int judged, judged_block;  /* pairs that count for certain, and the number of blocks by then */
	int look;                  /* number of pairs at which the duel looks next */
	int failures;              /* blocks that lost a trial */
	double start;
	double seconds[TRIALS_MAX]; /* of the current block */
	struct blocks blocks;       /* on several nodes */
	bool promising;             /* at the last look (look.h) */
	bool over;                  /* the last look was taken */
};

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
	                          .limit = options->limit};
}

static double duel_now(const struct duel_options *options) {
	return options->blocks != NULL ? options->blocks->now(options->blocks->ctx) : race_clock_now(&options->clock);
}

/* Seconds of a block, on average so far; 0: none has ended. */
static double duel_block_seconds(const struct duel *duel) {
	int blocks = duel->context.block;

	if (duel->options->blocks != NULL)
		return blocks_seconds(&duel->blocks);
	return blocks > 0 ? (duel_now(duel->options) - duel->start) / blocks : 0;
}

/* The control goes first where time gets short, because it proves nothing about the pairs. */
static bool duel_controls(const struct duel *duel) {
	const struct duel_options *options = duel->options;
	double left = duel->look - duel->count;

	return options->control && duel->controls == duel->count &&
	       !race_clock_late(&options->clock, left * duel_block_seconds(duel));
}

static void swap(int *a, int *b) {
	int other = *a;

	*a = *b;
	*b = other;
}

/* The order within a block is random, so that a drift (clock, temperature, other users) and what one run leaves in the
 * caches hit either side as often (look.h). The control is a second run of `a`: the difference of `a` from itself is
 * the noise floor. */
static size_t duel_plan(void *ctx, int *order) {
	struct duel *duel = ctx;
	size_t trials = duel_controls(duel) ? 3 : 2, at[TRIALS_MAX];

	for (size_t i = 0; i < trials; i++)
		order[i] = (int)i;
	rng_shuffle(&duel->rng, order, trials, sizeof *order);
	for (size_t i = 0; i < trials; i++)
		at[order[i]] = i;
	duel->a_first = look_first(&duel->rng, duel->planned++, duel->a_first);
	if ((at[SIDE_A] < at[SIDE_B]) != duel->a_first)
		swap(&order[at[SIDE_A]], &order[at[SIDE_B]]);
	return trials;
}

static struct race_entrant *side_of(void *ctx, int trial) {
	return &((struct duel *)ctx)->sides[trial == SIDE_B];
}

/* The control is the second run of its side in a block. */
static bool is_sample(const void *ctx, int trial) {
	(void)ctx;
	return trial != CONTROL;
}

static void pair_begin(void *ctx) {
	struct duel *duel = ctx;

	for (int trial = 0; trial < TRIALS_MAX; trial++)
		duel->seconds[trial] = NAN;
}

static void trial_note(void *ctx, int trial, double seconds) {
	((struct duel *)ctx)->seconds[trial] = seconds;
}

/* A block with a failed trial yields no pair, but the rest of it still runs, because the verdict also depends on
 * whether the rival works. A pair that was lost with its node is evidence against neither side. */
static void pair_end(void *ctx, size_t trials, size_t done, bool lost) {
	struct duel *duel = ctx;
	bool whole = true;

	(void)done;
	duel->context.block++;
	if (lost)
		return;
	for (size_t trial = 0; trial < trials; trial++)
		whole = whole && !isnan(duel->seconds[trial]);
	duel->failures += !whole;
	for (size_t trial = 0; whole && trial < trials; trial++)
		duel->pairs[trial][duel->count] = duel->seconds[trial];
	duel->controls += whole && trials > CONTROL && duel->controls == duel->count;
	duel->count += whole;
}

/* A side that is lost (it failed too often) ends the duel only once the other one is known to work: either it has given
 * a pair or it is lost as well. Otherwise both may fail for a reason that has nothing to do with the configuration. */
static bool duel_forfeited(const struct duel *duel) {
	const struct race_entrant *a = &duel->sides[SIDE_A], *b = &duel->sides[SIDE_B];

	return (a->lost && (b->lost || b->count > 0)) || (b->lost && a->count > 0);
}

static void duel_look(struct duel *duel, bool last) {
	struct duel_result *result = duel->result;
	const struct look_rule rule = duel_rule(duel->options);
	struct look_answer answer = look_take(&rule, duel->pairs[SIDE_A], duel->pairs[SIDE_B], (size_t)duel->count, last);

	result->paired = answer.paired;
	result->verdict = answer.verdict;
	result->decided = answer.decided || duel->count >= duel->options->pairs_min;
	if (duel->sides[SIDE_B].bounded > 0 && answer.verdict != PAIRED_FASTER) { /* b may take any time above its bound */
		result->verdict = PAIRED_TIE;
		result->decided = false;
	}
	duel->promising = answer.promising;
	duel->over = answer.decided || last;
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
	return duel->count >= options->pairs_min && duel_passed(duel, options->seconds_max);
}

/* Little can come of a duel whose last look was not promising, so it gets less time. */
static bool duel_gives_up(const struct duel *duel) {
	const struct duel_options *options = duel->options;

	return !duel->promising && duel->count >= options->pairs_min && duel_passed(duel, options->seconds_vague);
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
		duel->count = duel->judged;
	if (duel->controls > duel->count)
		duel->controls = duel->count;
	for (int i = 0; i < 2; i++)
		race_entrant_judge(&duel->sides[i], answer == RACE_WATCH_KEEP);
	duel->judged = duel->count;
	duel->judged_block = duel->context.block;
}

/* Only pairs that count for certain are looked at. At the end of its time the duel takes what there is. */
static void duel_watch(struct duel *duel) {
	const struct duel_options *options = duel->options;
	int next = duel->look < options->pairs_max ? duel->look : options->pairs_max;
	int blocks = duel->context.block, pending = blocks - duel->judged_block;

	if (options->watch != NULL && options->blocks == NULL &&
	    race_clock_spares(&options->clock, duel->start, blocks, pending))
		duel_judge(duel, duel->count >= next);
}

static bool duel_decide(void *ctx) {
	struct duel *duel = ctx;
	const struct duel_options *options = duel->options;
	const struct look_rule rule = duel_rule(options);
	bool last;

	duel_watch(duel);
	last = duel_ends(duel) || duel->count >= options->pairs_max;
	if (duel->count < duel->look)
		last = last || duel_gives_up(duel);
	if (duel->count < duel->look && !last)
		return false;
	duel_look(duel, last);
	duel->over = duel->over || duel_gives_up(duel);
	duel->look = look_next(&rule, duel->count);
	return duel->over;
}

/* Never more pairs are on their way than the next look needs. The looks, and with them the error that the duel may
 * make, are thus the same on several nodes as on one. */
static bool may_begin(const void *ctx) {
	const struct duel *duel = ctx;

	if (duel_forfeited(duel))
		return false;
	if (duel->options->blocks == NULL)
		return !duel_ends(duel);
	return (size_t)duel->count + duel->blocks.count < (size_t)duel->look && !duel_late(duel);
}

static int duel_measure(struct duel *duel, struct err *err) {
	const struct look_rule rule = duel_rule(duel->options);
	const struct race_blocks plan = {.ctx = duel,
	                                 .context = &duel->context,
	                                 .may_begin = may_begin,
	                                 .plan = duel_plan,
	                                 .trials_max = TRIALS_MAX,
	                                 .entrant = side_of,
	                                 .keeps = is_sample,
	                                 .begin = pair_begin,
	                                 .note = trial_note,
	                                 .end = pair_end,
	                                 .decide = duel_decide};

	duel->look = look_next(&rule, 0);
	duel->blocks.runner = duel->options->blocks;
	race_watch_begin(duel->options->watch);
	return race_blocks_run(&duel->blocks, &plan, err);
}

/* The signed ranks of fewer than 6 pairs cannot reach the level (five on one side have p = 2 / 2^5, 6 %), so Student's
 * t takes their place, as in the looks at so few pairs. */
static struct paired duel_control(const struct duel *duel) {
	const double *a = duel->pairs[SIDE_A], *again = duel->pairs[CONTROL];
	size_t count = (size_t)duel->controls;
	double level = duel->options->level;

	return count >= 2 && count < 6 && duel->options->pairs_first ? look_student(a, again, count, level)
	                                                             : paired_analyse(a, again, count, level);
}

static int duel_conclude(struct duel *duel, struct duel_result *result, struct err *err) {
	const struct race_entrant *a = &duel->sides[SIDE_A], *b = &duel->sides[SIDE_B];

	if (a->lost && b->lost)
		return err_set(err, ERR_NOTHING, "run each of them alone to see why",
		               "neither of the two configurations could be measured: %s, %s", trial_status_word(a->failed),
		               trial_status_word(b->failed));
	if (!duel->over)
		duel_look(duel, true);
	if (duel->controls > 0)
		result->control = duel_control(duel);
	if (a->lost || b->lost) {
		result->verdict = a->lost ? PAIRED_SLOWER : PAIRED_FASTER;
		result->decided = true;
	}
	result->bounded = b->bounded;
	for (int i = 0; i < 2; i++) {
		const struct race_entrant *side = &duel->sides[i];

		result->failed[i] = side->failed;
		result->lost[i] = side->lost;
		result->cut[i] = side->cut && side->count == 0;
		result->median[i] = stats_median(side->samples, side->count);
		stats_median_ci(side->samples, side->count, duel->options->level, result->ci[i]);
	}
	result->a = duel->pairs[SIDE_A];
	result->b = duel->pairs[SIDE_B];
	duel->pairs[SIDE_A] = duel->pairs[SIDE_B] = NULL;
	return 0;
}

int duel_run(struct runner *runner, const struct trial_request *request, const json_t *a, const json_t *b,
             const struct duel_options *options, const struct race_observer *observer, struct duel_result *result,
             struct err *err) {
	struct race_context context = {
		.runner = runner, .request = request, .observer = observer, .phase = options->phase, .clock = &options->clock};
	struct duel duel = {.options = options,
	                    .result = result,
	                    .context = context,
	                    .sides = {{.config = a}, {.config = b, .bound = options->bound}},
	                    .start = duel_now(options)};
	int status;

	*result = (struct duel_result){0};
	if (options_check(options, err) != 0)
		return -1;
	rng_split(&duel.rng, options->seed, "duel");
	for (int i = 0; i < TRIALS_MAX; i++)
		duel.pairs[i] = mem_alloc((size_t)options->pairs_max, sizeof *duel.pairs[i]);
	status = duel_measure(&duel, err);
	race_watch_end(options->watch, duel.context.block - duel.judged_block);
	result->failures = duel.failures;
	if (status == 0)
		status = duel_conclude(&duel, result, err);
	for (int i = 0; i < TRIALS_MAX; i++)
		free(duel.pairs[i]);
	race_entrant_clear(&duel.sides[SIDE_A]);
	race_entrant_clear(&duel.sides[SIDE_B]);
	return status;
}

void duel_result_clear(struct duel_result *result) {
	free(result->a);
	free(result->b);
	*result = (struct duel_result){0};
}

double duel_noise_floor(const struct duel_result *result) {
	const double *ci = result->control.ci;

	return result->control.count == 0 ? NAN : fmax(fabs(1 - ci[0]), fabs(ci[1] - 1));
}
