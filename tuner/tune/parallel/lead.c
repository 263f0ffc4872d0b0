/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lead trials: a node that was away measures the baseline before its next block of the finals, because without it no
 * result of the node is on the scale of the others. */
#include <config.h>

#include <math.h>

#include "src/base/mem.h"
#include "tuner/store/trial_store.h"
#include "tuner/tune/parallel/parallel.h"

/* The first run of a program on a node finds its files uncached; longer programs are hardly affected. */
static const double COLD_SECONDS = 1;

struct lead_job {
	struct pool_job job;
	size_t lead; /* trials before those of the block */
	struct trial_request requests[];
};

static size_t lead_of(const struct tune *tune, size_t node) {
	if (!fleet_baseline_missing(tune->bench.fleet, node))
		return 0;
	return tune->task->whole_programs && tune->memory.baseline.value <= COLD_SECONDS ? 2 : 1;
}

struct pool_job *lead_job_new(const struct tune *tune, size_t node, struct block *block) {
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

static void learn(struct tune *tune, size_t node, const struct trial_result *baseline, double raw) {
	const char *message = *baseline->message ? baseline->message : trial_status_text(baseline->status);
	bool worked = baseline->status == TRIAL_CORRECT;
	fleet_baseline_record(tune->bench.fleet, node, worked ? raw : NAN, baseline->elapsed_s, message);
}

ptrdiff_t lead_record(struct tune *tune, const struct pool_done *done, struct err *err) {
	const struct lead_job *job = (const struct lead_job *)done->job;
	const struct parallel view = {.tune = tune, .fleet = tune->bench.fleet};
	size_t count = done->done < job->lead ? done->done : job->lead;
	for (size_t i = 0; i < count; i++) {
		struct trial_result *one = &done->results[i];
		double raw = one->value;
		work_scale(&view, done->node, one);
		if (trial_store(tune->task->store, tune->memory.id, "node", 0, tune->task->baseline, one, err))
			return -1;
		if (i + 1 == job->lead)
			learn(tune, done->node, one, raw);
	}
	return (ptrdiff_t)count;
}
