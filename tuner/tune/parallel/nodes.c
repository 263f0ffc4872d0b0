/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Baselines of nodes: when to measure them, and what follows when a node is slow, drifts or goes away (ADR 11). */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "tuner/store/trial_store.h"
#include "tuner/tune/parallel/parallel.h"

/* Longer programs are not run a second time to warm a node up. */
static const double WARMUP_UNDER_SECONDS = 1;
/* If this many baselines fail before one worked, the baseline works nowhere. */
enum { FAILED_MAX = 3 };

void parallel_known_add(struct parallel *parallel, size_t node, uint64_t index, size_t worked) {
	size_t count = parallel->known_count[node]++;
	if (count == 0 || (count & (count - 1)) == 0) /* doubles at powers of 2 */
		parallel->known[node] = mem_grow(parallel->known[node], count ? 2 * count : 1, sizeof(struct known));
	parallel->known[node][count] = (struct known){index, worked};
}

/* Voids the results that rest on a node. The strategy cannot unlearn them, but they are measured again on other nodes,
 * and the finals see only the new values (doc/adr/0011-fleet.md). */
static void known_drop(struct parallel *parallel, size_t node) {
	struct tune *tune = parallel->tune;
	bool best = false;
	for (size_t i = 0; i < parallel->known_count[node]; i++) {
		const struct known *known = &parallel->known[node][i];
		if (known->worked < tune->memory.worked_count)
			tune->memory.worked[known->worked].value = tune->memory.worked[known->worked].promise = INFINITY;
		best = best || known->index == tune->memory.best_index;
		struct work *work = work_new(parallel, known->index);
		work->redo = true;
		work_queue(parallel, work);
	}
	parallel->known_count[node] = 0;
	if (best)
		tune_best_find(tune);
}

void parallel_quarantined_drop(struct parallel *parallel) {
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

int parallel_baseline_record(struct parallel *parallel, struct work *work, struct pool_done *done, struct err *err) {
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
