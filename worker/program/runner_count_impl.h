/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts a program and its descendants, in runs of their own after the samples. */
#ifndef WORKER_PROGRAM_RUNNER_COUNT_IMPL_H
#define WORKER_PROGRAM_RUNNER_COUNT_IMPL_H
#include "worker/count/counting.h"
#include "worker/program/runner_trial_impl.h"

/* One run for each batch of events that can be counted together. A run that fails leaves its events unavailable; the
 * trial keeps its outcome unless it is abandoned. first: environment of the first of these runs; NULL: the usual
 * one. */
void program_count(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan, char **first,
                   struct counting *counting);
#endif
