/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs by the name that a run gives to all of its own. */
#ifndef TUNER_FLEET_SLURM_JOBS_H
#define TUNER_FLEET_SLURM_JOBS_H
#include <stddef.h>

enum { SLURM_JOBS_NAME = 24 };
/* "sweetspot-" and a random number. */
void slurm_jobs_name(char name[SLURM_JOBS_NAME]);
/* Waits until Slurm knows no job of that name any more, and cancels what stays. */
void slurm_jobs_end(const char *name);

#endif
