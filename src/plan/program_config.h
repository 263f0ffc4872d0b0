/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A configuration of a program in words. */
#ifndef SRC_PLAN_PROGRAM_CONFIG_H
#define SRC_PLAN_PROGRAM_CONFIG_H
#include <jansson.h>

#include "src/base/err.h"
#include "tuner/space/space.h"

/* "B=16 schedule=dynamic", split as a shell would, the baseline's values for the rest; or an object of JSON, which is
 * taken as a whole. Words are among those of the space, numbers any. New reference; NULL and ERR_USAGE. */
json_t *program_config_read(const struct space *space, const json_t *baseline, const char *text, struct err *err);

#endif
