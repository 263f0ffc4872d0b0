/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/search/strategy.h"

struct grid {
	struct strategy_task task;
	uint64_t next;
};

static int init(void *state, const struct strategy_task *task, struct err *err) {
	struct grid *grid = state;
	(void)err;
	grid->task = *task;
	return 0;
}

static size_t ask(void *state, uint64_t *out, size_t want) {
	struct grid *grid = state;
	size_t count = 0;
	for (; count < want && grid->next < space_valid(grid->task.space); grid->next++)
		if (!history_taken(grid->task.history, grid->next))
			out[count++] = grid->next;
	return count;
}

static void tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	(void)state;
	(void)index;
	(void)outcome;
}

static void withdraw(void *state, uint64_t index) {
	struct grid *grid = state;
	if (index < grid->next)
		grid->next = index;
}

const struct strategy strategy_grid = {
	.name = "grid",
	.summary = "every valid configuration, in order",
	.state_size = sizeof(struct grid),
	.init = init,
	.ask = ask,
	.tell = tell,
	.withdraw = withdraw,
};
