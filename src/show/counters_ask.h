/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks the words of --counters before anything is measured. */
#ifndef SRC_SHOW_COUNTERS_ASK_H
#define SRC_SHOW_COUNTERS_ASK_H
#include "src/app/cmd.h"
#include "src/show/counters_words.h"
#include "tuner/worker/client_trial.h"

/* The events and metrics that the worker would count for these words: {"events","metrics"}. *slow: one of them needs a
 * simulator. New reference; ERR_USAGE for an unknown word. */
json_t *counters_ask(struct app *app, const struct counters_subject *subject, const char *const *asked, bool *slow,
                     struct err *err);
void counters_slow_warn(struct app *app);
/* Sets the error that nothing of what was asked for can be counted here. rows: the first one has the reason; NULL if
 * the user has already been told. */
int counters_unavailable(const char *const *asked, const json_t *rows, struct err *err);
#endif
