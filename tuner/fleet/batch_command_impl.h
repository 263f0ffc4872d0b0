/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the user commands of batch systems with a deadline. */
#ifndef TUNER_FLEET_BATCH_COMMAND_IMPL_H
#define TUNER_FLEET_BATCH_COMMAND_IMPL_H
#include <stdbool.h>
#include <stddef.h>

/* Returns the output, at most 64 KiB; the caller frees it. *status is as in wait(2), or -1 if the command could not be
 * run or took longer than `seconds`. `said` (may be NULL) gets the last line of its stderr. */
char *batch_command(const char *const *argv, double seconds, int *status, char *said, size_t size);
/* Is it in PATH? */
bool batch_command_found(const char *program);

#endif
