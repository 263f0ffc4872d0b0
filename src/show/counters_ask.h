/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is asked for with --counters, looked at before anything is measured. */
#ifndef SRC_SHOW_COUNTERS_ASK_H
#define SRC_SHOW_COUNTERS_ASK_H
#include "src/app/cmd.h"
#include "src/show/counters_words.h"
#include "tuner/worker/counters.h"

/* What the worker would count of these words, {"events","metrics"}; *slow: a simulator is needed for one of them. New
 * reference; ERR_USAGE for a word that nobody knows. */
json_t *counters_ask(struct app *app, const struct counters_subject *subject, const char *const *asked, bool *slow,
                     struct err *err);
void counters_slow_warn(struct app *app);
/* Nothing of what was asked for can be counted here. rows: the first says why; NULL: that was told already. */
int counters_unavailable(const char *const *asked, const json_t *rows, struct err *err);

#endif
