/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses a configuration of a program. */
#ifndef SRC_PLAN_PROGRAM_CONFIG_H
#define SRC_PLAN_PROGRAM_CONFIG_H

#include "tuner/space/space.h"

/* Parses "B=16 schedule=dynamic", split as in a shell, and takes the rest from the baseline; or a JSON object, to which
 * nothing is added. Words must be in the space, numbers need not. New reference; NULL with ERR_USAGE. */
json_t *program_config_read(const struct space *space, const json_t *baseline, const char *text, struct err *err);
#endif
