/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "tuner/tune/parallel/parallel.h"

struct work *work_new(const struct parallel *parallel, uint64_t index) {
	const struct tune_task *task = parallel->tune->task;
	struct work *work = mem_alloc(1, sizeof *work);
	work->baseline = index == UINT64_MAX;
	work->index = index;
	work->config = work->baseline ? json_incref((json_t *)task->baseline) : space_config_json(task->space, index);
	work->sum.value = work->sum.least = NAN;
	work->job = (struct pool_job){.requests = work->requests, .count = 1, .tag = work};
	return work;
}

void work_free(struct work *work) {
	if (!work)
		return;
	trial_result_clear(&work->sum);
	json_decref(work->config);
	free(work);
}

void work_queue(struct parallel *parallel, struct work *work) {
	if (parallel->queue_count == parallel->queue_room) {
		parallel->queue_room = parallel->queue_room ? 2 * parallel->queue_room : 16;
		parallel->queue = mem_grow(parallel->queue, parallel->queue_room, sizeof(struct work *));
	}
	parallel->queue[parallel->queue_count++] = work;
}

/* Sets the requests for this node. */
static void work_prepare(const struct parallel *parallel, struct work *work, size_t node) {
	const struct tune *tune = parallel->tune;
	double limit = work->baseline ? 0 : tune_search_limit(tune) / fleet_scale(parallel->fleet, node);
	work->requests[0] = tune_search_request(tune, work->config, limit);
	work->job.count = 1;
	if (work->confirm) {
		work->requests[0].limit_s = 0;
		if (tune->memory.baseline.status == TRIAL_CORRECT)
			work->requests[work->job.count++] = tune_search_request(tune, tune->task->baseline, 0);
	}
	for (size_t i = 0; i < work->job.count; i++)
		tune_limit(tune, &work->requests[i]);
}

int work_submit(struct parallel *parallel, struct work *work, size_t node, struct err *err) {
	work_prepare(parallel, work, node);
	int rc = fleet_submit(parallel->fleet, node, &work->job, err);
	if (rc != 1)
		return rc;
	work->at = parallel->flying_count;
	parallel->flying[parallel->flying_count++] = work;
	return 1;
}

int work_again(struct parallel *parallel, struct work *work, size_t node, struct err *err) {
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

void work_scale(const struct parallel *parallel, size_t node, struct trial_result *result) {
	double scale = fleet_scale(parallel->fleet, node);
	for (size_t i = 0; i < result->sample_count; i++)
		result->samples[i] *= scale;
	result->value *= scale;
	result->least *= scale;
	if (!result->reply)
		result->reply = json_object();
	if (!json_object_get(result->reply, "node"))
		json_object_set_new(result->reply, "node", json_string(fleet_name(parallel->fleet, node)));
	json_object_set_new(result->reply, "node_scale", json_real(scale));
}
