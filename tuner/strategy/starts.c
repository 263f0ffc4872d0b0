/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/strategy/starts.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLED_MAX = 256, VISITED_MAX = 64, HINTS_MAX = 4 };
static int FIRST = 10, LATER = 3;

struct starts {
	const struct strategy_task *task;
	struct rng *rng;
	uint64_t sampled[SAMPLED_MAX], visited[VISITED_MAX]; /* the latest visited, in a ring */
	size_t sampled_count, visited_count, hint;
	size_t left; /* to sample before the next beginning */
};

struct starts *starts_new(const struct strategy_task *task, struct rng *rng) {
	struct starts *starts = arena_alloc(task->arena, 1, sizeof *starts);
	if (getenv("FIRST")) FIRST = atoi(getenv("FIRST"));
	if (getenv("LATER")) LATER = atoi(getenv("LATER"));
	starts->task = task;
	starts->rng = rng;
	starts->left = FIRST;
	return starts;
}

void starts_visited(struct starts *starts, uint64_t index) {
	starts->visited[starts->visited_count++ % VISITED_MAX] = index;
}

static bool is_visited(const struct starts *starts, uint64_t index) {
	for (size_t i = 0; i < VISITED_MAX && i < starts->visited_count; i++)
		if (starts->visited[i] == index)
			return true;
	return false;
}

/* The baseline, hints, then unseen ones. */
static uint64_t starts_sample(struct starts *starts) {
	const struct strategy_task *task = starts->task;
	const struct history *history = task->history;
	if (task->start < space_valid(task->space) && !history_taken(history, task->start))
		return task->start;
	while (starts->hint < task->hint_count && starts->hint < HINTS_MAX) {
		uint64_t index = task->hints[starts->hint++];
		if (index < space_valid(task->space) && !history_taken(history, index))
			return index;
	}
	return history_unseen(history, task->space, starts->rng);
}

/* Its place in `sampled`; sampled_count: none is known to work. */
static size_t starts_best(const struct starts *starts) {
	size_t best = starts->sampled_count;
	double least = INFINITY;
	for (size_t i = 0; i < starts->sampled_count; i++) {
		double value = outcome_log(history_find(starts->task->history, starts->sampled[i]));
		if (value < least) {
			least = value;
			best = i;
		}
	}
	return best;
}

static enum step starts_take(struct starts *starts, uint64_t index) {
	starts->left = LATER;
	starts_visited(starts, index);
	return STEP_DONE;
}

enum step starts_next(struct starts *starts, uint64_t *index) {
	uint64_t best = history_best(starts->task->history);
	if (starts->left > 0 && (*index = starts_sample(starts)) != UINT64_MAX) {
		starts->left--;
		if (starts->sampled_count == SAMPLED_MAX)
			starts->sampled_count = 0;
		starts->sampled[starts->sampled_count++] = *index;
		return STEP_ASK;
	}
	if (best != UINT64_MAX && !is_visited(starts, best)) {
		*index = best;
		return starts_take(starts, best);
	}
	size_t at = starts_best(starts);
	if (at < starts->sampled_count) {
		*index = starts->sampled[at];
		starts->sampled[at] = starts->sampled[--starts->sampled_count];
		return starts_take(starts, *index);
	}
	if ((*index = starts_sample(starts)) == UINT64_MAX)
		return STEP_WAIT;
	return starts_take(starts, *index);
}
