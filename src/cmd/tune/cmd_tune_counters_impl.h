/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counters of a session, which are decided before its first trial. */
#ifndef SRC_CMD_TUNE_CMD_TUNE_COUNTERS_IMPL_H
#define SRC_CMD_TUNE_CMD_TUNE_COUNTERS_IMPL_H
#include "src/cmd/tune/session_impl.h"

/* Sets the counters of each item. ERR_USAGE for an unknown name; ERR_UNAVAILABLE if none of the requested counters is
 * available for any item. Counters that nobody requested are dropped if they are not available. */
int tune_counters_check(const struct tune_session *session, struct err *err);
/* Records in a result whether its counters could have come from hardware, and which other sources there are. */
void tune_counters_annotate(struct app *app, json_t *result);
#endif
