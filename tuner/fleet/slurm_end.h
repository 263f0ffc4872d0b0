/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classifies the end of an srun by its messages and by what the controller knows about the job and the node. */
#ifndef TUNER_FLEET_SLURM_END_H
#define TUNER_FLEET_SLURM_END_H
#include <stdbool.h>
#include <stddef.h>

#include "tuner/worker/worker.h"

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
