/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/program/gpu_run_impl.h"

#include "gpu/open.h"

/* Kernels that are counted run several times. */
static const double COUNT_SLOWDOWN = 10;

/* The work of one run; NULL and err. */
static struct gpu_work *run_watched(struct arena *arena, struct program_trial *trial, const char *metrics,
                                    struct err *err) {
	struct program_again again = {.slowdown = metrics ? COUNT_SLOWDOWN : 1};
	struct gpu_watch watch;
	char why[PROGRAM_MESSAGE];
	if (gpu_watch_open(arena, trial->site.scratch.path, metrics, &watch, err) != 0)
		return NULL;
	again.environment = program_site_environment(arena, trial->request, watch.variables);
	bool good = program_trial_again(trial, &again, why, sizeof why);
	free(again.environment);
	if (good)
		return gpu_work_read(&watch);
	err_set(err, ERR_FAILED, NULL, "the traced run failed: %.300s", why);
	return NULL;
}

static void note_add(json_t *json, const char *format, const char *why) {
	json_array_append_new(json_object_get(json, "notes"), json_sprintf(format, why));
}

/* CUPTI puts memory back between the passes of a kernel, but a kernel that depends on something else may go wrong. */
static void count(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan, json_t *json) {
	const char *metrics = gpu_counts_metrics(arena, plan);
	char reason[COUNTER_REASON] = "";
	int index = 0;
	struct err err;
	if (!metrics) {
		const struct counter_event *first = plan->event_count ? &plan->events[0] : NULL;
		note_add(json, "no kernel can be counted: %s",
		         first && !first->backend ? first->reason : "none of these counters belongs to a GPU's kernels");
		return;
	}
	const struct cupti_chip *chip =
		gpu_index(trial->request->device, &index, &err) == 0 ? cupti_chip_here(index, reason) : NULL;
	struct gpu_work *work = chip ? run_watched(arena, trial, metrics, &err) : NULL;
	if (work)
		gpu_counts_add(json, work, plan, chip);
	else
		note_add(json, "the kernels were not counted: %s", chip ? err.what : reason);
	gpu_work_free(work);
}

json_t *program_gpu_run(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan) {
	struct err err = {0};
	struct gpu_work *work = run_watched(arena, trial, NULL, &err);
	if (!work)
		return json_pack("{s:[s, s*]}", "notes", err.what, err.hint[0] ? err.hint : NULL);
	json_t *json = gpu_work_json(work);
	json_object_set_new(json, "seconds", json_real(trial->run.seconds));
	if (plan && work->processes > 0 && !trial->abandoned)
		count(arena, trial, plan, json);
	gpu_work_free(work);
	return json;
}
