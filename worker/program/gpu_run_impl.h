/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of a program that watch its kernels and copies on GPUs. */
#ifndef WORKER_PROGRAM_GPU_RUN_IMPL_H
#define WORKER_PROGRAM_GPU_RUN_IMPL_H
#include "worker/program/runner_trial_impl.h"
#endif
