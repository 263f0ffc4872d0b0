/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --probe: the experiments that diagnoses ask for, run by this program itself. */
#ifndef SRC_CMD_EXPLAIN_PROBE_H
#define SRC_CMD_EXPLAIN_PROBE_H
#include <jansson.h>

#include "src/app/cmd.h"
#include "src/cmd/explain/text.h"

/* The commands of all results, each once, until the budget is used up. {"budget_s","elapsed_s","ran":[{"command",
 * "seconds","state":"done"|"failed"|"cut short"|"refused","message"?}],"left":["command"..]}. NULL with err:
 * interrupted, or the budget can't be read. */
json_t *explain_probe(struct app *app, const struct opt_args *args, const json_t *results, struct err *err);
/* Diagnoses that came, went, or are more or less certain: added as "changed". */
void explain_probe_changes(json_t *probe, const json_t *before, const json_t *after);
void explain_probe_print(struct ui *ui, const json_t *probe, FILE *out);

/* src/cmd/explain/words.c: a command of ours as arguments, in the place of `sweetspot`. NULL with err where it is none
 * that may be run: another command than those that measure, an option or a quotation that they don't have, a kernel
 * that is not built in. Ends with NULL; explain_words_free. A `run`, which stores nothing, becomes a sweep over one
 * value. */
char **explain_words(struct app *app, const char *command, struct err *err);
void explain_words_free(char **words);

#endif
