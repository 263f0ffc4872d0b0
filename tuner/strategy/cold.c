/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/strategy/cold.h"

#include <math.h>

#include "tuner/search/search.h"

/* The informed search begins with FIRST evaluations. An improvement of the best by PROGRESS or more earns it REWARD
 * more, a smaller one a part of them; it never has more than SAVED_MAX to spend. Of the others, every SHARE-th is its
 * own.
 */
enum { FIRST = 7, REWARD = 8, SAVED_MAX = 16, SHARE = 128, AWAITED_MAX = 256, KNOWN_MAX = 4096 };
static const double PROGRESS = 0.01;

struct cold {
	const struct history *history; /* of both */
	struct search *search;
	uint64_t awaited[AWAITED_MAX]; /* what the informed search asked for */
	size_t awaited_count, asked;
	double turns, best;
	bool begun; /* the informed search has a value */
};

static void release(void *search) {
	search_free(search);
}

struct cold *cold_new(const struct strategy *strategy, const struct strategy_task *task, struct err *err) {
	struct cold *cold = arena_alloc(task->arena, 1, sizeof *cold);
	struct strategy_task own = *task;
	own.sources = NULL;
	own.source_count = 0;
	*cold = (struct cold){.history = task->history, .turns = FIRST, .best = INFINITY};
	cold->search = search_new(strategy, &own, err);
	if (!cold->search)
		return NULL;
	arena_defer(task->arena, release, cold->search);
	return cold;
}

uint64_t cold_ask(struct cold *cold) {
	uint64_t index;
	if (cold->turns >= 1 || ++cold->asked % SHARE == 0)
		return UINT64_MAX;
	for (int i = 0; i < KNOWN_MAX && search_ask(cold->search, &index, 1); i++) {
		const struct strategy_outcome *outcome = history_find(cold->history, index);
		if (!outcome)
			return history_taken(cold->history, index) ? UINT64_MAX : index;
		search_tell(cold->search, index, outcome);
	}
	return UINT64_MAX;
}

void cold_await(struct cold *cold, uint64_t index) {
	cold->turns = fmax(0, cold->turns - 1);
	cold->awaited[cold->awaited_count % AWAITED_MAX] = index;
	cold->awaited_count++;
}

static bool is_awaited(const struct cold *cold, uint64_t index) {
	for (size_t i = 0; i < cold->awaited_count && i < AWAITED_MAX; i++)
		if (cold->awaited[i] == index)
			return true;
	return false;
}

/* The first value is not the search's own merit: the best of earlier results nearly always beats a baseline. */
static void reward(struct cold *cold, double gain) {
	cold->turns = fmin(SAVED_MAX, cold->turns + REWARD * fmin(1, gain / PROGRESS));
}

void cold_report(struct cold *cold, uint64_t index, const struct strategy_outcome *outcome, bool sources) {
	bool informed = is_awaited(cold, index);
	/* The cold search may have asked for a configuration that was already on its way. */
	if (!informed || history_taken(search_history(cold->search), index))
		search_tell(cold->search, index, outcome);
	if (outcome->result != STRATEGY_VALUE)
		return;
	if (informed && sources && cold->begun && outcome->value < cold->best)
		reward(cold, 1 - outcome->value / cold->best);
	cold->begun |= informed;
	cold->best = fmin(cold->best, outcome->value);
}

void cold_withdraw(struct cold *cold, uint64_t index) {
	search_withdraw(cold->search, index);
}

const char *cold_phase(const struct cold *cold) {
	return search_phase(cold->search);
}
