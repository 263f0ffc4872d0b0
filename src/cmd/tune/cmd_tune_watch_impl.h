/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `tune --watch FILE.html`: a page that shows the search while it runs and reloads itself, without a server. It is
 * written between trials and at most every two seconds, so that it does not disturb the measurements. */
#ifndef SRC_CMD_TUNE_CMD_TUNE_WATCH_IMPL_H
#define SRC_CMD_TUNE_CMD_TUNE_WATCH_IMPL_H

#include "base/opt.h"
#include "tuner/tune/tune.h"

extern const struct opt watch_options[]; /* --watch */

struct watch;
/* path: NULL for none; all functions accept a NULL watch. Writes the first page, so that a wrong path is known at once.
 */
struct watch *watch_new(const char *path, struct err *err);
void watch_free(struct watch *watch);
/* A new search begins with the first progress of another name. */
void watch_progress(struct watch *watch, const struct tune_progress *progress);
/* The last page, with the results, does not reload itself. error: why it ended early, or NULL. */
int watch_end(struct watch *watch, const json_t *results, const char *error, struct err *err);
#endif
