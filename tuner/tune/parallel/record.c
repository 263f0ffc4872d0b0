/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records what a job has measured on the scale of the reference node, and repeats what its loss left open (ADR 11). */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tuner/store/trial_store.h"
#include "tuner/tune/parallel/parallel.h"

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
	size_t worked = tune->memory.worked_count;
	tune->bench.current.deviation = work->deviation;
	tune->bench.current.seconds = work->seconds;
	if (work->redo)
		tune_remember(tune, work->index, &work->sum);
	else
		tune_evaluated(tune, work->index, &work->sum);
	parallel->evaluating -= !work->redo;
	if (node != SIZE_MAX && (work->sum.status == TRIAL_CORRECT || work->sum.status == TRIAL_CENSORED))
		parallel_known_add(parallel, node, work->index, worked < tune->memory.worked_count ? worked : SIZE_MAX);
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
static bool once_more(const struct parallel *parallel, struct work *work) {
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
	if (!done->lost && !parallel->ending && once_more(parallel, work))
		return work_again(parallel, work, done->node, err);
	evaluation_end(parallel, work, done->node);
	return 0;
}

int parallel_record(struct parallel *parallel, struct pool_done *done, struct err *err) {
	struct work *work = done->job->tag;
	struct work *last = parallel->flying[--parallel->flying_count];
	parallel->flying[work->at] = last;
	last->at = work->at;
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
