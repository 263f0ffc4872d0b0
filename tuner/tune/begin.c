/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Begins a search. Everything that its strategy is told then is stored, because a resumed search must be told the same:
 * evaluation counts that were estimated from times, and the contents of the store at that moment. */
#include <config.h>

#include <stdlib.h>

#include "src/base/json/js.h"
#include "tuner/tune/state.h"

static json_t *plan_new(const struct tune *tune, uint64_t budget, struct err *err) {
	int64_t until = 0;
	if (store_last_trial(tune->task->store, &until, err))
		return NULL;
	return json_pack("{s:I,s:I,s:i}", "budget", (json_int_t)budget, "until", (json_int_t)until, "ahead",
	                 (int)tune->bench.ahead.depth);
}

/* wanted: the searches of an earlier plan; NULL: there was none. */
static int sources_find(struct tune *tune, const json_t *plan, const json_t *wanted, struct err *err) {
	const struct tune_task *task = tune->task;
	if (wanted ? json_array_size(wanted) == 0 : !task->prior.transfer)
		return 0;
	char *objective = tune_objective(task);
	const struct tune_sources_query query = {.kernel = task->kernel,
	                                         .source = task->source,
	                                         .objective = objective,
	                                         .fingerprint = task->fingerprint ? task->fingerprint : "",
	                                         .problem = task->problem,
	                                         .space = task->space,
	                                         .start = task->start,
	                                         .search = tune->memory.id,
	                                         .until = js_int_or(plan, "until", 0)};
	tune->memory.sources = tune_sources_new(task->store, &query, wanted, err);
	free(objective);
	return tune->memory.sources ? 0 : -1;
}

static int plan_make(struct tune *tune, uint64_t budget, json_t **plan, struct err *err) {
	struct store *store = tune->task->store;
	if (tune->task->resume && store_plan_get(store, tune->memory.id, plan, err))
		return -1;
	if (*plan)
		return sources_find(tune, *plan, json_object_get(*plan, "sources"), err);
	*plan = plan_new(tune, budget, err);
	if (!*plan || sources_find(tune, *plan, NULL, err))
		return -1;
	json_object_set_new(*plan, "sources", tune_sources_searches(tune->memory.sources));
	return store_plan_set(store, tune->memory.id, *plan, err);
}

int tune_search_begin(struct tune *tune, uint64_t budget, struct err *err) {
	const struct tune_task *task = tune->task;
	json_t *plan = NULL;
	tune_ahead_begin(tune);
	int failed = plan_make(tune, budget, &plan, err);
	if (!failed) {
		int64_t ahead = js_int_or(plan, "ahead", 1);
		tune->bench.ahead.depth = ahead < 1 ? 1 : ahead < TUNE_AHEAD_MAX ? (unsigned)ahead : TUNE_AHEAD_MAX;
		int64_t planned = js_int_or(plan, "budget", 0);
		struct strategy_task of_strategy = {.space = task->space,
		                                    .seed = task->seed,
		                                    .start = task->start,
		                                    .budget = planned > 0 ? (uint64_t)planned : 0,
		                                    .seconds = tune->money.budget.evaluations ? 0 : tune_budget_time(tune),
		                                    .builders = tune->bench.ahead.most > 1 ? tune->bench.ahead.most : 0,
		                                    .hints = task->prior.hints,
		                                    .hint_count = task->prior.hint_count,
		                                    .counter_count = json_array_size(tune->counting.names)};
		of_strategy.sources = tune_sources_list(tune->memory.sources, &of_strategy.source_count);
		tune->search = search_new(task->strategy, &of_strategy, err);
		failed = tune->search ? 0 : -1;
	}
	json_decref(plan);
	return failed;
}
