/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the commands of this room. */
#ifndef SRC_CMD_REGIONS_COMMAND_H
#define SRC_CMD_REGIONS_COMMAND_H
#include "src/app/cmd.h"
#include "src/cmd/regions/target.h"
#include "tuner/regions/regions.h"

/* The options of a program that make sense here; counters and table are left out. */
int regions_options_read(struct app *app, const struct opt_args *args, const struct regions_target *target,
                         struct regions_options *options, struct err *err);

/* The first option of the tables that was given and is not allowed; NULL: none. */
const char *regions_option_other(const struct opt_args *args, const struct opt *const *tables,
                                 const char *const *allowed);
int regions_options_check(const struct opt_args *args, const struct opt *const *tables, struct err *err);

#endif
