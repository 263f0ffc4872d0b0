/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of this machine, which `sweetspot` alone shows: what it is, what has been tuned, which results are
 * outdated, and what to do next. It does not start a worker, because it must answer at once. */
#ifndef SRC_CMD_STATUS_STATE_H
#define SRC_CMD_STATUS_STATE_H
#include <jansson.h>

#include "src/app/cmd.h"

extern const struct cmd cmd_state;

/* {"machine": as `machine --json`, with "memory_bytes" and "gpus": [names]}. New reference. */
json_t *state_machine(struct app *app, struct err *err);
/* Adds to the state, which has {"machine": ..}: "store": {"path", "state": "absent"|"ok"|"unusable", "error", "hint"},
 * "tuned" (the newest 100 of each build), "unfinished", "elsewhere" (number of searches of other machines), and
 * "measuring" (whether another process is measuring). A problem with the store becomes part of the state. path: NULL
 * for the default. */
void state_store(json_t *state, const char *path);
void state_ceilings(json_t *state); /* "ceilings": {"measured", "age_s"} */
/* Adds "next": [{"command", "why"}] with at most two items. store: the argument of --store, or NULL. */
void state_next(json_t *state, const char *store);
void state_print(struct ui *ui, const json_t *state, FILE *out);

#endif
