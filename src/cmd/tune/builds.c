/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/tune/tune_impl.h"

#include <sched.h>

enum { LOGIN_JOBS_MAX = 4 };

const struct opt tune_build_options[] = {
	OPT_GROUP("Building"),
	{"jobs", 'j', "N", "builds to run at the same time (all processors)", 0},
	{"build-timeout", 0, "SECONDS", "time limit of a build (10 times the median)", 0},
	{"rebuild", 0, NULL, "do not reuse builds of earlier sessions", 0},
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
 * A GPU is measured undisturbed if one processor is left to the process that drives it. If others measure, this host is
 * perhaps a login node, where everybody works. */
static unsigned jobs_of(const struct tuning *t, bool beside) {
	unsigned all = processors(), used = 0;
	if (t->what->settings.jobs)
		return (unsigned)t->what->settings.jobs;
	if (!tune_nodes_here(t->what->nodes))
		return all < LOGIN_JOBS_MAX ? all : LOGIN_JOBS_MAX;
	if (beside)
		used = t->what->nodes ? (unsigned)tune_nodes_pool(t->what->nodes)->count : 1;
	return all > used ? all - used : 1;
}

int tune_builds_begin(struct tuning *t, const struct tune_task *task, struct err *err) {
	struct ui *ui = app_ui(t->app);
	bool beside = task->device;
	if (!task->builder)
		return 0;
	unsigned jobs = jobs_of(t, beside);
	if (builder_help(task->builder, jobs, beside, err))
		return -1;
	if (jobs == 1)
		ui_step(ui, t->what->nodes ? "builds: by the nodes" : "builds: one by one");
	else
		ui_step(ui, "builds: up to %u at the same time, %s", jobs,
		        !tune_nodes_here(t->what->nodes) ? "on this host for all nodes"
		        : beside                         ? "beside the measurements, because these need one processor"
		                                         : "between the measurements, because they would disturb these");
	return 0;
}
