/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of a program that watch its kernels and copies on GPUs. */
#pragma once
#include "worker/program/runner_trial_impl.h"

/* As gpu_work_json; without the run, it has only notes: the reason, and a remedy if there is one. plan: what to count
 * of each kernel, in a further run; NULL: nothing. New reference. */
json_t *program_gpu_run(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan);
