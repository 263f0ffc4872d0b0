/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records what nodes measured, and acts on what their baselines say about them. */
#include <math.h>

#include "base/json/js.h"
#include "tuner/tune/nodes_impl.h"

/* Longer programs are not run a second time to warm a node up. */
static const double WARMUP_UNDER_SECONDS = 1;
/* If this many baselines fail before one worked, the baseline works nowhere. */
enum { FAILED_MAX = 3 };

/* Notes that a result rests on the node's last good baseline. */
static void parallel_known_add(struct parallel *parallel, size_t node, uint64_t index) {
	size_t count = parallel->known_count[node]++;
	if (count == 0 || (count & (count - 1)) == 0) /* doubles at powers of 2 */
		parallel->known[node] = mem_grow(parallel->known[node], count ? 2 * count : 1, sizeof **parallel->known);
	parallel->known[node][count] = index;
}

/* Voids the results that rest on a node. The strategy cannot unlearn them, but they are measured again on other nodes,
 * and the finals see only the new values (doc/adr/0011-fleet.md). */
static void known_drop(struct parallel *parallel, size_t node) {
	for (size_t i = 0; i < parallel->known_count[node]; i++) {
		struct work *work = work_new(parallel, parallel->known[node][i]);
		tune_forget(parallel->tune, work->index);
		work->redo = true;
		work_queue(parallel, work);
	}
	parallel->known_count[node] = 0;
}

/* Voids what rests on the nodes that were quarantined since the last call. */
static void parallel_quarantined_drop(struct parallel *parallel) {
	for (size_t node; (node = fleet_quarantined_next(parallel->fleet)) != SIZE_MAX;)
		known_drop(parallel, node);
}

void parallel_node_judge(struct parallel *parallel, size_t node, const struct trial_result *baseline) {
	double raw = baseline->value / fleet_scale(parallel->fleet, node);
	bool worked = baseline->status == TRIAL_CORRECT;
	const char *message = *baseline->message ? baseline->message : trial_status_text(baseline->status);
	enum fleet_verdict verdict =
		fleet_baseline_record(parallel->fleet, node, worked ? raw : NAN, baseline->elapsed_s, message);
	if (verdict == FLEET_DRIFTED)
		known_drop(parallel, node);
	else if (verdict == FLEET_GOOD)
		parallel->known_count[node] = 0;
	parallel_quarantined_drop(parallel);
}

/* The first baseline that works is the reference for all nodes. */
static int reference_set(struct parallel *parallel, struct work *work, struct err *err) {
	struct tune *tune = parallel->tune;
	tune->memory.baseline = work->sum;
	memset(&work->sum, 0, sizeof work->sum);
	if (tune->task->whole_programs)
		tune_program_look(tune);
	return tune_baseline_done(tune, err) || tune_budget_check(tune, false, err) ? -1 : 0;
}

static int baseline_failed(struct parallel *parallel, struct work *work, struct err *err) {
	size_t nodes = fleet_alive(parallel->fleet), most = nodes < FAILED_MAX ? nodes : FAILED_MAX;
	if (++parallel->baselines_failed < most)
		return 0;
	fleet_baseline_give_up(parallel->fleet);
	return reference_set(parallel, work, err);
}

static int baseline_use(struct parallel *parallel, struct work *work, size_t node, struct err *err) {
	struct tune *tune = parallel->tune;
	bool first = !tune->search, worked = work->sum.status == TRIAL_CORRECT;
	if (first && !worked)
		return baseline_failed(parallel, work, err);
	parallel_node_judge(parallel, node, &work->sum);
	return first ? reference_set(parallel, work, err) : 0;
}

/* A disturbed baseline is repeated, and so is the first run of a program on a node. */
static bool once_more(const struct parallel *parallel, struct work *work, const struct trial_result *result) {
	bool cold = parallel->tune->task->whole_programs && !work->warm && result->status == TRIAL_CORRECT &&
	            result->elapsed_s <= WARMUP_UNDER_SECONDS;
	work->warm = true;
	if (cold) {
		trial_result_clear(&work->sum);
		work->attempts = 0;
		return true;
	}
	return result->disturbed && work->again++ < TUNE_AGAIN_MAX;
}

/* Handles a worker killed during the baseline, which may have been its own doing. */
static int baseline_killed(struct parallel *parallel, struct work *work, const struct pool_done *done,
                           struct err *err) {
	int rc = 0;
	if (++parallel->baselines_killed >= WORK_LOST_MAX) {
		parallel->baselines_killed = 0;
		trial_result_clear(&work->sum);
		work->sum.status = TRIAL_RUNTIME;
		snprintf(work->sum.message, sizeof work->sum.message, "lost %d times in a row: %.150s", WORK_LOST_MAX,
		         done->lost);
		rc = baseline_use(parallel, work, done->node, err);
	}
	work_free(work);
	return rc;
}

/* A node whose baseline the budget ended gets no work any more. */
static int baseline_cut(struct parallel *parallel, struct work *work, const struct trial_result *one, struct err *err) {
	struct tune *tune = parallel->tune;
	snprintf(tune->money.cut_message, sizeof tune->money.cut_message, "%s", one->message);
	work_free(work);
	return tune->search || parallel->ending ? 0 : tune_budget_check(tune, true, err);
}

/* Repeats it on the node that has just done it, else later and elsewhere; a baseline is not repeated elsewhere. */
static int work_again(struct parallel *parallel, struct work *work, size_t node, struct err *err) {
	size_t idle = parallel->ending ? SIZE_MAX : fleet_idle_take(parallel->fleet);
	int rc = 0;
	if (idle == node)
		rc = work_submit(parallel, work, node, err);
	else if (idle != SIZE_MAX)
		fleet_idle_put(parallel->fleet, idle);
	if (rc == 1)
		return 0;
	if (rc == 0 && !work->baseline) {
		work_queue(parallel, work);
		return 0;
	}
	work_free(work);
	return rc;
}

/* Records a baseline that has ended and acts on the verdict about its node. */
static int parallel_baseline_record(struct parallel *parallel, struct work *work, struct pool_done *done,
                                    struct err *err) {
	struct tune *tune = parallel->tune;
	if (done->done == 0 && done->outside) { /* it is measured once the node is back */
		work_free(work);
		return 0;
	}
	if (done->done == 0)
		return baseline_killed(parallel, work, done, err);
	struct trial_result *one = &done->results[0];
	parallel->baselines_killed = 0;
	if (tune_was_cut(&work->requests[0], one))
		return baseline_cut(parallel, work, one, err);
	tune_noise_note(tune, one);
	tune_beside_note(tune, one, one->elapsed_s);
	tune_pareto_record(tune, work->config, one);
	tune_checked_note(tune, work->config, one);
	work_scale(parallel, done->node, one);
	if (trial_store(tune->task->store, tune->memory.id, tune->search ? "node" : "baseline", 0, work->config, one,
	                err)) {
		work_free(work);
		return -1;
	}
	tune_merge(&work->deviation, &work->sum, one, work->attempts++ ? MERGE_BEST : MERGE_FIRST);
	if (!done->lost && !parallel->ending && once_more(parallel, work, &work->sum))
		return work_again(parallel, work, done->node, err);
	int rc = baseline_use(parallel, work, done->node, err);
	work_free(work);
	return rc;
}

/* Half of the difference that the finals can tell: a smaller gain is not worth the trials that confirm it. */
static const double CONFIRM_BELOW = 0.995;

static int store(struct parallel *parallel, const char *phase, const json_t *config, const struct trial_result *result,
                 struct err *err) {
	const struct tune *tune = parallel->tune;
	return trial_store(tune->task->store, tune->memory.id, phase, 0, config, result, err);
}

/* Ends an evaluation whose sum is complete. */
static void evaluation_end(struct parallel *parallel, struct work *work, size_t node) {
	struct tune *tune = parallel->tune;
	tune->bench.current.deviation = work->deviation;
	tune->bench.current.seconds = work->seconds;
	if (work->redo)
		tune_remember(tune, work->index, &work->sum);
	else
		tune_evaluated(tune, work->index, &work->sum);
	parallel->evaluating -= !work->redo;
	if (node != SIZE_MAX && (work->sum.status == TRIAL_CORRECT || work->sum.status == TRIAL_CENSORED))
		parallel_known_add(parallel, node, work->index);
	work_free(work);
}

/* A lost trial is repeated elsewhere, because nothing is known about it. A configuration that takes its worker down
 * each time counts as failed in the end. */
static int lost(struct parallel *parallel, struct work *work, const struct pool_done *done, struct err *err) {
	struct trial_result *sum = &work->sum;
	if (work->attempts) {
		evaluation_end(parallel, work, done->node);
		return 0;
	}
	int row = done->outside ? ++work->away : ++work->lost;
	if (row < (done->outside ? WORK_AWAY_MAX : WORK_LOST_MAX)) {
		work_queue(parallel, work);
		return 0;
	}
	*sum = (struct trial_result){.status = TRIAL_RUNTIME, .value = NAN, .least = NAN};
	snprintf(sum->message, sizeof sum->message, "lost %d times in a row: %.150s", row, done->lost);
	int rc = store(parallel, "search", work->config, sum, err);
	evaluation_end(parallel, work, SIZE_MAX);
	return rc;
}

/* A result of a quarantined node is stored, and measured again elsewhere. */
static int distrusted(struct parallel *parallel, struct work *work, size_t node, struct trial_result *one,
                      struct err *err) {
	work_scale(parallel, node, one);
	int rc = store(parallel, "search", work->config, one, err);
	trial_result_clear(&work->sum);
	work->attempts = 0;
	work->again = 0;
	work->confirm = false;
	work_queue(parallel, work);
	return rc;
}

static int merged(struct parallel *parallel, struct work *work, struct trial_result *one, struct err *err) {
	enum merge merge = work->attempts == 0 ? MERGE_FIRST : work->confirm ? MERGE_MEAN : MERGE_BEST;
	work->seconds += one->elapsed_s;
	work->attempts++;
	tune_pareto_record(parallel->tune, work->config, one);
	tune_checked_note(parallel->tune, work->config, one);
	const struct trial_result *kept = tune_merge(&work->deviation, &work->sum, one, merge) ? &work->sum : one;
	return store(parallel, "search", work->config, kept, err);
}

/* As on one node, disturbed trials are repeated and an apparent new best is confirmed. */
static bool nodes_once_more(const struct parallel *parallel, struct work *work) {
	const struct trial_result *sum = &work->sum;
	if (work->confirm || !tune_may_repeat(parallel->tune, sum))
		return false;
	if (sum->disturbed && work->again++ < TUNE_AGAIN_MAX)
		return true;
	work->confirm = sum->status == TRIAL_CORRECT && sum->value < CONFIRM_BELOW * parallel->tune->memory.best;
	return work->confirm;
}

/* Judges the node by the baseline measured after an apparent new best: if the last baseline of a node was disturbed,
 * everything that it measures looks good. */
static int confirm_record(struct parallel *parallel, struct work *work, struct pool_done *done, struct err *err) {
	struct trial_result *baseline = &done->results[1];
	if (!work->confirm || done->done < 2)
		return 0;
	work_scale(parallel, done->node, baseline);
	if (store(parallel, "node", work->requests[1].config, baseline, err))
		return -1;
	if (!baseline->disturbed)
		parallel_node_judge(parallel, done->node, baseline);
	return 0;
}

/* The budget ended it, so that nothing is known about it, or no more than before. */
static void cut(struct parallel *parallel, struct work *work) {
	if (work->attempts) {
		evaluation_end(parallel, work, SIZE_MAX);
		return;
	}
	parallel->evaluating -= !work->redo;
	work_free(work);
}

enum { MISSES_MAX = 4 /* trials that did not find what was built for them, before the first that did */ };

static void give_up(struct parallel *parallel) {
	const struct tune_observer *observer = parallel->tune->observer;
	tune_ahead_end(parallel->tune);
	parallel->unreached = true;
	if (observer && observer->warn)
		observer->warn(observer->ctx, "no node finds what is compiled ahead, so each of them compiles for itself");
}

/* Learns from the first trial of a configuration whether the node found what was built. */
static void parallel_ahead_learn(struct parallel *parallel, const json_t *config, const struct trial_result *result) {
	const json_t *gpu = json_object_get(result->reply, "gpu");
	if (!gpu || !parallel_is_building(parallel) || !builder_has(parallel->tune->task->builder, config))
		return;
	if (!(js_real_or(gpu, "compile_s", 0) > 0))
		parallel->reached++;
	else if (parallel->reached == 0 && ++parallel->missed == MISSES_MAX)
		give_up(parallel);
}

static int search_record(struct parallel *parallel, struct work *work, struct pool_done *done, struct err *err) {
	if (done->done == 0)
		return lost(parallel, work, done, err);
	if (confirm_record(parallel, work, done, err)) {
		work_free(work);
		return -1;
	}
	struct trial_result *one = &done->results[0];
	if (tune_was_cut(&work->requests[0], one)) {
		cut(parallel, work);
		return 0;
	}
	tune_noise_note(parallel->tune, one);
	tune_beside_note(parallel->tune, one, one->elapsed_s);
	if (!work->redo && !work->tried)
		parallel_ahead_learn(parallel, work->config, one);
	work->tried = true;
	if (fleet_is_quarantined(parallel->fleet, done->node))
		return distrusted(parallel, work, done->node, one, err);
	work_scale(parallel, done->node, one);
	if (merged(parallel, work, one, err)) {
		work_free(work);
		return -1;
	}
	if (!done->lost && !parallel->ending && nodes_once_more(parallel, work))
		return work_again(parallel, work, done->node, err);
	evaluation_end(parallel, work, done->node);
	return 0;
}

int parallel_record(struct parallel *parallel, struct pool_done *done, struct err *err) {
	struct work *work = done->job->tag;
	struct work *last = parallel->flying[--parallel->flying_count];
	parallel->flying[work->at] = last;
	last->at = work->at;
	if (work->opens) {
		pool_done_clear(done);
		work_free(work);
		return 0;
	}
	fleet_trials_add(parallel->fleet, done->node, done->done);
	parallel_quarantined_drop(parallel);
	/* The job may be freed before its results are. */
	const struct pool_job job = *done->job;
	done->job = &job;
	int rc =
		work->baseline ? parallel_baseline_record(parallel, work, done, err) : search_record(parallel, work, done, err);
	pool_done_clear(done);
	return rc;
}
