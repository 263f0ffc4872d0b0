/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a session counts: decided before its first trial. */
#ifndef SRC_CMD_TUNE_COUNTERS_H
#define SRC_CMD_TUNE_COUNTERS_H
#include "src/cmd/tune/session.h"

/* Sets what each item counts. ERR_USAGE: a word that nobody knows. ERR_UNAVAILABLE: none of what was asked for can be
 * counted for any of them. What nobody asked for is left out where it can't be had. */
int tune_counters_check(const struct tune_session *session, struct err *err);
/* Says of a result whether its counters could come from hardware, and what else there is. */
void tune_counters_annotate(struct app *app, json_t *result);

#endif
