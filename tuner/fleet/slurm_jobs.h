/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All jobs of one run share a name, by which they are found again. */
#ifndef TUNER_FLEET_SLURM_JOBS_H
#define TUNER_FLEET_SLURM_JOBS_H
#include <stddef.h>

#include "base/err.h"

enum { SLURM_JOBS_NAME = 24 };
/* Writes "sweetspot-" and a random number. */
void slurm_jobs_name(char name[SLURM_JOBS_NAME]);
/* Why its jobs do not run yet, as Slurm says it; "": unknown. */
void slurm_jobs_queued(const char *name, char *why, size_t size);
/* Waits until Slurm lists no more jobs of that name, and cancels those that stay. -1: some may run on, because Slurm
 * does not answer or does not end them. */
int slurm_jobs_end(const char *name, struct err *err);

#endif
