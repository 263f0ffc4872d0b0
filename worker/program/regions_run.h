/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of a program, from a run that counts anyway or from one of its own. */
#ifndef WORKER_PROGRAM_REGIONS_RUN_H
#define WORKER_PROGRAM_REGIONS_RUN_H
#include "counters/plan/plan.h"
#include "worker/program/trial.h"
#include "worker/program/regions.h"

struct regions_run {
	struct regions regions;
	char **environment; /* environment of that run; NULL if regions are unavailable */
	struct err err;     /* the reason */
};

/* The events are those that the plan counts through perf, or a few that every kernel counts if there are none; plan
 * may be NULL. */
void regions_run_open(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan,
                      struct regions_run *run);
/* Makes a run of its own if none was made, and sets "regions" if there are any, and "regions_notes" if something was
 * lost. */
void regions_run_close(struct program_trial *trial, struct regions_run *run, bool done, json_t *reply);

#endif
