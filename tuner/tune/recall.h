/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an interrupted run has measured, given again in the place of measuring it: trial by trial and in its order, so
 * that the search takes the same turns. */
#ifndef TUNER_TUNE_RECALL_H
#define TUNER_TUNE_RECALL_H
#include "tuner/store/store.h"
#include "tuner/trial/trial.h"

struct recall;
/* search 0: nothing to recall. */
struct recall *recall_new(struct store *store, int64_t search, struct err *err);
void recall_free(struct recall *recall);
/* The next trial of this configuration in this phase, as its runner has given it. */
bool recall_take(struct recall *recall, const char *phase, const json_t *config, struct trial_result *result);
/* A probe that came before the trial that would be taken next for this configuration (NULL: before the end). */
bool recall_probe(struct recall *recall, const json_t *next, struct trial_result *result);
/* Is a search trial of this configuration still to be taken? */
/* All search trials not taken, of each configuration what they came to together, in the order in which the last of each
 * ended. The results are the recall's. */
void recall_each(struct recall *recall, void (*each)(void *ctx, const char *config, const struct trial_result *result),
                 void *ctx);
bool recall_has(const struct recall *recall, const json_t *config);
size_t recall_left(const struct recall *recall);    /* search trials not taken */
bool recall_searched(const struct recall *recall);  /* its search had come to an end */
double recall_seconds(const struct recall *recall); /* that all its trials took */

#endif
