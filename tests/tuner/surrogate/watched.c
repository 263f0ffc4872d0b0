/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/tuner/surrogate/watched.h"

#include <math.h>

struct watched {
	struct surrogate *surrogate;
	const struct history *history;
	size_t asked;
};

struct watch watch;

static bool all_finite(const double *x, size_t count) {
	for (size_t i = 0; i < count; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

static bool is_finite(const struct surrogate *surrogate) {
	const float *mean = gp_pool_mean(surrogate->fit.values), *variance = gp_pool_variance(surrogate->fit.values);
	bool finite =
		isfinite(surrogate->worth.incumbent) && isfinite(surrogate->fit.stretch) && isfinite(surrogate->fit.error);
	finite &= all_finite(surrogate->fit.target, surrogate->fit.in_value + surrogate->waiting.count);
	finite &= all_finite(surrogate->worth.gain, surrogate->pool.count);
	for (size_t c = 0; c < surrogate->pool.count; c++) {
		finite &= isfinite(mean[c]) && isfinite(variance[c]);
		finite &= !surrogate->odds.works || isfinite(gp_pool_mean(surrogate->odds.workings)[c]);
	}
	return finite;
}

/* A trial that was cut short must count as slower than everything that is known to be below its limit. */
static bool is_lifted(const struct surrogate *surrogate) {
	for (size_t i = 0; i < surrogate->fit.in_value; i++) {
		const struct observed *cut = &surrogate->observed[surrogate->fit.row[i]];
		for (size_t j = 0; cut->result == STRATEGY_CENSORED && j < surrogate->fit.in_value; j++) {
			const struct observed *other = &surrogate->observed[surrogate->fit.row[j]];
			if (other->result == STRATEGY_VALUE && other->log < cut->log &&
			    surrogate->fit.target[i] < surrogate->fit.target[j])
				return false;
		}
	}
	return true;
}

static int watched_init(void *state, const struct strategy_task *task, struct err *err) {
	struct watched *watched = state;
	(void)err;
	watched->surrogate = surrogate_new(task, true);
	watched->history = task->history;
	watch = (struct watch){.surrogate = watched->surrogate, .fresh = true, .finite = true, .lifted = true};
	return 0;
}

static size_t watched_ask(void *state, uint64_t *out, size_t want) {
	struct watched *watched = state;
	struct surrogate *surrogate = watched->surrogate;
	bool model = watched->asked++ >= WATCHED_FIRST && surrogate_ready(surrogate);
	(void)want;
	*out = model ? surrogate_ask(surrogate) : surrogate_first(surrogate);
	if (model) {
		watch.models++;
		watch.finite &= is_finite(surrogate) && isfinite(surrogate_promise(surrogate, 10));
		watch.lifted &= is_lifted(surrogate);
	}
	if (*out == UINT64_MAX)
		return 0;
	watch.fresh &= !history_taken(watched->history, *out);
	surrogate_await(surrogate, *out, model);
	return 1;
}

static void watched_tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	surrogate_report(((struct watched *)state)->surrogate, index, outcome);
}

static const struct strategy WATCHED = {.name = "watched",
                                        .state_size = sizeof(struct watched),
                                        .init = watched_init,
                                        .ask = watched_ask,
                                        .tell = watched_tell};

struct search *watched_begin(const struct space *space, const struct strategy_source *sources, size_t source_count) {
	struct err err = {0};
	const struct strategy_task task = {
		.space = space, .seed = 3, .start = UINT64_MAX, .sources = sources, .source_count = source_count};
	return search_new(&WATCHED, &task, &err);
}

void watched_answer(struct search *search, uint64_t index, double time) {
	if (isinf(time))
		search_tell_value(search, index, STRATEGY_FAILURE, 0);
	else
		search_tell_value(search, index, STRATEGY_VALUE, time);
}
