/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a failed program's output, as lines for people. */
#ifndef WORKER_PROGRAM_SAID_IMPL_H
#define WORKER_PROGRAM_SAID_IMPL_H

#include "worker/program/runner_trial_impl.h"

/* The last lines of stdout, as far as it was read, followed by those of stderr: an array of cleaned lines, a new
 * reference. A request with `show` gets many more of them. */
json_t *program_said(const struct program_trial *trial);
#endif
