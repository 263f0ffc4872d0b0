/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The proposals of the strategy. Everything that it is told at first is stored, because a resumed search must be told
 * the same: evaluation counts that were estimated from times, and the contents of the store at that moment. Several are
 * proposed at a time, so that the later ones are built while the first ones are built or measured. Where builds would
 * disturb the measurements, a batch is built and then measured; elsewhere each that was measured makes room for another
 * one to build. */
#include <math.h>

#include "base/json/js.h"
#include "tuner/tune/session_impl.h"

static const double LOOK_SECONDS = 0.25; /* between looks at the budget, and at Ctrl-C, while builds are awaited */
enum { LEAST_EVALUATIONS = 2 /* the baseline and another one */ };
/* A build that takes that many times as long as the longest so far is given up while too few are known for a median,
 * but no build is before some seconds, because a busy machine can slow a short one down that much. */
static const double PATIENCE = 10, PATIENCE_SECONDS_MIN = 5;
static const double SHARE = 0.2; /* of the budget, if that is less than these seconds */

void tune_ahead_patience(struct tune *tune) {
	struct builder *builder = tune->task->builder;
	double seconds = tune->task->limits.build_timeout_s;
	if (!builder)
		return;
	if (!(seconds > 0)) {
		double longest = builder_figures(builder).longest_s;
		seconds = tune->search ? search_patience(tune->search) : INFINITY;
		if (!isfinite(seconds) && longest > 0)
			seconds = PATIENCE * longest;
		seconds =
			fmax(seconds, fmin(PATIENCE_SECONDS_MIN, tune_promised(tune) ? SHARE * tune_budget_time(tune) : INFINITY));
	}
	builder_patience(builder, seconds);
}

/* The number of proposals that the budget allows beside those that are waiting. */
static size_t room(const struct tune *tune) {
	const struct tune_ahead *ahead = &tune->bench.ahead;
	size_t low = ahead->beside ? ahead->depth - 1 : 0;
	if (ahead->count > low)
		return 0;
	size_t want = ahead->depth - ahead->count;
	uint64_t limit = tune->money.budget.evaluations, used = tune->tally.evaluations + ahead->count;
	if (limit && used >= limit)
		return ahead->count ? 0 : 1;
	return limit && limit - used < want ? (size_t)(limit - used) : want;
}

static void propose(struct tune *tune) {
	struct tune_ahead *ahead = &tune->bench.ahead;
	size_t want = room(tune);
	enum tune_spending before = tune_spend(tune, SPENT_SEARCH);
	if (want)
		ahead->count += search_ask(tune->search, ahead->queue + ahead->count, want);
	tune_spend(tune, before);
}

/* Trials that an interrupted run has stored need no build. */
static void builds_want(struct tune *tune) {
	const struct tune_ahead *ahead = &tune->bench.ahead;
	json_t *configs[TUNE_AHEAD_MAX] = {NULL};
	size_t count = 0;
	for (size_t i = 0; i < ahead->count; i++) {
		json_t *config = space_config_json(tune->task->space, ahead->queue[i]);
		if (tune_is_recalling(tune) && recall_has(tune->memory.recall, config))
			json_decref(config);
		else
			configs[count++] = config;
	}
	builder_want(tune->task->builder, (const json_t *const *)configs, count);
	for (size_t i = 0; i < count; i++)
		json_decref(configs[i]);
}

/* The first that can be measured at once; `count`: none. During a resumed run it is the one that was measured first. */
static size_t ready(const struct tune *tune) {
	const struct tune_ahead *ahead = &tune->bench.ahead;
	size_t first = ahead->count, row = SIZE_MAX;
	for (size_t i = 0; i < ahead->count; i++) {
		js_auto json_t *config = space_config_json(tune->task->space, ahead->queue[i]);
		size_t at = tune_is_recalling(tune) ? recall_row(tune->memory.recall, config) : SIZE_MAX;
		if (at < row) {
			row = at;
			first = i;
		} else if (first == ahead->count && builder_has(tune->task->builder, config)) {
			first = i;
		}
	}
	return first;
}

/* Waits for builds: for all where nothing may be measured beside one, else for the first. Returns 1 with *at, 0 if the
 * budget is used up. */
static int await(struct tune *tune, size_t *at, struct err *err) {
	const struct tune_ahead *ahead = &tune->bench.ahead;
	enum tune_spending before = tune_spend(tune, SPENT_BUILD);
	while (!(tune->stopped = tune_over(tune)) && !tune_interrupted(tune)) {
		tune_ahead_patience(tune);
		*at = ahead->beside ? ready(tune) : 0;
		if (ahead->beside && *at < ahead->count)
			break;
		if (builder_wait(tune->task->builder, LOOK_SECONDS) == 0 && !ahead->beside)
			break;
		tune_report(tune, TUNE_SEARCH);
	}
	tune_spend(tune, before);
	return tune_interrupted(tune) ? err_set(err, ERR_INTERRUPTED, NULL, "interrupted") : !tune->stopped;
}

static uint64_t take(struct tune_ahead *ahead, size_t at) {
	uint64_t index = ahead->queue[at];
	for (ahead->count--; at < ahead->count; at++)
		ahead->queue[at] = ahead->queue[at + 1];
	return index;
}

/* Is it built, or was it measured by a run that is being resumed? */
static bool is_made(const struct tune *tune, uint64_t index) {
	js_auto json_t *config = space_config_json(tune->task->space, index);
	return (tune_is_recalling(tune) && recall_has(tune->memory.recall, config)) ||
	       builder_has(tune->task->builder, config);
}

/* Orders what is pending by what is known now. Proposals that are not worth a build any more are given back; one that
 * is built already is measured all the same, because that costs little. */
static void reconsider(struct tune *tune) {
	struct tune_ahead *ahead = &tune->bench.ahead;
	enum tune_spending before = tune_spend(tune, SPENT_SEARCH);
	size_t kept = search_rank(tune->search, ahead->queue, ahead->count), count = ahead->count;
	ahead->count = 0;
	for (size_t i = 0; i < count; i++)
		if (i < kept || is_made(tune, ahead->queue[i]))
			ahead->queue[ahead->count++] = ahead->queue[i];
		else
			search_withdraw(tune->search, ahead->queue[i]);
	tune_spend(tune, before);
}

/* Does a budget in seconds allow this beside the finals? */
static bool tune_fits(const struct tune *tune, double seconds) {
	return !tune_promised(tune) || tune_is_recalling(tune) ||
	       tune_elapsed(tune) + seconds + tune_finals_kept(tune) < tune_budget_time(tune);
}

/* A build that would end after the search has no use, and takes the time of the finals. */
static bool build_fits(struct tune *tune) {
	struct tune_ahead *ahead = &tune->bench.ahead;
	if (!tune->task->builder || tune->tally.evaluations < LEAST_EVALUATIONS || is_made(tune, ahead->queue[0]))
		return true;
	const struct build_figures figures = builder_figures(tune->task->builder);
	double seconds = figures.made ? figures.spent_s / (double)figures.made : 0;
	if (ahead->beside || figures.made == 0 || tune_fits(tune, seconds))
		return true;
	ahead->unfit_s = seconds;
	return false;
}

int tune_ahead_next(struct tune *tune, uint64_t *index, struct err *err) {
	struct tune_ahead *ahead = &tune->bench.ahead;
	size_t at = 0;
	tune_ahead_patience(tune);
	if (ahead->depth > 1 && ahead->count)
		reconsider(tune);
	propose(tune);
	if (ahead->count == 0) {
		tune->stopped = "space";
		return 0;
	}
	if (!build_fits(tune)) {
		tune->stopped = "budget";
		return 0;
	}
	if (ahead->depth > 1) {
		builds_want(tune);
		int rc = await(tune, &at, err);
		if (rc <= 0)
			return rc;
	}
	*index = take(ahead, at);
	return 1;
}

/* Whatever comes next is measured undisturbed. */
void tune_ahead_end(struct tune *tune) {
	if (!tune->task->builder)
		return;
	enum tune_spending before = tune_spend(tune, SPENT_BUILD);
	builder_want(tune->task->builder, NULL, 0);
	while (builder_wait(tune->task->builder, LOOK_SECONDS))
		continue;
	tune_spend(tune, before);
}
