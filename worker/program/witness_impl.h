/* SPDX-License-Identifier: BSD-3-Clause */
/* Records what runs did besides taking time, for the tuner, which compares it with what other runs did. */
#ifndef WORKER_PROGRAM_WITNESS_IMPL_H
#define WORKER_PROGRAM_WITNESS_IMPL_H

#include "worker/program/runner_run_impl.h"

/* Adds {"runs", "output", "errors", "left", "files", "processor_s"} to the list, or counts a run that did the same as
 * an earlier one. hash: of its stdout. files: taken over. */
void program_witness_add(json_t *list, const struct program_run *run, const struct program_output *output,
                         const char *hash, json_t *files);
#endif
