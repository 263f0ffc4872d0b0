/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verbs of `sweetspot profile` that have a file of their own. */
#ifndef SRC_CMD_PROFILE_VERB_IMPL_H
#define SRC_CMD_PROFILE_VERB_IMPL_H
#include "src/app/cmd.h"

/* Like the run of a command; word 0 is the verb. */
typedef int profile_run(struct app *app, const struct opt_args *args, struct err *err);
profile_run profile_show, profile_diff_run, profile_verify, profile_select_run;
#endif
