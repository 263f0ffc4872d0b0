/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/mem.h"
#include "base/stats.h"
#include "tuner/race/race_impl.h"
#include "tuner/race/look.h"
#include "tuner/race/numbers.h"

enum { BLOCKS_LIMIT = 100000 };
/* The level of the intervals before blocks_min. It leaves room for a field of several entries. */
static const double EARLY_LEVEL = 0.99;
/* Such a difference is not worth another change as long as it is not proven. */
static const double NEAR = 0.02;

const struct duel_options duel_defaults = {
	.pairs_min = RACE_PAIRS_MIN,
	.pairs_max = RACE_PAIRS_MAX,
	.margin = 0.01,
	.level = 0.95,
	.seconds_max = 30,
	.phase = "duel",
};

const struct race_options race_defaults = {
	.blocks_min = RACE_BLOCKS_MIN,
	.blocks_max = RACE_BLOCKS_MAX,
	.margin = 0.01,
	.level = 0.95,
	.seconds_max = 30,
	.phase = "race",
};

struct race {
	const struct race_options *options;
	struct race_context context;
	struct race_entry *entries;
	size_t count;
	struct race_entrant *field; /* one per entry */
	double *times;              /* seconds of entry e in block k: [k * count + e]; NAN: none */
	double *x, *y;              /* scratch: the blocks that two entries share */
	int dropped, judged_block;  /* blocks that do not count; number of blocks when that was last asked */
	struct rng rng;
	double start;
	struct blocks blocks; /* on several nodes */
	double level;         /* of two-sided intervals, so that each of their bounds holds at the requested level */
	size_t best;
	struct paired *against; /* each entry against the best */
	double *p, *adjusted;
	bool led; /* there is a best */
};

static int options_check(const struct race_options *options, size_t count, struct err *err) {
	if (count == 0)
		return err_set(err, ERR_NOTHING, NULL, "a race needs at least one configuration");
	if (options->blocks_min < 1 || options->blocks_max < options->blocks_min || options->blocks_max > BLOCKS_LIMIT)
		return err_set(err, ERR_USAGE, "give 1 <= least <= most <= 100000", "a race of %d to %d blocks is not possible",
		               options->blocks_min, options->blocks_max);
	if (!(options->level > 0 && options->level < 1 && options->margin >= 0 && options->margin < 1))
		return err_set(err, ERR_USAGE, "both are fractions between 0 and 1",
		               "a race needs a level and a margin below 1");
	return 0;
}

static void race_init(struct race *race) {
	size_t count = race->count, blocks = (size_t)race->options->blocks_max;
	race->field = mem_alloc(count, sizeof *race->field);
	race->times = mem_alloc(count, blocks * sizeof *race->times);
	race->x = mem_alloc(blocks, sizeof *race->x);
	race->y = mem_alloc(blocks, sizeof *race->y);
	race->against = mem_alloc(count, sizeof *race->against);
	race->p = mem_alloc(count, sizeof *race->p);
	race->adjusted = mem_alloc(count, sizeof *race->adjusted);
	rng_split(&race->rng, race->options->seed, "race");
	for (size_t e = 0; e < count; e++) {
		race->field[e].config = race->entries[e].config;
		race->entries[e].alive = true;
	}
}

static void race_clear(struct race *race) {
	for (size_t e = 0; e < race->count; e++)
		race_entrant_clear(&race->field[e]);
	free(race->field);
	free(race->times);
	free(race->x);
	free(race->y);
	free(race->against);
	free(race->p);
	free(race->adjusted);
}

static size_t race_alive(const struct race *race) {
	size_t alive = 0;
	for (size_t e = 0; e < race->count; e++)
		alive += race->entries[e].alive;
	return alive;
}

static int race_blocks(const struct race *race) {
	return race->context.block - race->dropped;
}

/* Too few blocks for ranks: Student's interval decides. */
static bool race_is_early(const struct race *race) {
	return race->options->early && race_blocks(race) < race->options->blocks_min;
}

static double race_level(const struct race *race) {
	return race_is_early(race) ? EARLY_LEVEL : race->level;
}

/* Compares entry e with entry f over the blocks that measured both; count is 0 if there are none. */
static struct paired race_compare(const struct race *race, size_t e, size_t f, double level) {
	size_t shared = 0;
	for (int block = 0; block < race->context.block; block++) {
		const double *times = race->times + (size_t)block * race->count;
		if (isnan(times[e]) || isnan(times[f]))
			continue;
		race->x[shared] = times[e];
		race->y[shared++] = times[f];
	}
	if (shared == 0)
		return (struct paired){.ratio = NAN, .ci = {NAN, NAN}, .p = 1};
	if (race_is_early(race) && shared >= 2)
		return look_student(race->x, race->y, shared, level);
	return paired_analyse(race->x, race->y, shared, level);
}

/* Finds the best entry: the lowest median, then whichever entry beats it within the blocks, because medians alone
 * ignore what the trials of a block have in common. The ratios need not be transitive, so the number of steps is
 * bounded. Returns false if no surviving entry has a sample yet. */
static bool race_lead(struct race *race) {
	double lowest = INFINITY;
	for (size_t e = 0; e < race->count; e++) {
		double median = stats_median(race->field[e].samples, race->field[e].count);
		if (race->entries[e].alive && median < lowest) {
			lowest = median;
			race->best = e;
		}
	}
	if (lowest == INFINITY)
		return false;
	for (size_t step = 0; step < race->count; step++) {
		size_t lead = race->best;
		double ratio = 1;
		for (size_t e = 0; e < race->count; e++) {
			race->against[e] = race_compare(race, e, lead, race_level(race));
			if (race->entries[e].alive && race->against[e].ratio < ratio) {
				ratio = race->against[e].ratio;
				race->best = e;
			}
		}
		if (race->best == lead)
			return true;
	}
	for (size_t e = 0; e < race->count; e++)
		race->against[e] = race_compare(race, e, race->best, race_level(race));
	return true;
}

/* Eliminates the entries that are slower than the best (Wilcoxon's signed-rank test, with Holm's correction over the
 * field). The correction starts anew at every look: the worst that repeated looks can do is to drop an entry that is
 * about as good as the best, while a stricter level would keep slow entries running. */
static void race_eliminate(struct race *race) {
	for (size_t e = 0, i = 0; e < race->count; e++) {
		if (!race->entries[e].alive || e == race->best)
			continue;
		struct paired paired = race_compare(race, e, race->best, race_level(race));
		race->p[i++] = paired.ratio > 1 ? paired.p : 1;
		if (paired.ratio > 1 && race_is_early(race))
			race->p[i - 1] = paired.ci[0] > 1 ? 0 : 1;
	}
	paired_holm(race->p, race_alive(race) - 1, race->adjusted);
	for (size_t e = 0, i = 0; e < race->count; e++)
		if (race->entries[e].alive && e != race->best && race->adjusted[i++] < 1 - race->options->level)
			race->entries[e].alive = false;
}

/* More blocks would hardly find a better one: no other is ahead of the best by more than the margin. */
static bool race_settled(const struct race *race) {
	for (size_t e = 0; e < race->count; e++)
		if (race->entries[e].alive && e != race->best && !(race->against[e].ci[0] >= 1 - race->options->margin))
			return false;
	return true;
}

static double race_now(const struct race *race) {
	const struct block_runner *blocks = race->options->blocks;
	return blocks != NULL ? blocks->now(blocks->ctx) : race_clock_now(&race->options->clock);
}

/* Is it out of time, whatever the number of blocks? Those on their way still count. */
static bool race_over(const struct race *race) {
	if (race->options->blocks != NULL)
		return race->blocks.count == 0 && race_clock_late(&race->options->clock, blocks_seconds(&race->blocks));
	const struct race_clock *clock = &race->options->clock;
	int blocks = race->context.block;
	return race_clock_late(clock, blocks > 0 ? (race_clock_now(clock) - race->start) / blocks : 0);
}

static bool race_late(const struct race *race) {
	double limit = race->options->seconds_max;
	return race_over(race) || (limit > 0 && race_now(race) - race->start > limit);
}

/* Drops the blocks since the last answer if others disturbed them. At most half of all may be dropped, so that some
 * count whatever happens. An entry that one of them eliminated stays out, because it lost side by side. Returns true if
 * blocks were dropped. */
static bool race_judge(struct race *race, bool at_once) {
	const struct race_options *options = race->options;
	int from = race->judged_block, to = race->context.block;
	if (options->watch == NULL || options->blocks != NULL || 2 * (race->dropped + to - from) > options->blocks_max ||
	    !race_clock_spares(&options->clock, race->start, to, to - from))
		return false;
	enum race_watch_answer answer = race_watch_ask(options->watch, to - from, at_once);
	if (answer == RACE_WATCH_LATER)
		return false;
	for (size_t i = (size_t)from * race->count; answer == RACE_WATCH_REPEAT && i < (size_t)to * race->count; i++)
		race->times[i] = NAN;
	for (size_t e = 0; e < race->count; e++)
		race_entrant_judge(&race->field[e], answer == RACE_WATCH_KEEP);
	race->dropped += answer == RACE_WATCH_REPEAT ? to - from : 0;
	race->judged_block = to;
	return answer == RACE_WATCH_REPEAT;
}

static int race_least(const struct race *race) {
	const struct race_options *options = race->options;
	return options->early && options->blocks_min > RACE_BLOCKS_EARLY ? RACE_BLOCKS_EARLY : options->blocks_min;
}

static bool race_decide(void *ctx) {
	struct race *race = ctx;
	race_judge(race, false);
	if (race_blocks(race) < race_least(race) && !race_over(race))
		return false;
	race->led = race_lead(race);
	if (!race->led)
		return race_over(race);
	race_eliminate(race);
	return race_late(race) || (race_settled(race) && !race_judge(race, true));
}

/* Out of time before anything was measured, the estimates decide. */
static bool race_favourite(struct race *race) {
	double lowest = INFINITY;
	for (size_t e = 0; e < race->count; e++)
		if (race->entries[e].alive && race->entries[e].estimate < lowest) {
			lowest = race->entries[e].estimate;
			race->best = e;
		}
	return lowest < INFINITY;
}

/* Near the end one block ahead would do, but a second one costs nothing if its node would only wait. Where other work
 * could use the node, the race leaves it. */
static size_t least_ahead(const struct race *race) {
	const struct block_runner *blocks = race->options->blocks;
	return blocks->other != NULL && blocks->other(blocks->ctx) ? 1 : 2;
}

/* Blocks are started ahead of the decision, by half of those done so far: more of them would only measure entrants that
 * have dropped out by the time the blocks come back. */
static bool is_ahead(const struct race *race) {
	size_t done = (size_t)race->context.block, least = (size_t)race_least(race);
	size_t wanted = done < least ? least - done : done / 2, ahead = wanted > 2 ? wanted : least_ahead(race);
	return race->blocks.count >= ahead || race_clock_late(&race->options->clock, blocks_seconds(&race->blocks));
}

static bool may_begin(const void *ctx) {
	const struct race *race = ctx;
	size_t begun = (size_t)race->context.block + race->blocks.count;
	return begun < (size_t)race->options->blocks_max && race_alive(race) > 0 &&
	       (race->options->blocks == NULL || !is_ahead(race));
}

static size_t block_plan(void *ctx, int *order) {
	struct race *race = ctx;
	size_t running = 0;
	for (size_t e = 0; e < race->count; e++)
		if (race->entries[e].alive)
			order[running++] = (int)e;
	rng_shuffle(&race->rng, order, running, sizeof *order);
	return running;
}

static struct race_entrant *entrant_of(void *ctx, int trial) {
	return &((struct race *)ctx)->field[trial];
}

static bool is_running(const void *ctx, int trial) {
	return ((const struct race *)ctx)->entries[trial].alive;
}

/* Blocks are numbered in the order in which they come back, and each decision uses only the blocks received so far. A
 * race whose blocks come back in the same order therefore decides the same. */
static double *row_of(const struct race *race) {
	return race->times + (size_t)race->context.block * race->count;
}

static void row_begin(void *ctx) {
	struct race *race = ctx;
	for (size_t e = 0; e < race->count; e++)
		row_of(race)[e] = NAN;
}

static void trial_note(void *ctx, int trial, double seconds) {
	struct race *race = ctx;
	struct race_entry *entry = &race->entries[trial];
	row_of(race)[trial] = entry->alive ? seconds : NAN;
	entry->alive = entry->alive && !race->field[trial].lost;
}

/* A trial that was lost with its node is left out. The others of its block still count, because they ran side by side.
 */
static void row_end(void *ctx, size_t count, size_t done, bool lost) {
	struct race *race = ctx;
	(void)count;
	(void)lost;
	race->context.block += done > 0;
}

static int race_measure(struct race *race, struct err *err) {
	const struct race_blocks plan = {.ctx = race,
	                                 .context = &race->context,
	                                 .may_begin = may_begin,
	                                 .plan = block_plan,
	                                 .trials_max = race->count,
	                                 .entrant = entrant_of,
	                                 .keeps = is_running,
	                                 .begin = row_begin,
	                                 .note = trial_note,
	                                 .end = row_end,
	                                 .decide = race_decide};
	race->blocks.runner = race->options->blocks;
	if (race_blocks_run(&race->blocks, &plan, err) != 0)
		return -1;
	if (race->led && race_alive(race) > 0)
		return 0;
	if (race_over(race) && race_favourite(race))
		return 0;
	return err_set(err, ERR_NOTHING, "run each of them alone to see why",
	               "none of the %zu configurations in the race could be measured", race->count);
}

/* The fastest, or one with fewer changes that was not shown to be slower; the cheapest of those that are equal, as
 * metrics often are. What the changes are worth is for the duel to find out, which takes longer the more there are. */
static size_t race_winner(const struct race *race) {
	const struct race_entry *best = &race->entries[race->best];
	for (size_t e = 0; e < race->count; e++) {
		const struct race_entry *entry = &race->entries[e];
		const struct paired *against = &race->against[e];
		bool near = against->ratio <= 1 + NEAR && against->ci[0] <= 1;
		if (!entry->alive || (entry->changes == 0 && best->changes > 0) || !near)
			continue;
		bool equal = against->ratio == 1 && entry->cost != best->cost;
		if (equal ? entry->cost < best->cost : entry->changes < best->changes)
			best = entry;
	}
	return (size_t)(best - race->entries);
}

static void race_report(const struct race *race) {
	for (size_t e = 0; e < race->count; e++) {
		const struct race_entrant *entrant = &race->field[e];
		race->entries[e].median = stats_median(entrant->samples, entrant->count);
		race->entries[e].blocks = (int)entrant->count;
		race->entries[e].failed = entrant->lost ? entrant->failed : TRIAL_CORRECT;
	}
}

int race_run(struct runner *runner, const struct trial_request *request, struct race_entry *entries, size_t count,
             const struct race_options *options, const struct race_observer *observer, size_t *winner,
             struct err *err) {
	struct race race = {.options = options,
	                    .context = {.runner = runner,
	                                .request = request,
	                                .observer = observer,
	                                .phase = options->phase,
	                                .clock = &options->clock},
	                    .entries = entries,
	                    .count = count,
	                    .level = fmax(0, 2 * options->level - 1)};
	int status;
	if (options_check(options, count, err) != 0)
		return -1;
	race.start = race_now(&race);
	race_init(&race);
	race_watch_begin(options->watch);
	status = race_measure(&race, err);
	race_watch_end(options->watch, race.context.block - race.judged_block);
	race_report(&race);
	if (status == 0)
		*winner = race_winner(&race);
	race_clear(&race);
	return status;
}
