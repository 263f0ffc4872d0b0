/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/search/strategy.h"

struct random_search {
	struct strategy_task task;
	struct rng rng;
};

static int init(void *state, const struct strategy_task *task, struct err *err) {
	struct random_search *random = state;
	(void)err;
	random->task = *task;
	rng_split(&random->rng, task->seed, "strategy random");
	return 0;
}

/* One at a time, because the search marks each as taken before it asks again. */
static size_t ask(void *state, uint64_t *out, size_t want) {
	struct random_search *random = state;
	(void)want;
	*out = history_unseen(random->task.history, random->task.space, &random->rng);
	return *out != UINT64_MAX;
}

static void tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	(void)state;
	(void)index;
	(void)outcome;
}

const struct strategy strategy_random = {
	.name = "random",
	.summary = "uniform sampling without replacement",
	.state_size = sizeof(struct random_search),
	.init = init,
	.ask = ask,
	.tell = tell,
};
