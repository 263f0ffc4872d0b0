/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The option --baseline of `replay`: a configuration of a recorded space. */
#ifndef SRC_CMD_REPLAY_BASELINE_H
#define SRC_CMD_REPLAY_BASELINE_H
#include "tuner/record/record.h"

/* Reads "P=V ..", separated by spaces or commas. ERR_USAGE if the space does not have such a configuration. */
int replay_baseline_read(const char *words, const struct record *record, uint64_t *index, struct err *err);

#endif
