/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counting, once the finals have told what is worth it. On several nodes it begins while the race and the duel still
 * run, where they have no work, because their outcome only changes the order of counting. */
#include <math.h>

#include "base/json/js.h"
#include "tuner/tune/bench_impl.h"

/* A program runs once for each group of events that are counted together. */
static const double PASSES_EXPECTED = 4;
enum { SAMPLES = 3 /* of a kernel, to estimate the overhead; a program is run once */ };
static const double SAMPLE_SECONDS = 4e-3;
/* When nothing is left, counting may use this share of the time so far, if no time was promised, and otherwise these
 * seconds, which the promise of a budget covers. */
static const double SHARE = 0.25, OVER_SECONDS = 1,
					SHARE_OF_FIRST = 0.5; /* the second one for the baseline and the winner of a program */
/* Within a promised budget the best so far is counted in the middle of the search, in this share of the budget at most,
 * and as much time as that took is kept. Half of a search usually finds the winner, or something as fast, and only a
 * count tells how long counting takes: CUPTI repeats each launch, a simulator each instruction. */
static const double COUNTED_AT = 0.5, SHARE_OF_EACH = 0.25;
/* For a kernel: a counting trial has more runs than others, and simulated runs are far slower. The limit of a program
 * is per run. */
static const double TIMEOUT_FACTOR = 10, TIMEOUT_FACTOR_OF_SLOW = 300;

bool counting_asked(const struct tune *tune) {
	const struct trial_counters *counters = &tune->task->counters;
	return counters->asked && counters->asked[0];
}

/* Counters that nobody requested take what is left of a promised budget after the proof, and must not break it. */
static bool within_budget(const struct tune *tune) {
	return tune->task->counters.optional && tune_promised(tune);
}

/* Requested counters are a part of the promise. */
static bool is_promised(const struct tune *tune) {
	return tune_promised(tune) && !tune->task->counters.optional;
}

/* Until a count must end. */
static double counting_left(const struct tune *tune) {
	if (within_budget(tune) && !tune->task->whole_programs)
		return fmax(tune_left(tune), OVER_SECONDS);
	return tune_left(tune);
}

/* seconds that counting may take */
static double counting_allowance(const struct tune *tune) {
	double budget = tune_budget_time(tune), elapsed = tune_elapsed(tune);
	if (within_budget(tune))
		return fmax(0, counting_left(tune));
	if (tune_promised(tune) && !(tune->bench.fleet && is_promised(tune))) /* nodes keep no time for counting */
		return fmax(budget - elapsed, OVER_SECONDS);
	return budget > 0 ? fmax(budget - elapsed, SHARE * budget) : SHARE * elapsed;
}

/* The expected seconds for the next configuration; `last` is what the one before it took. Within a promised budget the
 * baseline is the second one, and may be far slower than the winner. */
static double expected_seconds(const struct tune *tune, size_t at, double last) {
	double base = tune_seconds(tune, tune->memory.baseline.value), best = tune_seconds(tune, tune->memory.best);
	double run = tune->task->whole_programs || isnan(best) || (within_budget(tune) && at == 1) ? base : best;
	if (within_budget(tune) && at == 1)
		return fmax(last, PASSES_EXPECTED * run);
	return last > 0 ? last : within_budget(tune) ? PASSES_EXPECTED * run : run;
}

static struct trial_request counting_request(const struct tune *tune, const json_t *config) {
	const struct trial_counters *counters = &tune->task->counters;
	struct trial_request request = tune_request(tune, config);
	request.samples = tune->task->whole_programs ? 1 : SAMPLES;
	request.min_sample_s = SAMPLE_SECONDS;
	request.counters = counters->asked;
	request.slow = counters->slow;
	request.watch = counters->watch;
	if (!tune->task->whole_programs && !(tune->task->limits.timeout_s > 0))
		request.timeout_s *= counters->slow ? TIMEOUT_FACTOR_OF_SLOW : TIMEOUT_FACTOR;
	return request;
}

static void limit(struct trial_request *request, double seconds) {
	request->left_s = seconds;
	request->timeout_s = request->timeout_s > 0 ? fmin(request->timeout_s, seconds) : seconds;
}

static void counting_failed(struct tune *tune, const json_t *config, const char *reason) {
	json_array_append_new(tune->counting.uncounted, json_pack("{s:O,s:s}", "config", config, "reason", reason));
}

static void keep(struct tune *tune, const json_t *config, const struct trial_result *result) {
	js_auto json_t *row = json_object();
	mem_auto char *key = js_canonical(config);
	trial_counters_add(row, result);
	if (result->status != TRIAL_CORRECT)
		counting_failed(tune, config, *result->message ? result->message : trial_status_text(result->status));
	else if (json_object_size(row) == 0)
		counting_failed(tune, config, "its runner cannot count");
	else
		json_object_set(tune->counting.counted, key, row);
}

static int counting_keep(struct tune *tune, const json_t *config, const struct trial_result *result, struct err *err) {
	keep(tune, config, result);
	return trial_store(tune->task->store, tune->memory.id, "counters", 0, config, result, err);
}

/* Failing to count is reported and never a reason to lose the result. left: seconds; INFINITY: no limit. */
static int count_one(struct tune *tune, const json_t *config, double left, struct err *err) {
	struct trial_request request = counting_request(tune, config);
	struct trial_result result = {0};
	struct err bad = {0};
	if (isfinite(left))
		limit(&request, left);
	tune_report(tune, TUNE_COUNTERS);
	int rc = tune_trial(tune, SPENT_COUNTERS, &request, &result, &bad);
	if (rc == 0 && tune_was_cut(&request, &result)) {
		snprintf(result.message, sizeof result.message,
		         "counting takes longer than the %.2g s that the budget has for it", left);
	}
	if (rc == 0) {
		rc = counting_keep(tune, config, &result, err);
	} else if (bad.code == ERR_INTERRUPTED) {
		*err = bad;
	} else {
		counting_failed(tune, config, bad.what);
		rc = 0;
	}
	trial_result_clear(&result);
	return rc;
}

int tune_counters_ahead(struct tune *tune, struct err *err) {
	double begun = tune_now(tune), left = tune->money.budget.seconds - tune_elapsed(tune);
	/* A count that is cut ends the worker. */
	double spare = left - tune_finals_kept(tune) - tune->memory.baseline.elapsed_s;
	double most = fmin(SHARE_OF_EACH * tune->money.budget.seconds, spare);
	if (tune->counting.ahead || !counting_asked(tune) || !is_promised(tune) || tune_is_recalling(tune) ||
	    tune->memory.best_index == UINT64_MAX || tune_elapsed(tune) < COUNTED_AT * tune->money.budget.seconds)
		return 0;
	tune->counting.ahead = true;
	if (!(most > 0))
		return 0;
	js_auto json_t *config = space_config_json(tune->task->space, tune->memory.best_index);
	int rc = count_one(tune, config, most, err);
	tune->counting.one_seconds = tune_now(tune) - begun;
	tune->counting.seconds += tune->counting.one_seconds;
	if (json_object_size(tune->counting.counted) > 0)
		tune->counting.kept = fmin(tune->counting.one_seconds, most);
	tune->money.budget.seconds -= tune->counting.kept;
	return rc;
}

static bool is_known(const struct tune *tune, const json_t *config) {
	mem_auto char *key = js_canonical(config);
	bool known = json_object_get(tune->counting.counted, key) != NULL;
	js_each (failed, tune->counting.uncounted)
		known = known || json_equal(json_object_get(failed, "config"), config);
	return known;
}

/* The configurations to count, each once: the baseline, the winner, the other finalists. A promised budget may end
 * after the first, which is then the winner. The caller frees the array. */
static json_t *queue_new(const struct tune *tune) {
	json_t *queue = json_array();
	if (tune->memory.baseline.status == TRIAL_CORRECT)
		json_array_append(queue, (json_t *)tune->task->baseline);
	if (tune->finals.best_config && !json_equal(tune->finals.best_config, json_array_get(queue, 0)))
		json_array_insert(queue, tune_promised(tune) ? 0 : json_array_size(queue), tune->finals.best_config);
	size_t first = json_array_size(queue);
	js_each (finalist, tune->finals.finalists) {
		json_t *config = json_object_get(finalist, "config");
		bool known = false;
		for (size_t k = 0; k < first; k++)
			known = known || json_equal(config, json_array_get(queue, k));
		if (!known)
			json_array_append(queue, config);
	}
	return queue;
}

/* Is there time to count number `at`, after one that took `last` seconds (0: none did)? The first two are what people
 * ask about: without a promised budget they are always counted for a kernel, and whenever counters were requested. */
static bool counting_affordable(const struct tune *tune, size_t at, double used, double last, double allowed) {
	if (at < 2 && is_promised(tune))
		return used + last <= allowed;
	if (at < 2 && !within_budget(tune)) {
		if (!tune->task->whole_programs || !tune->task->counters.optional)
			return true;
		allowed = fmax(allowed, SHARE_OF_FIRST * tune_elapsed(tune));
	}
	return used + expected_seconds(tune, at, last) <= allowed;
}

struct counting {
	struct tune *tune;
	json_t *early; /* configurations that can begin now, in this order */
	json_t *begun; /* block->order[0] is the index of its configuration */
	struct blocks blocks;
	double last;
};

static struct counting *counting_of(struct tune *tune) {
	if (tune->counting.nodes)
		return tune->counting.nodes;
	struct counting *counting = mem_alloc(1, sizeof *counting);
	*counting = (struct counting){
		.tune = tune, .early = json_array(), .begun = json_array(), .blocks = {.runner = &tune->bench.blocks}};
	return tune->counting.nodes = counting;
}

void tune_counting_free(struct counting *counting) {
	if (!counting)
		return;
	blocks_clear(&counting->blocks);
	json_decref(counting->early);
	json_decref(counting->begun);
	free(counting);
}

static bool is_begun(const struct counting *counting, const json_t *config) {
	js_each (begun, counting->begun)
		if (json_equal(begun, config))
			return true;
	return false;
}

/* Returns 1 if counting has begun, 0 if no node is free. */
static int begin(struct counting *counting, json_t *config, struct err *err) {
	struct block *block = block_new(1);
	block->requests[0] = counting_request(counting->tune, config);
	block->order[0] = (int)json_array_size(counting->begun);
	int rc = blocks_begin(&counting->blocks, block, err);
	if (rc == 1)
		json_array_append(counting->begun, config);
	return rc;
}

static bool has_room(const struct counting *counting) {
	return counting->blocks.runner->room(counting->blocks.runner->ctx) > 0;
}

/* Early counting delays nobody. Slow counters are excluded, because they would keep their node from the next phase. */
void tune_counting_early(struct tune *tune, const struct race_entry *entries, size_t count) {
	if (!tune->bench.fleet || !counting_asked(tune) || tune->task->counters.slow)
		return;
	struct counting *counting = counting_of(tune);
	if (tune->memory.baseline.status == TRIAL_CORRECT)
		json_array_append(counting->early, (json_t *)tune->task->baseline);
	for (size_t i = 0; i < count; i++)
		json_array_append(counting->early, (json_t *)entries[i].config);
}

static json_t *early_next(const struct counting *counting) {
	const struct tune *tune = counting->tune;
	if (tune_interrupted(tune))
		return NULL;
	js_each (config, counting->early)
		if (!is_begun(counting, config))
			return counting_affordable(tune, config_at, 0, counting->last, counting_allowance(tune)) ? config : NULL;
	return NULL;
}

bool tune_counting_waits(const struct tune *tune) {
	return tune->counting.nodes && early_next(tune->counting.nodes);
}

int tune_counting_fill(struct tune *tune, struct err *err) {
	json_t *config;
	int rc = 1;
	while (rc == 1 && tune->counting.nodes && has_room(tune->counting.nodes) &&
	       (config = early_next(tune->counting.nodes)))
		rc = begin(tune->counting.nodes, config, err);
	return rc < 0 ? -1 : 0;
}

static int counted_record(struct counting *counting, const struct block *block, struct err *err) {
	struct tune *tune = counting->tune;
	json_t *config = json_array_get(counting->begun, (size_t)block->order[0]);
	if (block->done == 0) {
		counting_failed(tune, config, "its node went away");
		return 0;
	}
	counting->last = block->results[0].elapsed_s;
	if (json_array_size(counting->early)) /* the time of the phase itself is added when it ends */
		tune->counting.seconds += counting->last;
	else
		tune_report(tune, TUNE_COUNTERS);
	return counting_keep(tune, config, &block->results[0], err);
}

bool tune_counting_record(struct tune *tune, struct block *block, int *rc, struct err *err) {
	struct blocks *blocks = tune->counting.nodes ? &tune->counting.nodes->blocks : NULL;
	for (size_t i = 0; blocks && i < blocks->count; i++) {
		if (blocks->flying[i] != block)
			continue;
		blocks->flying[i] = blocks->flying[--blocks->count];
		*rc = counted_record(tune->counting.nodes, block, err);
		block_free(block);
		return true;
	}
	return false;
}

/* Waits; counting blocks are recorded as they end. */
static int next(struct counting *counting, struct err *err) {
	const struct block_runner *runner = counting->blocks.runner;
	struct block *none;
	return runner->next(runner->ctx, &none, err);
}

void tune_counting_end(struct tune *tune) {
	struct err ignored = {0};
	if (!tune->counting.nodes)
		return;
	json_array_clear(tune->counting.nodes->early);
	while (tune->counting.nodes->blocks.count && next(tune->counting.nodes, &ignored) == 0)
		continue;
}

struct walk {
	const json_t *queue;
	size_t at;
	double allowed, begun;
};

static int begin_some(struct counting *counting, struct walk *walk, struct err *err) {
	struct tune *tune = counting->tune;
	int rc = 1;
	while (rc == 1 && walk->at < json_array_size(walk->queue)) {
		json_t *config = json_array_get(walk->queue, walk->at);
		double used = tune_now(tune) - walk->begun;
		if (is_begun(counting, config))
			walk->at++;
		else if (!has_room(counting))
			rc = 0;
		else if (!counting_affordable(tune, walk->at, used, counting->last, walk->allowed))
			counting_failed(tune, json_array_get(walk->queue, walk->at++), "not counted: the time was used up");
		else if ((rc = begin(counting, config, err)) == 1)
			walk->at++;
	}
	return rc < 0 ? -1 : 0;
}

/* Counts those of the queue that are not counted yet. Returns -1 with err to stop. */
static int counting_on_nodes(struct tune *tune, const json_t *queue, double allowed, struct err *err) {
	struct counting *counting = counting_of(tune);
	struct walk walk = {.queue = queue, .allowed = allowed, .begun = tune_now(tune)};
	size_t size = json_array_size(queue);
	int rc = 0;
	json_array_clear(counting->early);
	while (rc == 0 && (walk.at < size || counting->blocks.count)) {
		rc = begin_some(counting, &walk, err);
		if (rc == 0 && (walk.at < size || counting->blocks.count))
			rc = next(counting, err);
	}
	tune_counting_end(tune);
	for (; walk.at < size; walk.at++)
		if (!is_begun(counting, json_array_get(queue, walk.at)))
			counting_failed(tune, json_array_get(queue, walk.at),
			                err->code == ERR_INTERRUPTED ? "interrupted" : err->what);
	return rc;
}

/* Returns -1 with err to stop. */
static int count_queue(struct tune *tune, const json_t *queue, double allowed, struct err *err) {
	double begun = tune_now(tune), last = tune->counting.one_seconds;
	int rc = 0;
	js_each (config, queue) {
		double start = tune_now(tune), left = counting_left(tune);
		if (is_known(tune, config))
			continue;
		if (!rc && tune_interrupted(tune))
			rc = err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
		if (rc || left <= last / 2 || !counting_affordable(tune, config_at, start - begun, last, allowed)) {
			counting_failed(tune, config, rc ? "interrupted" : "the time was used up");
			continue;
		}
		rc = count_one(tune, config, left, err);
		last = tune_now(tune) - start;
	}
	return rc;
}

int tune_counters_phase(struct tune *tune, struct err *err) {
	if (!counting_asked(tune))
		return 0;
	double begun = tune_now(tune);
	tune->money.budget.seconds += tune->counting.kept;
	js_auto json_t *queue = queue_new(tune);
	tune_spend_nodes(tune, SPENT_COUNTERS);
	int rc = (tune->bench.fleet ? counting_on_nodes : count_queue)(tune, queue, counting_allowance(tune), err);
	tune_spend_nodes(tune, SPENT_IDLE);
	tune->counting.seconds += tune_now(tune) - begun;
	return rc;
}
