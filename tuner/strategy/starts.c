/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/strategy/starts.h"

#include <math.h>

enum { FIRST = 10, LATER = 3, HINTS_MAX = 4, SAMPLED_MAX = 256, VISITED_MAX = 256 };

struct starts {
	const struct strategy_task *task;
	struct rng *rng;
	uint64_t sampled[SAMPLED_MAX], visited[VISITED_MAX]; /* a ring of the latest visited */
	size_t sampled_count, visited_count, hint;
	size_t left; /* samples to take before the next start */
};

struct starts *starts_new(const struct strategy_task *task, struct rng *rng) {
	struct starts *starts = arena_alloc(task->arena, 1, sizeof *starts);
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

/* The baseline, hints, then random unseen configurations. */
static uint64_t starts_draw(struct starts *starts) {
	const struct strategy_task *task = starts->task;
	uint64_t valid = space_valid(task->space);
	if (task->start < valid && !history_taken(task->history, task->start))
		return task->start;
	while (starts->hint < task->hint_count && starts->hint < HINTS_MAX) {
		uint64_t index = task->hints[starts->hint++];
		if (index < valid && !history_taken(task->history, index))
			return index;
	}
	return history_unseen(task->history, task->space, starts->rng);
}

static enum step starts_sample(struct starts *starts, uint64_t *index) {
	*index = starts_draw(starts);
	if (*index == UINT64_MAX)
		return STEP_WAIT;
	if (starts->left > 0)
		starts->left--;
	starts->sampled[starts->sampled_count++] = *index;
	return STEP_ASK;
}

static double starts_value(const struct starts *starts, size_t at) {
	return outcome_log(history_find(starts->task->history, starts->sampled[at]));
}

/* Drops configurations that failed or were visited. */
static void starts_clean(struct starts *starts) {
	size_t kept = 0;
	for (size_t i = 0; i < starts->sampled_count; i++) {
		bool pending = !history_find(starts->task->history, starts->sampled[i]);
		if (pending || (isfinite(starts_value(starts, i)) && !is_visited(starts, starts->sampled[i])))
			starts->sampled[kept++] = starts->sampled[i];
	}
	starts->sampled_count = kept < SAMPLED_MAX ? kept : 0;
}

/* The best of the whole history unless it was visited, else the best sample; UINT64_MAX: none is known to work. */
static uint64_t starts_best(const struct starts *starts) {
	uint64_t best = history_best(starts->task->history);
	double least = INFINITY;
	if (best != UINT64_MAX && !is_visited(starts, best))
		return best;
	best = UINT64_MAX;
	for (size_t i = 0; i < starts->sampled_count; i++)
		if (starts_value(starts, i) < least) {
			least = starts_value(starts, i);
			best = starts->sampled[i];
		}
	return best;
}

enum step starts_next(struct starts *starts, uint64_t *index) {
	uint64_t known = history_count(starts->task->history), enough = known < FIRST ? FIRST - known : 0;
	if (starts->visited_count == 0 && starts->left > enough) /* results from elsewhere are as good as a sample */
		starts->left = enough;
	starts_clean(starts);
	if (starts->left > 0 && starts_sample(starts, index) == STEP_ASK)
		return STEP_ASK;
	*index = starts_best(starts);
	if (*index == UINT64_MAX)
		return starts_sample(starts, index);
	starts->left = LATER;
	starts_visited(starts, *index);
	return STEP_DONE;
}
