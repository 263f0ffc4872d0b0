/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many builds run at the same time, and when. */
#ifndef SRC_CMD_TUNE_BUILDS_IMPL_H
#define SRC_CMD_TUNE_BUILDS_IMPL_H
#include "src/cmd/tune/session_impl.h"

extern const struct opt tune_build_options[]; /* --jobs --rebuild */
/* Starts the helpers that build for this task, if anything is built. */
int tune_builds_begin(struct tuning *t, const struct tune_task *task, struct err *err);
#endif
