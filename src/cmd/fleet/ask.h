/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands of Slurm that are asked something: bounded in time and size, several at once, and ended in order. */
#ifndef SRC_CMD_FLEET_ASK_H
#define SRC_CMD_FLEET_ASK_H
#include <stdbool.h>

#include "src/base/proc/proc.h"

struct fleet_answer {
	char *text;
	int status; /* as of wait(2) */
	bool late, large, stopped;
	char why[200]; /* what went wrong, in its own words where it has some; empty: nothing */
};

/* An srun that is told to end cancels its job. */
struct proc *fleet_ask_start(const char *const *argv, struct err *err);
/* Waits for its end, or ends it `seconds` after `begun` (sys_now), or as soon as *stop is set (may be NULL). */
void fleet_ask_take(struct proc *proc, double begun, double seconds, const volatile int *stop,
                    struct fleet_answer *answer);
/* Both. */
int fleet_ask(const char *const *argv, double seconds, const volatile int *stop, struct fleet_answer *answer,
              struct err *err);
void fleet_answer_clear(struct fleet_answer *answer);

#endif
