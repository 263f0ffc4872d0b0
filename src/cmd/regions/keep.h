/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps the result of `tune --regions`, which `apply --regions` then uses. */
#ifndef SRC_CMD_REGIONS_KEEP_H
#define SRC_CMD_REGIONS_KEEP_H
#include <jansson.h>

#include "src/cmd/regions/file.h"
#include "src/cmd/regions/target.h"

/* chosen: the table of the result, which is moved to its place. A result that proves nothing does not replace settings
 * of the same build that were proven; people are told. */
int regions_keep(struct app *app, const struct regions_files *files, const struct regions_target *target,
                 const char *chosen, json_t *result, struct err *err);

#endif
