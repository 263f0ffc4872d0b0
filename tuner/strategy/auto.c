/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdio.h>

#include "tuner/strategy/strategy.h"

struct automatic {
	const struct strategy *strategy;
	void *state;
	char phase[160];
};

static int init(void *state, const struct strategy_task *task, struct err *err) {
	struct automatic *automatic = state;
	uint64_t valid = space_valid(task->space);
	bool covers = task->budget >= valid;
	automatic->strategy = strategy_find(covers ? "grid" : "local");
	automatic->state = arena_alloc(task->arena, 1, automatic->strategy->state_size);
	if (covers)
		snprintf(automatic->phase, sizeof automatic->phase, "grid: the budget covers all %llu configurations",
		         (unsigned long long)valid);
	else
		snprintf(automatic->phase, sizeof automatic->phase,
		         "local: %llu configurations are more than the budget covers", (unsigned long long)valid);
	return automatic->strategy->init(automatic->state, task, err);
}

static size_t ask(void *state, uint64_t *out, size_t want) {
	struct automatic *automatic = state;
	return automatic->strategy->ask(automatic->state, out, want);
}

static void tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	struct automatic *automatic = state;
	automatic->strategy->tell(automatic->state, index, outcome);
}

static const char *phase(const void *state) {
	return ((const struct automatic *)state)->phase;
}

const struct strategy strategy_auto = {
	.name = "auto",
	.summary = "grid where the budget covers the space, local otherwise",
	.state_size = sizeof(struct automatic),
	.init = init,
	.ask = ask,
	.tell = tell,
	.phase = phase,
};
