/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `tune --export`: every trial of the searches that have just ended. */
#ifndef SRC_CMD_TUNE_CMD_TUNE_TRIALS_IMPL_H
#define SRC_CMD_TUNE_CMD_TUNE_TRIALS_IMPL_H
#include "src/show/measured.h"
#include "tuner/store/store.h"

/* results: as in `tune --json`. */
int tune_trials_export(struct store *store, const json_t *results, enum measured_format format, struct err *err);
#endif
