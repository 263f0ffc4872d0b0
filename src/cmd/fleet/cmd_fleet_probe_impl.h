/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs Slurm commands and reads their answers, with limits of time and size. Several can run at once. */
#ifndef SRC_CMD_FLEET_CMD_FLEET_PROBE_IMPL_H
#define SRC_CMD_FLEET_CMD_FLEET_PROBE_IMPL_H

#include "base/proc/proc.h"

struct fleet_answer {
	char *text;
	int status; /* as of wait(2) */
	bool late, large, stopped;
	char why[200]; /* why it failed, from its own diagnostics if possible; empty if it succeeded */
};

/* Starts the command and finishes it. */
int fleet_ask(const char *const *argv, double seconds, const volatile int *stop, struct fleet_answer *answer,
              struct err *err);
void fleet_answer_clear(struct fleet_answer *answer);
#endif
