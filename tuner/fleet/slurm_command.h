/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slurm's commands for users, asked with a deadline. */
#ifndef TUNER_FLEET_SLURM_COMMAND_H
#define TUNER_FLEET_SLURM_COMMAND_H
#include <stddef.h>

/* What it wrote, at most 64 KiB; *status: as of wait(2), -1 where it can't be run, or gave up after `seconds`. `said`
 * (may be NULL) gets the last line of its stderr. Caller frees. */
char *slurm_command(const char *const *argv, double seconds, int *status, char *said, size_t size);

#endif
