/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A session: its phases in order. */
#include <math.h>

#include "base/json/js.h"
#include "tuner/tune/nodes_impl.h"

static int search_begin(struct tune *tune, struct err *err) {
	const struct tune_task *task = tune->task;
	if (task->resume) {
		tune->memory.id = task->resume;
		return 0;
	}
	mem_auto char *problem = js_canonical(task->problem), *baseline = js_canonical(task->baseline);
	mem_auto char *objective = tune_objective(task), *hash = space_hash(task->space);
	struct store_search search = {
		.session = task->session,
		.kernel = task->kernel,
		.source = task->source,
		.problem = problem,
		.objective = objective,
		.strategy = task->strategy->name,
		.seed = task->seed,
		.space_hash = hash,
		.cartesian = space_cartesian(task->space),
		.valid = space_valid(task->space),
		.baseline = baseline,
	};
	int failed = store_search_begin(task->store, &search, err);
	tune->memory.id = search.id;
	return failed;
}

static int earlier_read(struct tune *tune, struct err *err) {
	tune->memory.recall = recall_new(tune->task->store, tune->task->resume, err);
	if (!tune->memory.recall)
		return -1;
	tune->money.spent_before = recall_seconds(tune->memory.recall);
	return 0;
}

static void tune_clear(struct tune *tune) {
	search_free(tune->search);
	fleet_free(tune->bench.fleet);
	tune_counting_free(tune->counting.nodes);
	trial_result_clear(&tune->memory.baseline);
	duel_result_clear(&tune->finals.duel);
	duel_result_clear(&tune->finals.proof.duel);
	json_decref(tune->finals.proof.config);
	free(tune->memory.worked);
	recall_free(tune->memory.recall);
	busy_free(tune->bench.busy);
	json_decref(tune->finals.watch.pairs);
	tune_sources_free(tune->memory.sources);
	json_decref(tune->counting.names);
	json_decref(tune->finals.best_config);
	json_decref(tune->finals.finalists);
	json_decref(tune->counting.counted);
	json_decref(tune->finals.worth);
	json_decref(tune->finals.not_needed);
	json_decref(tune->finals.effects);
	json_decref(tune->finals.priced);
	json_decref(tune->finals.proof.prices);
	json_decref(tune->finals.both);
	json_decref(tune->finals.gpus);
	json_decref(tune->counting.uncounted);
	json_decref(tune->tally.failed);
	tune_gain_clear(tune);
	json_decref(tune->finals.gain.nodes);
	json_decref(tune->finals.trust.checked);
	json_decref(tune->finals.trust.fallen);
}

static const char *end_state(bool found, const json_t *result, const struct err *err) {
	if (found)
		return js_bool_or(result, "proven", true) ? "done" : "interrupted"; /* --resume can prove it */
	return err->code == ERR_INTERRUPTED ? "interrupted" : "failed";
}

static int search_run(struct tune *tune, struct err *err) {
	if (tune->bench.fleet)
		return tune_parallel_search(tune, err);
	int failed = tune_search_run(tune, err);
	tune_ahead_end(tune);
	return failed || tune_budget_used(tune, err) ? -1 : 0;
}

/* The time that the finals did not need goes back to the search. */
static bool goes_on(const struct tune *tune, uint64_t evaluations) {
	return tune_promised(tune) && !tune->bench.fleet && tune->tally.evaluations > evaluations && tune->stopped &&
	       strcmp(tune->stopped, "budget") == 0 && tune_has_reference(tune) && !tune_over(tune);
}

/* *found: there is a result, which no later failure can take away. */
static int phases_run(struct tune *tune, bool *found, struct err *err) {
	uint64_t evaluations;
	if (search_begin(tune, err) || earlier_read(tune, err))
		return -1;
	do {
		evaluations = tune->tally.evaluations;
		uint64_t best = tune->memory.best_index;
		if (search_run(tune, err))
			return -1;
		if ((!*found || tune_wants_final(tune, best)) && tune_final_phase(tune, err))
			return -1;
		*found = true;
	} while (goes_on(tune, evaluations));
	return tune_counters_phase(tune, err);
}

/* Completes the search's row in the store; returns 0 on success. */
static int search_end(const struct tune *tune, bool found, const json_t *result, const struct err *err,
                      struct err *second) {
	if (tune->memory.id == 0)
		return 0;
	bool kept = found || (err->code == ERR_INTERRUPTED && json_is_object(json_object_get(result, "best")));
	return store_search_end(tune->task->store, tune->memory.id, end_state(found, result, err), kept ? result : NULL,
	                        second);
}

static void machines_begin(struct tune *tune) {
	const struct tune_task *task = tune->task;
	if (task->pool) {
		tune->bench.fleet = fleet_new(task->pool);
		tune_parallel_finals(tune);
		return;
	}
	tune_budget_alone(&tune->money.budget);
	/* a simulated run uses no processors of ours */
	tune->bench.busy = tune->finals.watch.busy = task->hooks.now ? NULL : busy_new();
}

int tune_run(const struct tune_task *task, const struct tune_observer *observer, json_t **result, struct err *err) {
	struct tune tune = {
		.task = task,
		.observer = observer,
		.tally = {.failed = json_array()},
		.money = {.budget = task->budget},
		.memory = {.baseline = {.value = NAN}, .best = NAN, .best_index = UINT64_MAX, .cut_index = UINT64_MAX},
		.finals = {.proof = {.index = UINT64_MAX},
	               .both = json_object(),
	               .gpus = json_object(),
	               .trust = {.checked = json_object(), .fallen = json_object()}},
		.counting = {.counted = json_object(), .uncounted = json_array()},
	};
	struct err second = {0};
	bool found = false;
	*result = NULL;
	tune.money.begun = tune.money.spent_at = tune_now(&tune);
	tune_ahead_patience(&tune);
	machines_begin(&tune);
	int failed = phases_run(&tune, &found, err);
	tune_counting_end(&tune);
	tune_spend(&tune, SPENT_IDLE);
	tune_proof_use(&tune);
	tune_prices_match(&tune);
	if (found || err->code == ERR_INTERRUPTED || err->code == ERR_NOTHING)
		*result = tune_result(&tune);
	if (*result && task->hooks.annotate)
		task->hooks.annotate(task->hooks.annotate_ctx, *result);
	if (search_end(&tune, found, *result, err, &second) && !failed) {
		*err = second;
		failed = -1;
	}
	tune_clear(&tune);
	return failed;
}
