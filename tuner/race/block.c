/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/mem.h"
#include "base/stats.h"
#include "base/sys.h"
#include "tuner/race/race_impl.h"

/* Whatever the time allows: a comparison ends. */
enum { TIMES_MAX = 20 };
/* A verdict with more disturbed blocks than this was decided on a busy machine. */
static const double BUSY_SHARE = 0.25;

void race_watch_begin(struct race_watch *watch) {
	if (watch && watch->busy)
		busy_mark(watch->busy);
}

/* The repetition takes as long as the blocks did. */
static bool may_repeat(const struct race_watch *watch, double seconds) {
	return watch->times < TIMES_MAX && watch->spent + seconds <= fmin(watch->seconds, busy_patience(watch->busy));
}

static void repeat(struct race_watch *watch, int pending, double seconds) {
	watch->times++;
	watch->repeated += pending;
	watch->spent += seconds;
	watch->spent += busy_wait(watch->busy, fmin(seconds, watch->seconds - watch->spent), watch->interrupt);
	busy_mark(watch->busy);
}

static void keep(struct race_watch *watch, int pending, enum busy_answer answer) {
	watch->blocks += pending;
	watch->disturbed += answer == BUSY_OTHERS ? pending : 0;
}

enum race_watch_answer race_watch_ask(struct race_watch *watch, int pending, bool at_once) {
	double seconds;
	if (!watch || !watch->busy || pending == 0)
		return RACE_WATCH_KEEP;
	enum busy_answer answer = busy_since(watch->busy, at_once, &seconds);
	if (answer == BUSY_LATER)
		return RACE_WATCH_LATER;
	if (answer == BUSY_OTHERS && may_repeat(watch, seconds)) {
		repeat(watch, pending, seconds);
		return RACE_WATCH_REPEAT;
	}
	keep(watch, pending, answer);
	return RACE_WATCH_KEEP;
}

void race_watch_end(struct race_watch *watch, int pending) {
	double seconds;
	if (watch && watch->busy && pending > 0)
		keep(watch, pending, busy_since(watch->busy, true, &seconds));
}

bool race_watch_is_busy(const struct race_watch *watch) {
	return watch->disturbed > BUSY_SHARE * watch->blocks;
}

json_t *race_watch_json(const struct race_watch *watch) {
	json_t *json = watch->busy ? busy_json(watch->busy) : json_null();
	if (!json_is_object(json))
		return json;
	json_object_set_new(json, "blocks", json_integer(watch->blocks));
	json_object_set_new(json, "disturbed", json_integer(watch->disturbed));
	json_object_set_new(json, "repeated", json_integer(watch->repeated));
	if (json_array_size(watch->pairs))
		json_object_set(json, "repeated_pairs", watch->pairs);
	if (race_watch_is_busy(watch))
		json_object_set_new(json, "busy", json_true());
	return json;
}

enum { IN_A_ROW_MAX = 3, AWAY_MAX = 20, TRIALS_FAIR = 12 };

#define SAMPLE_MIN_S    1e-3  /* shorter work is repeated until a sample takes this long */
#define WARMUP_UNDER_S  20e-3 /* repeating a longer run costs more than its cold caches do */
#define PLAUSIBLE_MAX_S 1e9

void race_entrant_clear(struct race_entrant *entrant) {
	free(entrant->samples);
	*entrant = (struct race_entrant){0};
}

static bool samples_plausible(const struct trial_result *result, double max) {
	if (result->samples == NULL || result->sample_count == 0)
		return false;
	for (size_t i = 0; i < result->sample_count; i++)
		if (!isfinite(result->samples[i]) || result->samples[i] <= 0 || result->samples[i] > max)
			return false;
	return true;
}

/* Runners are not trusted: an impossible status or sample becomes a failure with a type and a message. */
static void result_check(struct trial_result *result, double max) {
	const char *wrong = NULL;
	if ((int)result->status < 0 || result->status >= TRIAL_STATUS_COUNT)
		wrong = "ended with an unknown status";
	else if (result->status == TRIAL_CORRECT && !samples_plausible(result, max))
		wrong = "reported no samples, or impossible ones";
	else if (result->status == TRIAL_CORRECT)
		result->value = stats_median(result->samples, result->sample_count);
	if (wrong == NULL)
		return;
	result->status = TRIAL_RUNTIME;
	result->sample_count = 0;
	result->value = NAN;
	snprintf(result->message, sizeof result->message, "%s", wrong);
}

/* These failures would only repeat. */
static bool failure_final(enum trial_status status) {
	return status == TRIAL_CORRECTNESS || status == TRIAL_COMPILE || status == TRIAL_CONSTRAINTS;
}

static void race_entrant_fail(struct race_entrant *entrant, enum trial_status status) {
	entrant->failed = status;
	entrant->failures++;
	entrant->failures_in_a_row++;
	if (failure_final(status) || entrant->failures_in_a_row >= IN_A_ROW_MAX ||
	    (entrant->trials >= TRIALS_FAIR && 3 * entrant->failures > entrant->trials))
		entrant->lost = true;
}

/* race_entrant_measure runs one trial of one sample; race_entrant_request builds its request. *seconds is NAN if the
 * trial failed, and a sample that no clock can give is a failure. The entrant has lost after a wrong result, after a
 * failure that would repeat (compile, constraints), after 3 failures in a row, and when more than a third of at least
 * 12 trials failed. keep: the sample joins `samples`. Returns -1 if interrupted, or if nothing can be run at all. */
static struct trial_request race_entrant_request(const struct race_entrant *entrant, const struct trial_request *base) {
	struct trial_request request = *base;
	double last = entrant->count > 0 ? entrant->samples[entrant->count - 1] : 0;
	request.config = entrant->config;
	request.samples = 1;
	request.warmup = !base->whole_program && last < WARMUP_UNDER_S;
	request.min_sample_s = base->min_sample_s > SAMPLE_MIN_S ? base->min_sample_s : SAMPLE_MIN_S;
	request.limit_s = request.cut_s = entrant->bound;
	request.counters = NULL;
	return request;
}

/* Records that the entrant's worker was killed while it ran, or, with `outside`, that its node went away. 3 kills in a
 * row count as a failure of the entrant. Lost nodes do so only after 20, so that a race always ends. */
static void race_entrant_gone(struct race_entrant *entrant, bool outside) {
	if (outside ? ++entrant->away < AWAY_MAX : ++entrant->gone < IN_A_ROW_MAX)
		return;
	race_entrant_fail(entrant, TRIAL_RUNTIME);
	entrant->lost = true;
}

void race_entrant_judge(struct race_entrant *entrant, bool keep) {
	if (keep)
		entrant->judged = entrant->count;
	else
		entrant->count = entrant->judged;
}

/* Passes a result to the observer and does nothing else with it. */
static int race_context_report(const struct race_context *context, const struct race_entrant *entrant,
                               const struct trial_result *result, struct err *err) {
	const struct race_observer *observer = context->observer;
	const char *phase = entrant->phase ? entrant->phase : context->phase;
	if (observer == NULL || observer->trial == NULL)
		return 0;
	return observer->trial(observer->ctx, phase, context->block, entrant->config, result, err) != 0 ? -1 : 0;
}

/* Records a trial that was run elsewhere in the same way. `result` stays the caller's, but may be changed. */
static int race_entrant_record(struct race_entrant *entrant, const struct race_context *context, bool keep,
                               const struct trial_request *request, struct trial_result *result, double *seconds,
                               struct err *err) {
	bool over = entrant->bound > 0 && result->status == TRIAL_CENSORED;
	*seconds = NAN;
	/* Only seconds have an upper bound: a program may print a metric of any size. */
	result_check(result, request->whole_program ? INFINITY : PLAUSIBLE_MAX_S);
	entrant->trials++;
	entrant->gone = entrant->away = 0;
	if (result->status == TRIAL_CORRECT || over) {
		*seconds = over ? entrant->bound : result->value;
		entrant->bounded += over;
		entrant->failures_in_a_row = 0;
		if (keep)
			race_entrant_keep(entrant, *seconds);
	} else {
		race_entrant_fail(entrant, result->status);
	}
	return race_context_report(context, entrant, result, err);
}

double race_clock_now(const struct race_clock *clock) {
	return clock->now != NULL ? clock->now(clock->ctx) : sys_now();
}

/* From the cut on no trial runs, so that no block would end either. */
static bool is_over(const struct race_clock *clock) {
	return clock != NULL && clock->cut > 0 && race_clock_now(clock) >= clock->cut;
}

bool race_clock_late(const struct race_clock *clock, double each) {
	return is_over(clock) || (clock->end > 0 && race_clock_now(clock) + each > clock->end);
}

static bool clock_passed(const struct race_clock *clock, double start, int blocks, double more) {
	double each = blocks > 0 ? (race_clock_now(clock) - start) / blocks : 0;
	return race_clock_late(clock, more * each);
}

/* The wait counts as a part of the time that a block takes on average, which may double. */
bool race_clock_spares(const struct race_clock *clock, double start, int blocks, int more) {
	return !clock_passed(clock, start, blocks, 3 * more);
}

/* A trial may not take longer than what is left of the time. */
static void race_clock_limit(const struct race_clock *clock, struct trial_request *request) {
	double left;
	if (clock == NULL || !(clock->cut > 0))
		return;
	left = fmax(clock->cut - race_clock_now(clock), 1e-3);
	request->left_s = left;
	request->timeout_s = request->timeout_s > 0 ? fmin(request->timeout_s, left) : left;
}

static bool was_cut(const struct race_clock *clock, const struct trial_result *result) {
	return result->status != TRIAL_CORRECT && is_over(clock);
}

/* Was a trial that was run elsewhere ended with the time of the comparison? It counts for nothing then. */
static bool race_entrant_cut(struct race_entrant *entrant, const struct race_context *context,
                             const struct trial_result *result) {
	bool cut = was_cut(context->clock, result);
	entrant->cut = entrant->cut || cut;
	return cut;
}

static int race_entrant_measure(struct race_entrant *entrant, const struct race_context *context, bool keep,
                                double *seconds, struct err *err) {
	struct trial_request request = race_entrant_request(entrant, context->request);
	struct trial_result result = {.value = NAN};
	int status;
	*seconds = NAN;
	if (is_over(context->clock))
		return 0;
	race_clock_limit(context->clock, &request);
	status = context->runner->run(context->runner->ctx, &request, &result, err);
	if (status == 0 && was_cut(context->clock, &result))
		entrant->cut = true;
	else if (status == 0)
		status = race_entrant_record(entrant, context, keep, &request, &result, seconds, err);
	trial_result_clear(&result);
	return status != 0 ? -1 : 0;
}

struct block *block_new(size_t count) {
	struct block *block = mem_alloc(1, sizeof *block);
	block->count = count;
	block->requests = mem_alloc(count, sizeof *block->requests);
	block->order = mem_alloc(count, sizeof *block->order);
	block->results = mem_alloc(count, sizeof *block->results);
	return block;
}

void block_free(struct block *block) {
	if (!block)
		return;
	for (size_t i = 0; i < block->count; i++)
		trial_result_clear(&block->results[i]);
	free(block->requests);
	free(block->order);
	free(block->results);
	free(block);
}

int blocks_begin(struct blocks *blocks, struct block *block, struct err *err) {
	block->begun = blocks->runner->now(blocks->runner->ctx);
	int rc = blocks->runner->begin(blocks->runner->ctx, block, err);
	if (rc != 1) {
		block_free(block);
		return rc;
	}
	blocks->flying = mem_grow(blocks->flying, blocks->count + 1, sizeof(struct block *));
	blocks->flying[blocks->count++] = block;
	return 1;
}

/* Waits for the next block that ends and hands its ownership back; *block is NULL if only the room has changed. */
static int blocks_next(struct blocks *blocks, struct block **block, struct err *err) {
	*block = NULL;
	int rc = blocks->runner->next(blocks->runner->ctx, block, err);
	for (size_t i = 0; *block && i < blocks->count; i++) {
		if (blocks->flying[i] != *block)
			continue;
		blocks->flying[i] = blocks->flying[--blocks->count];
		blocks->spent_s += blocks->runner->now(blocks->runner->ctx) - (*block)->begun;
		blocks->ended++;
		break;
	}
	if (rc) {
		block_free(*block);
		*block = NULL;
	}
	return rc;
}

double blocks_seconds(const struct blocks *blocks) {
	return blocks->ended ? blocks->spent_s / (double)blocks->ended : 0;
}

void blocks_clear(struct blocks *blocks) {
	while (blocks->count)
		block_free(blocks->flying[--blocks->count]);
	free(blocks->flying);
	blocks->flying = NULL;
}

static struct block *block_make(const struct race_blocks *plan) {
	struct block *block = block_new(plan->trials_max);
	block->count = plan->plan(plan->ctx, block->order);
	for (size_t i = 0; i < block->count; i++) {
		block->requests[i] = race_entrant_request(plan->entrant(plan->ctx, block->order[i]), plan->context->request);
		race_clock_limit(plan->context->clock, &block->requests[i]);
	}
	return block;
}

static int begin_some(struct blocks *blocks, const struct race_blocks *plan, struct err *err) {
	int rc = 1;
	while (rc == 1 && plan->may_begin(plan->ctx) && blocks->runner->room(blocks->runner->ctx) > 0)
		rc = blocks_begin(blocks, block_make(plan), err);
	return rc < 0 ? -1 : 0;
}

/* Results that no longer count are stored all the same, because no measurement is thrown away. */
static int block_show(const struct race_blocks *plan, struct block *block, size_t from, struct err *err) {
	int rc = 0;
	for (size_t i = from; i < block->done; i++)
		if (race_context_report(plan->context, plan->entrant(plan->ctx, block->order[i]), &block->results[i], err))
			rc = -1;
	return rc;
}

/* The block came back after the decision: its results are stored and do not count. */
static int block_late(const struct race_blocks *plan, struct block *block, struct err *err) {
	int rc = block_show(plan, block, 0, err);
	plan->begin(plan->ctx);
	plan->context->block++;
	return rc;
}

static int block_record(const struct race_blocks *plan, struct block *block, struct err *err) {
	plan->begin(plan->ctx);
	for (size_t i = 0; i < block->done; i++) {
		int trial = block->order[i];
		struct race_entrant *entrant = plan->entrant(plan->ctx, trial);
		double seconds;
		if (race_entrant_cut(entrant, plan->context, &block->results[i]))
			continue;
		if (race_entrant_record(entrant, plan->context, plan->keeps(plan->ctx, trial), &block->requests[i],
		                        &block->results[i], &seconds, err)) {
			block_show(plan, block, i + 1, &(struct err){0});
			return -1;
		}
		plan->note(plan->ctx, trial, seconds);
	}
	if (block->lost && block->done < block->count) {
		race_entrant_gone(plan->entrant(plan->ctx, block->order[block->done]), block->outside);
		plan->note(plan->ctx, block->order[block->done], NAN);
	}
	plan->end(plan->ctx, block->count, block->done, block->lost);
	return 0;
}

/* Collects the blocks that nodes are still working on after an error or an interruption, so that their results are
 * stored. */
static void finish(struct blocks *blocks, const struct race_blocks *plan) {
	struct err ignored = {0};
	struct block *block;
	while (blocks->count > 0 && blocks_next(blocks, &block, &ignored) == 0) {
		if (block)
			block_late(plan, block, &ignored);
		block_free(block);
	}
}

static int nodes_run(struct blocks *blocks, const struct race_blocks *plan, struct err *err) {
	bool over = false;
	int rc = 0;
	while (rc == 0 && (blocks->count > 0 || (!over && plan->may_begin(plan->ctx)))) {
		struct block *block = NULL;
		rc = over ? 0 : begin_some(blocks, plan, err);
		if (rc == 0)
			rc = blocks_next(blocks, &block, err);
		if (!block)
			continue;
		rc = over ? block_late(plan, block, err) : block_record(plan, block, err);
		over = over || (rc == 0 && plan->decide(plan->ctx));
		block_free(block);
	}
	return rc;
}

/* Here each trial is recorded as it ends, so that an interruption loses only one. */
static int block_measure(const struct race_blocks *plan, int *order, struct err *err) {
	size_t count = plan->plan(plan->ctx, order);
	plan->begin(plan->ctx);
	for (size_t i = 0; i < count; i++) {
		double seconds;
		if (race_entrant_measure(plan->entrant(plan->ctx, order[i]), plan->context, plan->keeps(plan->ctx, order[i]),
		                         &seconds, err))
			return -1;
		plan->note(plan->ctx, order[i], seconds);
	}
	plan->end(plan->ctx, count, count, false);
	return 0;
}

static int here_run(const struct race_blocks *plan, struct err *err) {
	int *order = mem_alloc(plan->trials_max, sizeof *order), rc = 0;
	bool over = false;
	while (rc == 0 && !over && plan->may_begin(plan->ctx)) {
		rc = block_measure(plan, order, err);
		over = rc == 0 && plan->decide(plan->ctx);
	}
	free(order);
	return rc;
}

int race_blocks_run(struct blocks *blocks, const struct race_blocks *plan, struct err *err) {
	if (!blocks->runner)
		return here_run(plan, err);
	int rc = nodes_run(blocks, plan, err);
	finish(blocks, plan);
	blocks_clear(blocks);
	return rc;
}
