/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pools of local workers, for tests. */
#ifndef TESTS_TUNER_FLEET_RIG_H
#define TESTS_TUNER_FLEET_RIG_H
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/tap.h"
#include "tuner/fleet/pool_workers.h"

struct rig {
	struct launcher launcher; /* the local launcher, modified by the test */
	struct launched *launched;
	char *worker;
	struct pool_workers *workers;
	struct pool *pool;
	struct err err;
};

static double rig_answer_seconds; /* the launcher's limit for the first answer; 0: none */

static char *rig_path(const char *folder, const char *name) {
	const char *top = getenv(folder);
	return mem_printf("%s/%s", top ? top : ".", name);
}

static int rig_work_open(void *ctx, struct worker *worker, void **state, struct runner *runner, struct err *err) {
	(void)ctx;
	(void)state;
	(void)err;
	*runner = worker_runner(worker);
	return 0;
}

static const struct pool_work rig_work = {.open = rig_work_open};

/* SIGKILL always means that the node failed; the cause of SIGTERM is unknown. */
__attribute__((unused)) static bool rig_lost(const struct worker_end *end, struct worker_loss *loss) {
	int number = !end->silent && WIFSIGNALED(end->status) ? WTERMSIG(end->status) : 0;
	if (number == SIGKILL)
		*loss = (struct worker_loss){"its node failed", .outside = true};
	else if (number == SIGTERM)
		*loss = (struct worker_loss){"its worker was killed", .outside = false};
	return *loss->reason;
}

/* `more` is copied and completed with what the rig knows. Takes ownership of the path of the worker. */
static void rig_open(struct rig *rig, char *worker, size_t count, const struct pool_workers_options *more,
                     bool fragile) {
	struct pool_workers_options options = *more;
	*rig = (struct rig){.launcher = *launcher_find("local"), .worker = worker};
	const struct launcher_settings settings = {.worker = worker, .nodes = count};
	rig->launcher.answer_seconds = rig_answer_seconds;
	if (fragile)
		rig->launcher.lost = rig_lost;
	rig->launched = launcher_open(&rig->launcher, &settings, &rig->err);
	options.launcher = &rig->launcher;
	options.launched = rig->launched;
	options.worker = worker;
	rig->workers = pool_workers_new(&options, &rig->err);
	pool_workers_use(rig->workers, &rig_work);
	rig->pool = pool_workers_pool(rig->workers);
}

static void rig_close(struct rig *rig) {
	pool_workers_free(rig->workers);
	launched_free(rig->launched);
	free(rig->worker);
	/* Helpers of a fake worker end with it and are then waited for by this process. */
	pid_t got = 1;
	for (int i = 0; i < 100 && got >= 0; i++)
		if ((got = waitpid(-1, NULL, WNOHANG)) == 0)
			usleep(50000);
	ok(got < 0, "no process is left behind");
}

/* The first idle node; -1: there is none. */
static int rig_idle(const struct rig *rig) {
	for (size_t i = 0; i < rig->pool->count; i++)
		if (rig->pool->state(rig->pool->ctx, i) == POOL_IDLE)
			return (int)i;
	return -1;
}

#endif
