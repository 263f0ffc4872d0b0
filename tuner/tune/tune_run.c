/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A session: its phases in order. */
#include <math.h>

#include "base/json/js.h"
#include "tuner/race/deviation.h"
#include "tuner/tune/nodes_impl.h"

/* The search on several nodes, and the blocks of the finals, each of which runs as a whole on one node. */
enum { GROUP_MAX = 64 /* results that are committed together */ };
static const double LOOK_SECONDS = 0.01; /* between looks at the builds that an idle node waits for */

static int hand_out(struct parallel *parallel, struct err *err) {
	size_t node;
	while ((node = fleet_idle_take(parallel->fleet)) != SIZE_MAX) {
		struct work *work = work_next(parallel, node);
		if (!work) {
			fleet_idle_put(parallel->fleet, node);
			return 0;
		}
		int rc = work_submit(parallel, work, node, err);
		if (rc == 1)
			continue;
		if (rc == 0 && !work->baseline)
			work_queue(parallel, work);
		else
			work_free(work);
		if (rc < 0)
			return -1;
	}
	return 0;
}

static void over_set(struct parallel *parallel) {
	struct tune *tune = parallel->tune;
	if (tune->search && !tune->stopped)
		tune->stopped = tune_over(tune);
	/* Lost and void trials are not measured again in the time of the finals. */
	while (parallel->queue_count && tune->stopped && tune_left(tune) < tune_finals_kept(tune)) {
		struct work *work = parallel->queue[--parallel->queue_count];
		parallel->evaluating -= !work->redo;
		work_free(work);
	}
}

static bool finished(const struct parallel *parallel) {
	bool no_more = parallel->tune->stopped || (parallel->exhausted && parallel->asked_count == 0);
	return no_more && parallel->flying_count == 0 && parallel->queue_count == 0;
}

/* Results that are there already are stored in one transaction, because a commit takes longer than everything else that
 * a result needs. */
static int drain(struct parallel *parallel, struct err *err) {
	struct pool_done done = {0};
	for (int i = 0; i < GROUP_MAX && parallel->flying_count; i++) {
		int rc = hand_out(parallel, err) ? -1 : fleet_wait(parallel->fleet, 0, &done, err);
		if (rc != 1)
			return rc;
		if (parallel_record(parallel, &done, err))
			return -1;
		over_set(parallel);
	}
	return 0;
}

static int step(struct parallel *parallel, struct err *err) {
	const struct tune *tune = parallel->tune;
	struct store *store = tune->task->store;
	struct pool_done done = {0};
	struct err second = {0};
	bool open = parallel->asked_count || !tune->search;
	bool awaits = open && parallel_is_building(parallel) && fleet_idle_count(parallel->fleet);
	int rc = work_await(parallel, awaits ? LOOK_SECONDS : tune_wait_seconds(tune), &done, err);
	if (rc != 1)
		return rc;
	store_group_begin(store);
	rc = parallel_record(parallel, &done, err);
	over_set(parallel);
	if (rc == 0)
		rc = drain(parallel, err);
	if (store_group_end(store, rc ? &second : err))
		rc = -1;
	return rc;
}

/* After an error or interruption: keeps the results of running jobs as far as they complete. */
static void finish(struct parallel *parallel) {
	struct pool_done done = {0};
	struct err ignored = {0};
	if (!parallel)
		return;
	parallel->ending = true;
	while (parallel->flying_count && fleet_busy(parallel->fleet)) {
		int rc = fleet_wait(parallel->fleet, -1, &done, &ignored);
		if (rc < 0 || (rc == 1 && parallel_record(parallel, &done, &ignored)))
			return;
	}
}

static int run(struct parallel *parallel, struct err *err) {
	struct tune *tune = parallel->tune;
	while (true) {
		if (tune_interrupted(tune))
			return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
		over_set(parallel);
		if (hand_out(parallel, err) || (tune->search && search_fault(tune->search, err)))
			return -1;
		if (finished(parallel))
			break;
		if (step(parallel, err))
			return -1;
	}
	if (!tune->stopped)
		tune->stopped = "space";
	return 0;
}

static struct parallel *parallel_new(struct tune *tune) {
	size_t nodes = tune->task->pool->count;
	struct parallel *parallel = mem_alloc(1, sizeof *parallel + nodes * sizeof *parallel->opened);
	*parallel = (struct parallel){.tune = tune,
	                              .fleet = tune->bench.fleet,
	                              .flying = mem_alloc(nodes, sizeof(struct work *)),
	                              .asked = mem_alloc(WANT_MAX, sizeof(uint64_t)),
	                              .known = mem_alloc(nodes, sizeof(uint64_t *)),
	                              .known_count = mem_alloc(nodes, sizeof(size_t))};
	return parallel;
}

static void parallel_free(struct parallel *parallel) {
	if (!parallel)
		return;
	for (size_t i = 0; i < parallel->flying_count; i++)
		work_free(parallel->flying[i]);
	for (size_t i = 0; i < parallel->queue_count; i++)
		work_free(parallel->queue[i]);
	for (size_t i = 0; i < parallel->tune->task->pool->count; i++)
		free(parallel->known[i]);
	free(parallel->flying);
	free(parallel->queue);
	free(parallel->asked);
	free(parallel->known);
	free(parallel->known_count);
	free(parallel);
}

static void outcome_apply(void *ctx, const char *config, const struct trial_result *result) {
	struct tune *tune = ctx;
	uint64_t index;
	js_auto json_t *object = js_parse(config, strlen(config), "a configuration", NULL);
	if (object && space_config_read(tune->task->space, object, NULL, &index, NULL) == 0) {
		tune->bench.current.seconds = result->elapsed_s;
		tune->bench.current.deviation =
			result->status == TRIAL_CORRECT ? deviation_of_median(result->samples, result->sample_count) : 0;
		tune_pareto_record(tune, object, result);
		tune_evaluated(tune, index, result);
	}
}

/* Reports the results of an interrupted run to the strategy at once. */
static int parallel_recall(struct parallel *parallel, struct err *err) {
	struct tune *tune = parallel->tune;
	if (!recall_take(tune->memory.recall, "baseline", tune->task->baseline, &tune->memory.baseline))
		return 0;
	parallel->recalled = true;
	if (tune->memory.baseline.status == TRIAL_CORRECT)
		fleet_reference_set(parallel->fleet, tune->memory.baseline.value);
	else
		fleet_baseline_give_up(parallel->fleet);
	if (tune->task->whole_programs)
		tune_program_look(tune);
	if (tune_baseline_done(tune, err))
		return -1;
	recall_each(tune->memory.recall, outcome_apply, tune);
	return 0;
}
static int tune_parallel_search(struct tune *tune, struct err *err) {
	struct parallel *parallel = tune->bench.parallel;
	bool first = !tune->search;
	tune->stopped = NULL;
	tune_report(tune, first ? TUNE_BASELINE : TUNE_SEARCH);
	tune_spend_nodes(tune, SPENT_MEASURE);
	int rc = (first && parallel_recall(parallel, err)) || run(parallel, err) ? -1 : 0;
	tune_spend_nodes(tune, SPENT_IDLE);
	tune_ahead_end(tune);
	if (rc)
		finish(parallel);
	return rc;
}

/* Prefers an idle node whose speed is known; any other one has to measure the baseline before the block. */
static size_t node_take(struct fleet *fleet) {
	size_t count = fleet_idle_count(fleet), *others = mem_alloc(count + 1, sizeof *others), other = 0, found = SIZE_MAX;
	for (size_t node; found == SIZE_MAX && (node = fleet_idle_take(fleet)) != SIZE_MAX;)
		if (fleet_usable(fleet, node))
			found = node;
		else
			others[other++] = node;
	if (found == SIZE_MAX && other)
		found = others[--other];
	while (other)
		fleet_idle_put(fleet, others[--other]);
	free(others);
	return found;
}

static size_t room(void *ctx) {
	const struct tune *tune = ctx;
	return fleet_idle_count(tune->bench.fleet);
}

static double now(void *ctx) {
	return tune_now(ctx);
}

/* The first run of a program on a node finds its files uncached; longer programs are hardly affected. */
static const double COLD_SECONDS = 1;

struct lead_job {
	struct pool_job job;
	size_t lead; /* trials before those of the block */
	struct trial_request requests[];
};

/* A node that was away measures the baseline before its next block, because without it no result of the node is on the
 * scale of the others. */
static size_t lead_of(const struct tune *tune, size_t node) {
	if (!fleet_baseline_missing(tune->bench.fleet, node))
		return 0;
	return tune->task->whole_programs && tune->memory.baseline.value <= COLD_SECONDS ? 2 : 1;
}

/* Turns a block into a job for this node, preceded by the baseline if that is unknown or outdated there. Release with
 * free(). */
static struct pool_job *lead_job_new(const struct tune *tune, size_t node, struct block *block) {
	size_t lead = lead_of(tune, node), count = lead + block->count;
	struct lead_job *job = mem_alloc(1, sizeof *job + count * sizeof *job->requests);
	job->lead = lead;
	job->job = (struct pool_job){.requests = job->requests, .count = count, .tag = block};
	for (size_t i = 0; i < count; i++)
		job->requests[i] = i < lead ? tune_search_request(tune, tune->task->baseline, 0) : block->requests[i - lead];
	for (size_t i = 0; i < lead; i++)
		tune_limit(tune, &job->requests[i]);
	return &job->job;
}

/* Records the lead trials of such a job. Returns how many there were; -1 if they could not be stored. */
static ptrdiff_t lead_record(struct tune *tune, const struct pool_done *done, struct err *err) {
	const struct lead_job *job = (const struct lead_job *)done->job;
	size_t count = done->done < job->lead ? done->done : job->lead;
	for (size_t i = 0; i < count; i++) {
		struct trial_result *one = &done->results[i];
		work_scale(tune->bench.parallel, done->node, one);
		if (trial_store(tune->task->store, tune->memory.id, "node", 0, tune->task->baseline, one, err))
			return -1;
		if (i + 1 == job->lead)
			parallel_node_judge(tune->bench.parallel, done->node, one);
	}
	return (ptrdiff_t)count;
}

static int begin(void *ctx, struct block *block, struct err *err) {
	struct tune *tune = ctx;
	if (tune_interrupted(tune))
		return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	size_t node = node_take(tune->bench.fleet);
	if (node == SIZE_MAX)
		return 0;
	struct pool_job *job = lead_job_new(tune, node, block);
	block->tag = job;
	int rc = fleet_submit(tune->bench.fleet, node, job, err);
	if (rc != 1)
		free(job);
	return rc;
}

/* May the search go on, in time that the finals do not need? */
static bool is_open(const struct tune *tune) {
	return tune_promised(tune) && tune->stopped && strcmp(tune->stopped, "budget") == 0 && tune_has_reference(tune) &&
	       !tune_over(tune);
}

/* Nodes that the finals leave idle go on searching. */
static bool is_open_beside(const struct tune *tune) {
	const struct parallel *parallel = tune->bench.parallel;
	return tune->search && !parallel->exhausted && !parallel->ending && !tune_interrupted(tune) && is_open(tune);
}

static int search_beside(struct tune *tune, struct err *err) {
	const char *stopped = tune->stopped;
	if (!is_open_beside(tune))
		return 0;
	tune->stopped = NULL;
	int rc = hand_out(tune->bench.parallel, err);
	tune->stopped = stopped;
	return rc;
}

static bool is_search(const struct parallel *parallel, const struct pool_job *job) {
	for (size_t i = 0; i < parallel->flying_count; i++)
		if (&parallel->flying[i]->job == job)
			return true;
	return false;
}

/* Moves the results of a job to its block, except those of the `lead` trials before it. */
static void block_fill(const struct tune *tune, struct block *block, struct pool_done *done, size_t lead) {
	block->done = done->done - lead;
	block->lost = done->lost != NULL;
	block->outside = done->outside || done->job->count > lead + block->count; /* the block had not begun */
	for (size_t i = 0; i < block->done; i++) {
		block->results[i] = done->results[lead + i];
		memset(&done->results[lead + i], 0, sizeof done->results[lead + i]);
		work_scale(tune->bench.parallel, done->node, &block->results[i]);
	}
	fleet_trials_add(tune->bench.fleet, done->node, done->done);
}

static int next(void *ctx, struct block **ended, struct err *err) {
	struct tune *tune = ctx;
	struct pool_done done = {0};
	*ended = NULL;
	if (tune_counting_fill(tune, err) || search_beside(tune, err))
		return -1;
	int rc = fleet_wait(tune->bench.fleet, tune_wait_seconds(tune), &done, err);
	if (rc != 1)
		return rc;
	if (is_search(tune->bench.parallel, done.job))
		return parallel_record(tune->bench.parallel, &done, err);
	struct block *block = done.job->tag;
	mem_auto struct pool_job *job = block->tag;
	(void)job; /* it only ends here */
	ptrdiff_t lead = lead_record(tune, &done, err);
	if (lead >= 0)
		block_fill(tune, block, &done, (size_t)lead);
	pool_done_clear(&done);
	if (lead < 0)
		return -1;
	rc = 0;
	if (!tune_counting_record(tune, block, &rc, err))
		*ended = block;
	return rc;
}

static bool other(void *ctx) {
	return tune_counting_waits(ctx) || is_open_beside(ctx);
}

/* runs blocks of the finals on nodes */
static void tune_parallel_finals(struct tune *tune) {
	tune->bench.blocks =
		(struct block_runner){.ctx = tune, .room = room, .begin = begin, .next = next, .now = now, .other = other};
}

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

static void tune_clear(struct tune *tune) {
	search_free(tune->search);
	parallel_free(tune->bench.parallel);
	fleet_free(tune->bench.fleet);
	tune_counting_free(tune->counting.nodes);
	trial_result_clear(&tune->memory.baseline);
	duel_result_clear(&tune->finals.duel);
	duel_result_clear(&tune->finals.proof.duel);
	json_decref(tune->finals.proof.config);
	free(tune->memory.worked);
	recall_free(tune->memory.recall);
	busy_free(tune->bench.busy);
	tune_sources_free(tune->memory.sources);
	tune_gain_clear(tune);
	const struct tune_finals *finals = &tune->finals;
	json_t *const documents[] = {
		finals->watch.pairs,    finals->best_config,     finals->finalists,    finals->worth,      finals->not_needed,
		finals->effects,        finals->priced,          finals->proof.prices, finals->both,       finals->gpus,
		finals->gain.nodes,     finals->trust.checked,   finals->trust.fallen, tune->tally.failed, tune->counting.names,
		tune->counting.counted, tune->counting.uncounted};
	for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
		json_decref(documents[i]);
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
	return tune->tally.evaluations > evaluations && is_open(tune);
}

/* *found: there is a result, which no later failure can take away. */
static int phases_run(struct tune *tune, bool *found, struct err *err) {
	uint64_t evaluations;
	if (search_begin(tune, err) || recall_begin(tune, err))
		return -1;
	do {
		evaluations = tune->tally.evaluations;
		tune_best_choose(tune, false);
		if (search_run(tune, err) || ((!*found || tune_wants_final(tune)) && tune_final_phase(tune, err)))
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
		tune->bench.parallel = parallel_new(tune);
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
	               .met = UINT64_MAX,
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
	tune_spend_nodes(&tune, SPENT_MEASURE);
	finish(tune.bench.parallel);
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
