/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How an srun came to its end: by its own words, and by what the controller knows of the job and the node. */
#ifndef TUNER_FLEET_SLURM_END_H
#define TUNER_FLEET_SLURM_END_H
#include <stdbool.h>
#include <stddef.h>

#include "tuner/worker/worker.h"

/* By the words alone: does its stderr say that the job or its node went away? */
bool slurm_end_said(const char *said, char *reason, size_t size);
/* By a record of `scontrol show job -o`, and one of `scontrol show node -o`. */
bool slurm_end_job(const char *record, char *reason, size_t size);
bool slurm_end_node(const char *record, char *reason, size_t size);
/* By the words: was it killed, and by whom is not known? What it ran may have made the system do it. */
bool slurm_end_killed(const char *said, char *reason, size_t size);
/* All of that, in this order. */
bool slurm_end_lost(const struct worker_end *end, struct worker_loss *loss);

#endif
