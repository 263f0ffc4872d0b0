/* SPDX-License-Identifier: BSD-3-Clause */
/* Resource usage of a trial's runs, each figure the median over the runs. */
#ifndef WORKER_PROGRAM_USAGE_IMPL_H
#define WORKER_PROGRAM_USAGE_IMPL_H

#include "worker/program/program_impl.h"

struct program_usage;

struct program_usage *program_usage_new(struct arena *arena, size_t runs);
/* steal_s: seconds that a hypervisor took meanwhile. */
void program_usage_add(struct program_usage *usage, const struct program_run *run, double steal_s);
/* Sets "usage", "usage_reasons" for figures that are null, and "noise". */
void program_usage_set(const struct program_usage *usage, json_t *reply);
#endif
