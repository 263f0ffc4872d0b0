/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of a program that watch its kernels and copies on GPUs. */
#pragma once
#include "worker/program/runner_trial_impl.h"
