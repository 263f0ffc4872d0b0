/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock of a session, and what its seconds go to. It does one thing at a time. */
#include "base/sys.h"
#include "tuner/tune/bench_impl.h"

double tune_now(const struct tune *tune) {
	const struct pool *pool = tune->task->pool;
	if (pool)
		return pool->now(pool->ctx);
	return tune->task->hooks.now ? tune->task->hooks.now(tune->task->hooks.now_ctx) : sys_now();
}

double tune_elapsed(const struct tune *tune) {
	return tune->money.spent_before + tune_now(tune) - tune->money.begun;
}

bool tune_interrupted(const struct tune *tune) {
	return tune->task->hooks.interrupt && *tune->task->hooks.interrupt;
}

enum tune_spending tune_spend(struct tune *tune, enum tune_spending on) {
	enum tune_spending before = tune->money.spending;
	double now = tune_now(tune);
	tune->money.spent[before] += now - tune->money.spent_at;
	tune->money.spent_at = now;
	tune->money.spending = on;
	return before;
}

void tune_spend_nodes(struct tune *tune, enum tune_spending on) {
	if (tune->bench.fleet)
		tune_spend(tune, on);
}
