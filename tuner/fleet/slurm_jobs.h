/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All jobs of one run share a name, by which they are found again. */
#ifndef TUNER_FLEET_SLURM_JOBS_H
#define TUNER_FLEET_SLURM_JOBS_H
#include "tuner/fleet/launcher.h"

/* Writes "sweetspot-" and a random number. */
void slurm_jobs_name(char name[LAUNCH_NAME]);
/* Waits until Slurm lists no more jobs of that name, and cancels those that stay. -1: some may run on, because Slurm
 * does not answer or does not end them. */
int slurm_jobs_end(const char *name, struct err *err);

/* Classifies the end of an srun by its messages and by what the controller knows about the job and the node. */
/* Does its stderr say that the job or its node went away? */
bool slurm_end_said(const char *said, char *reason, size_t size);
/* Does a record of `scontrol show job -o`, or of `scontrol show node -o`, say so? */
bool slurm_end_job(const char *record, char *reason, size_t size);
bool slurm_end_node(const char *record, char *reason, size_t size);
/* Does its stderr say that the worker was killed, without a cause? The trial itself may have made the system do it. */
bool slurm_end_killed(const char *said, char *reason, size_t size);
/* Applies all of these in this order. */
bool slurm_end_lost(const struct worker_end *end, struct worker_loss *loss);
#endif
