/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --baseline of `replay`: a configuration of a recorded space, as words. */
#ifndef SRC_CMD_REPLAY_BASELINE_H
#define SRC_CMD_REPLAY_BASELINE_H
#include "tuner/record/record.h"

/* "P=V ..", parted by spaces or commas. ERR_USAGE where the file has no such configuration. */
int replay_baseline_read(const char *words, const struct record *record, uint64_t *index, struct err *err);

#endif
