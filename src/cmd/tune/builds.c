/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/tune/builds.h"

#include <sched.h>

const struct opt tune_build_options[] = {
	OPT_GROUP("Building"),
	{"jobs", 'j', "N", "builds at the same time (all processors)", 0},
	{"build-timeout", 0, "SECONDS", "longest build (10 times the median)", 0},
	{"rebuild", 0, NULL, "build again what earlier sessions have built", 0},
	{0},
};

/* The processors that this process may use. */
static unsigned processors(void) {
	cpu_set_t set;
	CPU_ZERO(&set);
	int count = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
	return count > 0 ? (unsigned)count : 1;
}

/* Nothing else runs while something is measured on a CPU, so that builds have all processors between the measurements.
 * A GPU is measured undisturbed if one processor is left to the process that drives it. */
int tune_builds_begin(struct tuning *t, const struct tune_task *task, struct err *err) {
	struct ui *ui = app_ui(t->app);
	bool beside = task->device;
	unsigned all = processors(), most = beside && all > 1 ? all - 1 : all;
	if (!task->builder)
		return 0;
	unsigned jobs = t->what->settings.jobs ? (unsigned)t->what->settings.jobs : most;
	if (builder_help(task->builder, jobs, beside, err))
		return -1;
	if (jobs == 1)
		ui_step(ui, "builds: one by one");
	else
		ui_step(ui, "builds: up to %u at the same time, %s", jobs,
		        beside ? "beside the measurements, because these need one processor"
		               : "between the measurements, because they would disturb these");
	return 0;
}
