/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of this machine, which `sweetspot` alone shows: what is known of it, what is not any more, and what to do
 * next. No worker is started for it. */
#ifndef SRC_CMD_STATUS_STATE_H
#define SRC_CMD_STATUS_STATE_H
#include <jansson.h>

#include "src/app/cmd.h"

extern const struct cmd cmd_state;

/* {"machine": as `machine --json`, with "memory_bytes" and "gpus": [names]}. New reference. */
json_t *state_machine(struct app *app, struct err *err);
/* Adds to the state {"machine": ..}: "store": {"path", "state": "absent"|"ok"|"unusable", "error", "hint"}, "tuned"
 * (the newest 100 of each build), "unfinished", "elsewhere" (searches of other machines), "measuring" (another process
 * does). What is wrong with a store is part of the state. path: NULL for the default. */
void state_store(json_t *state, const char *path);
void state_ceilings(json_t *state); /* "ceilings": {"measured", "age_s"} */
/* "next": [{"command", "why"}], at most two; store: of --store, or NULL */
void state_next(json_t *state, const char *store);
void state_print(struct ui *ui, const json_t *state, FILE *out);

#endif
