/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores the results of trials. */
#ifndef TUNER_STORE_TRIAL_STORE_H
#define TUNER_STORE_TRIAL_STORE_H
#include "tuner/store/store.h"
#include "tuner/trial/trial.h"

/* Commits a trial that has just ended to a search of the store. block: its number in a race or duel, else 0. */
int trial_store(struct store *store, int64_t search, const char *phase, int block, const json_t *config,
                const struct trial_result *result, struct err *err);

#endif
