/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/fleet/slurm_jobs.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "src/base/sys.h"
#include "tuner/fleet/batch_command.h"

static const double ASK_SECONDS = 10, GONE_SECONDS = 20, PATIENCE_SECONDS = 5;

void slurm_jobs_name(char name[SLURM_JOBS_NAME]) {
	uint32_t drawn = (uint32_t)getpid();
	if (getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) < 0)
		drawn ^= (uint32_t)(sys_wall() * 1e6);
	snprintf(name, SLURM_JOBS_NAME, "sweetspot-%08x", (unsigned)drawn);
}

static bool jobs_left(const char *name) {
	const char *const argv[] = {"squeue", "-h", "--me", "-o", "%i", "-n", name, NULL};
	int status;
	char *text = batch_command(argv, ASK_SECONDS, &status, NULL, 0);
	bool left = status == 0 && *text;
	free(text);
	return left;
}

static void jobs_cancel(const char *name) {
	const char *const argv[] = {"scancel", "--quiet", "--me", "-n", name, NULL};
	int status;
	free(batch_command(argv, ASK_SECONDS, &status, NULL, 0));
}

/* Usually there is nothing to cancel: an srun that gets SIGTERM cancels its job itself, and one that was killed leaves
 * that to a child process. */
void slurm_jobs_end(const char *name) {
	double begun = sys_now();
	bool cancelled = false;
	for (long nap = 100; jobs_left(name) && sys_now() - begun < GONE_SECONDS; nap = nap < 1000 ? 2 * nap : nap) {
		if (!cancelled && sys_now() - begun > PATIENCE_SECONDS) {
			jobs_cancel(name);
			cancelled = true;
		}
		nanosleep(&(struct timespec){.tv_sec = nap / 1000, .tv_nsec = nap % 1000 * 1000000}, NULL);
	}
}
