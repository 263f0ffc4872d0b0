/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The meaning of srun's last messages and of scontrol's records. The texts were written by Slurm 22.05.8. */
#include <string.h>

#include "tests/tap.h"
#include "tuner/fleet/launcher.h"

static const struct {
	const char *what, *said, *reason; /* NULL: the trial is to blame */
} ends[] = {
	{"scancel",
     "srun: Job step aborted: Waiting up to 7 seconds for job step to finish.\n"
     "slurmstepd-n1: error: *** STEP 12.0 ON n1 CANCELLED AT 2026-11-21T21:43:15 ***\n"
     "srun: error: n1: task 0: Terminated\n",
     "its job was cancelled"},
	{"a step's scancel",
     "slurmstepd-n1: error: *** STEP 13.0 ON n1 CANCELLED AT 2026-11-21T21:43:16 ***\n"
     "srun: Job step aborted: Waiting up to 7 seconds for job step to finish.\nsrun: error: n1: task 0: Killed\n",
     "its job was cancelled"},
	{"a time limit",
     "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n"
     "slurmstepd: error: *** STEP 9.0 ON n1 CANCELLED AT 2026-11-21T21:43:16 DUE TO TIME LIMIT ***\n",
     "its job reached its time limit"},
	{"preemption", "slurmstepd: error: *** STEP 9.0 ON n1 CANCELLED AT 2026-11-21T21:43:16 DUE TO PREEMPTION ***\n",
     "its job was preempted"},
	{"a node that fails", "srun: error: Node failure on n2\nsrun: error: Node failure on n2\n", "its node failed"},
	{"a crash", "srun: error: n1: task 0: Segmentation fault\n", NULL},
	{"a crash that srun reports",
     "sweetspot-worker: SIGSEGV (segmentation fault) in kernel fw\nsrun: error: n1: task 0: Segmentation fault\n",
     NULL},
	{"a crash that srun cleaned up after",
     "srun: error: n1: task 0: Segmentation fault\nsrun: Force Terminated StepId=12.0\n", NULL},
	{"a step that got a signal from scancel",
     "slurmstepd-n1: error: *** STEP 3.0 ON n1 CANCELLED AT 2026-11-22T01:24:14 ***\n"
     "srun: error: n1: task 0: Terminated\nsrun: Force Terminated StepId=3.0\n",
     "its job was cancelled"},
	{"an exit", "srun: error: n1: task 0: Exited with exit code 1\n", NULL},
	{"memory that ran out",
     "slurmstepd: error: Detected 1 oom_kill event in StepId=9.0. Some of the step tasks have been OOM Killed.\n"
     "srun: error: n1: task 0: Out Of Memory\n",
     NULL},
	{"a queue", "srun: job 5 queued and waiting for resources\nsrun: job 5 has been allocated resources\n", NULL},
	{"a program that prints such lines", "*** STEP 1.0 ON n1 CANCELLED AT 2026 ***\nNode failure on n2\n", NULL},
	{"nothing", "", NULL},
};

static void test_said(void) {
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		char reason[160] = "";
		bool lost = slurm_end_said(ends[i].said, reason, sizeof reason);
		ok(lost == (ends[i].reason != NULL) && (!lost || strcmp(reason, ends[i].reason) == 0), "%s: %s", ends[i].what,
		   lost ? reason : "the trial's own");
	}
}

static void test_records(void) {
	char reason[160] = "";
	ok(slurm_end_job("JobId=16 JobName=x JobState=NODE_FAIL Reason=NodeDown Dependency=(null)\n", reason,
	                 sizeof reason),
	   "a job whose node failed: %s", reason);
	ok(slurm_end_job("JobId=16 JobState=PREEMPTED Reason=None\n", reason, sizeof reason) &&
	       strcmp(reason, "its job was preempted") == 0,
	   "a job that was preempted");
	ok(!slurm_end_job("JobId=16 JobState=RUNNING Reason=None Comment=CANCELLED\n", reason, sizeof reason) &&
	       !slurm_end_job("JobId=16 JobState=FAILED Reason=NonZeroExitCode\n", reason, sizeof reason) &&
	       !slurm_end_job("slurm_load_jobs error: Invalid job id specified\n", reason, sizeof reason),
	   "a job that runs, failed by itself, or is unknown has no reason of Slurm's");
	ok(slurm_end_node("NodeName=n1 Arch=x86_64 State=DOWN*+DRAIN ThreadsPerCore=1\n", reason, sizeof reason) &&
	       slurm_end_node("NodeName=n1 State=ALLOCATED* \n", reason, sizeof reason),
	   "nodes that do not respond: %s", reason);
	ok(!slurm_end_node("NodeName=n1 OS=Linux State=ALLOCATED ThreadsPerCore=1\n", reason, sizeof reason),
	   "a node that responds has no reason of Slurm's");
}

static void test_lost(void) {
	struct worker_loss loss = {0};
	const struct worker_end early = {.said = "srun: error: Unable to allocate resources: Invalid partition name\n"};
	ok(slurm_end_lost(&early, &loss) && *loss.reason && loss.outside,
	   "a worker that never came up is not the fault of a trial: %s", loss.reason);
	const struct worker_end full = {.said = "sweetspot-worker: error: cannot fork: again\n  hint: too many processes\n"
	                                        "srun: error: n1: task 0: Exited with exit code 1\n"};
	loss = (struct worker_loss){0};
	ok(slurm_end_lost(&full, &loss) && strcmp(loss.reason, "the worker did not start: cannot fork: again") == 0,
	   "the worker's own error is the reason: %s", loss.reason);
	json_t *machine = json_pack("{s:s,s:s}", "node", "-", "job", "-"); /* without names scontrol is not asked */
	struct worker_end end = {.said = "srun: error: n1: task 0: Killed\nsrun: Force Terminated StepId=14.0\n",
	                         .machine = machine};
	ok(slurm_end_lost(&end, &loss) && *loss.reason && !loss.outside, "a killed trial is repeated, with a reason: %s",
	   loss.reason);
	end.machine = NULL;
	ok(slurm_end_lost(&end, &loss) && strstr(loss.reason, "killed") && loss.outside,
	   "a trial that was killed before any answer is repeated: %s", loss.reason);
	end.machine = machine;
	end.said = "slurmstepd-n1: error: *** STEP 12.0 ON n1 CANCELLED AT 2026-11-21T21:43:15 ***\n"
			   "srun: error: n1: task 0: Terminated\n";
	ok(slurm_end_lost(&end, &loss) && loss.outside, "a trial that Slurm cancelled is repeated: %s", loss.reason);
	end.said = "slurmstepd: error: Detected 1 oom_kill event in StepId=9.0.\nsrun: error: n1: task 0: Killed\n";
	ok(!slurm_end_lost(&end, &loss), "running out of memory is a result");
	end.said = "task 0: Killed\nsrun: error: n1: task 0: Exited with exit code 1\n";
	ok(!slurm_end_lost(&end, &loss), "a program that prints lines like srun's is a result");
	json_decref(machine);
}

int main(void) {
	test_said();
	test_records();
	test_lost();
	return tap_done();
}
