/* SPDX-License-Identifier: BSD-3-Clause */
/* A run of a program for its regions. */
#ifndef WORKER_REGIONS_RUN_H
#define WORKER_REGIONS_RUN_H
#include "src/worker/program_trial.h"
#include "src/worker/regions.h"

/* Where they are asked for and the trial went well: runs it once more, and sets "regions" if it has any, and "regions_notes"
 * if something was lost. */
void regions_run(struct arena *arena, struct program_trial *trial, json_t *reply);

#endif
