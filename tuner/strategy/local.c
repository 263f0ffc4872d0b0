/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Local search from several starts: iterated local search (Lourenco, Martin, Stuetzle 2003).
 *
 * From a start, first the baseline, each parameter is searched along its line once. Then come the configurations one or
 * two parameters away from the best of this start, the most promising first; a model of all outcomes (guess.h) ranks
 * them by expected improvement (as in SMAC: Hutter, Hoos, Leyton-Brown 2011). Two at a time, because a block and a
 * schedule, or a variant and its own parameters, only pay together. When that leads nowhere for long, the next start is
 * the most promising of a random handful. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/strategy/guess.h"
#include "tuner/strategy/line.h"

enum { NEAR_MAX = 1024, AROUND_MAX = 4096, JUDGED_MAX = 512, START_TRIES = 32, PATIENCE = 2 };

enum stage { STAGE_START, STAGE_LINE, STAGE_AROUND };

struct local {
	struct strategy_task task;
	struct rng rng;
	enum stage stage;
	struct line *line;
	struct guess *guess;
	size_t *order, lines, at; /* the parameters with lines, and the one in hand */
	uint64_t current;         /* the best of this start */
	double value;             /* INFINITY: does not work */
	uint64_t pending;         /* asked for and not yet told; UINT64_MAX: none */
	uint64_t *near, *around;
	size_t around_count;
	size_t values, vain;      /* of all parameters; steps around the best since it got better */
	bool started;
};

static double outcome_value(const struct strategy_outcome *outcome) {
	return outcome->result == STRATEGY_VALUE ? outcome->value : INFINITY;
}

/* Words first, since they change most; a kernel's own parameters come after those of the machine, so from the last. */
static void order_lines(struct local *local) {
	const struct space *space = local->task.space;
	for (int ordered = 0; ordered < 2; ordered++)
		for (size_t p = space_params(space); p-- > 0;)
			if (space_param_values(space, p) > 1 && space_param_ordered(space, p) == (ordered == 1)) {
				local->order[local->lines++] = p;
				local->values += space_param_values(space, p);
			}
}

static int init(void *state, const struct strategy_task *task, struct err *err) {
	struct local *local = state;
	(void)err;
	local->task = *task;
	rng_split(&local->rng, task->seed, "strategy local");
	local->line = line_new(task->arena, task->space);
	local->guess = guess_new(task->arena, task->space);
	local->order = arena_alloc(task->arena, space_params(task->space), sizeof *local->order);
	local->near = arena_alloc(task->arena, NEAR_MAX, sizeof *local->near);
	local->around = arena_alloc(task->arena, AROUND_MAX, sizeof *local->around);
	local->pending = local->current = UINT64_MAX;
	order_lines(local);
	return 0;
}

static int by_index(const void *a, const void *b) {
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* All one and two steps away, in random order; a random part of them where they are too many. */
static void around_begin(struct local *local) {
	const struct space *space = local->task.space;
	uint64_t *around = local->around;
	size_t count = space_near(space, local->current, SPACE_HAMMING, local->near, NEAR_MAX), all = count, kept = 0;
	local->stage = STAGE_AROUND;
	rng_shuffle(&local->rng, local->near, count, sizeof *local->near);
	memcpy(around, local->near, count * sizeof *around);
	for (size_t i = 0; i < count && all < AROUND_MAX; i++)
		all += space_near(space, local->near[i], SPACE_HAMMING, around + all, AROUND_MAX - all);
	qsort(around, all, sizeof *around, by_index);
	for (size_t i = 0; i < all; i++)
		if (kept == 0 || around[kept - 1] != around[i])
			around[kept++] = around[i];
	rng_shuffle(&local->rng, around, kept, sizeof *around);
	local->around_count = kept;
}

static void line_start(struct local *local) {
	if (local->at < local->lines)
		line_begin(local->line, local->order[local->at], local->current, local->value, &local->rng);
	else
		around_begin(local);
}

static void descend_from(struct local *local, uint64_t index, double value) {
	local->current = index;
	local->value = value;
	local->stage = STAGE_LINE;
	local->started = true;
	local->at = local->vain = 0;
	line_start(local);
}

static void line_take(struct local *local, uint64_t index, double value) {
	if (line_tell(local->line, value)) {
		local->current = index;
		local->value = value;
	}
}

static uint64_t line_ask(struct local *local) {
	while (local->stage == STAGE_LINE) {
		uint64_t index = line_next(local->line);
		if (index == UINT64_MAX) {
			local->at++;
			line_start(local);
			continue;
		}
		const struct strategy_outcome *known = history_find(local->task.history, index);
		if (!known)
			return index;
		line_take(local, index, outcome_value(known));
	}
	return UINT64_MAX;
}

/* The most promising of them that is not taken; UINT64_MAX: all are. */
static uint64_t most_promising(struct local *local, const uint64_t *indexes, size_t count) {
	uint64_t best = UINT64_MAX;
	double most = -1;
	guess_fit(local->guess);
	for (size_t i = 0, judged = 0; i < count && judged < JUDGED_MAX; i++) {
		if (history_taken(local->task.history, indexes[i]))
			continue;
		double gain = guess_gain(local->guess, indexes[i], most);
		judged++;
		if (gain > most) {
			most = gain;
			best = indexes[i];
		}
	}
	return best;
}

static uint64_t around_ask(struct local *local) {
	uint64_t index = UINT64_MAX;
	if (local->vain++ < PATIENCE * local->values)
		index = most_promising(local, local->around, local->around_count);
	if (index == UINT64_MAX)
		local->stage = STAGE_START;
	return index;
}

static uint64_t start_ask(struct local *local) {
	uint64_t some[START_TRIES];
	if (!local->started && local->task.start != UINT64_MAX && !history_taken(local->task.history, local->task.start))
		return local->task.start;
	for (size_t i = 0; i < START_TRIES; i++)
		if ((some[i] = history_unseen(local->task.history, local->task.space, &local->rng)) == UINT64_MAX)
			return UINT64_MAX;
	return most_promising(local, some, START_TRIES);
}

/* One at a time: every outcome changes what is asked next. */
static size_t ask(void *state, uint64_t *out, size_t want) {
	struct local *local = state;
	(void)want;
	if (local->pending != UINT64_MAX)
		return 0;
	if (local->stage == STAGE_LINE)
		*out = line_ask(local);
	if (local->stage == STAGE_AROUND)
		*out = around_ask(local);
	if (local->stage == STAGE_START)
		*out = start_ask(local);
	local->pending = *out;
	return *out != UINT64_MAX;
}

static void around_take(struct local *local, uint64_t index, double value) {
	if (!(value < local->value))
		return;
	local->current = index;
	local->value = value;
	local->vain = 0;
	around_begin(local);
}

static void tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	struct local *local = state;
	double value = outcome_value(outcome);
	guess_add(local->guess, index, outcome);
	if (index == local->pending)
		local->pending = UINT64_MAX;
	else if (local->started || index != local->task.start || local->pending != UINT64_MAX)
		return; /* neither asked for nor the baseline */
	if (local->stage == STAGE_START)
		descend_from(local, index, value);
	else if (local->stage == STAGE_LINE)
		line_take(local, index, value);
	else
		around_take(local, index, value);
}

static const char *phase(const void *state) {
	static const char *const words[] = {"local: a new start", "local: along one parameter", "local: around the best"};
	return words[((const struct local *)state)->stage];
}

const struct strategy strategy_local = {
	.name = "local",
	.summary = "one parameter at a time, then the most promising steps around the best, from several starts",
	.state_size = sizeof(struct local),
	.init = init,
	.ask = ask,
	.tell = tell,
	.phase = phase,
};
