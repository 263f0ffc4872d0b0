/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock of a session, and what its seconds go to. It does one thing at a time. */
#include <math.h>

#include "base/sys.h"
#include "tuner/tune/session_impl.h"

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

static const char *const words[SPENT_COUNT] = {
	[SPENT_IDLE] = "idle",     [SPENT_BUILD] = "build",       [SPENT_MEASURE] = "measure",
	[SPENT_VERIFY] = "verify", [SPENT_PROBE] = "probe",       [SPENT_RACE] = "race",
	[SPENT_DUEL] = "duel",     [SPENT_COUNTERS] = "counters", [SPENT_SEARCH] = "search",
};

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

/* The time of an interrupted run is only known as a whole. */
json_t *tune_seconds_json(const struct tune *tune) {
	json_t *seconds = json_object();
	double rest = tune_elapsed(tune) - tune->money.spent_before;
	for (int i = 1; i < SPENT_COUNT; i++) {
		json_object_set_new(seconds, words[i], json_real(tune->money.spent[i]));
		rest -= tune->money.spent[i];
	}
	json_object_set_new(seconds, words[SPENT_IDLE], json_real(fmax(rest, 0)));
	if (tune->money.spent_before > 0)
		json_object_set_new(seconds, "earlier", json_real(tune->money.spent_before));
	return seconds;
}
