/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --probe: runs the experiments that the diagnoses suggest. */
#ifndef SRC_CMD_EXPLAIN_EXPLAIN_PROBE_IMPL_H
#define SRC_CMD_EXPLAIN_EXPLAIN_PROBE_IMPL_H

#include "src/app/cmd.h"
#include "src/cmd/explain/explain_text.h"

/* Runs the commands of all results, each once, until the budget is used up. {"budget_s","elapsed_s","ran":[{"command",
 * "seconds","state":"done"|"failed"|"cut short"|"refused","message"?}],"left":["command"..]}. NULL with err if it was
 * interrupted, or if --budget is not a time. */
json_t *explain_probe(struct app *app, const struct opt_args *args, const json_t *results, struct err *err);

/* src/cmd/explain/explain_words.c: splits a suggested command into the arguments that follow `sweetspot`. NULL with err
 * if a probe must not run it: a command that does not measure, an unknown option, an open quotation, or a kernel that
 * is not built in. Ends with NULL; free it with words_free (tuner/fleet/fleet_words.h). A `run` stores nothing, so it
 * becomes a sweep over one value. */
char **explain_words(struct app *app, const char *command, struct err *err);
#endif
