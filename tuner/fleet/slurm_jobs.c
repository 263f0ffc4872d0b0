/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/fleet/slurm_jobs.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"
#include "tuner/fleet/batch_command.h"

static const double ASK_SECONDS = 10, GONE_SECONDS = 20, PATIENCE_SECONDS = 5;

void slurm_jobs_name(char name[SLURM_JOBS_NAME]) {
	uint32_t drawn = (uint32_t)getpid();
	if (getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) < 0)
		drawn ^= (uint32_t)(sys_wall() * 1e6);
	snprintf(name, SLURM_JOBS_NAME, "sweetspot-%08x", (unsigned)drawn);
}

enum jobs { JOBS_GONE, JOBS_ENDING, JOBS_LEFT, JOBS_UNKNOWN };

/* "R", "PD", .., one per line; "CG" is a job that ends. */
static enum jobs jobs_look(const char *name) {
	const char *const argv[] = {"squeue", "-h", "--me", "-o", "%t", "-n", name, NULL};
	int status;
	char *text = batch_command(argv, ASK_SECONDS, &status, NULL, 0), *rest = text;
	enum jobs found = JOBS_GONE;
	for (char *state; (state = strsep(&rest, "\n"));)
		if (*state && found != JOBS_LEFT)
			found = strcmp(state, "CG") == 0 ? JOBS_ENDING : JOBS_LEFT;
	free(text);
	return status == 0 ? found : JOBS_UNKNOWN;
}

/* "ReqNodeNotAvail, UnavailableNodes:n[1-2]", as squeue(1) has it; "None" where it has not been looked at. */
void slurm_jobs_queued(const char *name, char *why, size_t size) {
	const char *const argv[] = {"squeue", "-h", "--me", "-t", "PD", "-o", "%r", "-n", name, NULL};
	int status;
	char *text = batch_command(argv, ASK_SECONDS, &status, NULL, 0);
	text[strcspn(text, "\n")] = '\0';
	bool known = status == 0 && *text && strcmp(text, "None") != 0;
	snprintf(why, size, "%s%.150s", known ? "Slurm says " : "", known ? text : "");
	free(text);
}

static void jobs_cancel(const char *name) {
	const char *const argv[] = {"scancel", "--quiet", "--me", "-n", name, NULL};
	int status;
	free(batch_command(argv, ASK_SECONDS, &status, NULL, 0));
}

/* squeue asks again and again by itself before it gives up. */
static bool is_over(enum jobs jobs, double seconds) {
	return jobs == JOBS_GONE || seconds > (jobs == JOBS_UNKNOWN ? PATIENCE_SECONDS : GONE_SECONDS);
}

/* Usually there is nothing to cancel: an srun that gets SIGTERM cancels its job itself, and one that was killed leaves
 * that to a child process. */
int slurm_jobs_end(const char *name, struct err *err) {
	double begun = sys_now();
	bool cancelled = false;
	enum jobs jobs;
	for (long nap = 100; !is_over(jobs = jobs_look(name), sys_now() - begun); nap = nap < 1000 ? 2 * nap : nap) {
		if (!cancelled && sys_now() - begun > PATIENCE_SECONDS) {
			jobs_cancel(name);
			cancelled = true;
		}
		nanosleep(&(struct timespec){.tv_sec = nap / 1000, .tv_nsec = nap % 1000 * 1000000}, NULL);
	}
	if (jobs == JOBS_GONE || jobs == JOBS_ENDING)
		return 0;
	err_set(err, ERR_UNAVAILABLE, NULL, "jobs of this run may still hold nodes, because %s",
	        jobs == JOBS_UNKNOWN ? "Slurm does not answer" : "Slurm has not ended them yet");
	return err_hint(err, "`squeue -n %s` lists them and `scancel -n %s` ends them", name, name);
}
