/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replays the trials of an interrupted run in their order instead of measuring them, so that a resumed search takes the
 * same decisions again. */
#ifndef TUNER_TUNE_RECALL_IMPL_H
#define TUNER_TUNE_RECALL_IMPL_H
#include "tuner/store/store.h"
#include "tuner/trial/trial.h"

struct recall;
/* search 0: nothing to replay. */
struct recall *recall_new(struct store *store, int64_t search, struct err *err);
void recall_free(struct recall *recall);
/* Takes the next trial of this configuration in this phase, as its runner returned it. */
bool recall_take(struct recall *recall, const char *phase, const json_t *config, struct trial_result *result);
/* Takes a probe made before the trial that comes next for this configuration (NULL: before the end). */
bool recall_probe(struct recall *recall, const json_t *next, struct trial_result *result);
/* Takes all remaining search trials, merged per configuration, in the order in which the last one of each ended. The
 * results stay owned by the recall. */
void recall_each(struct recall *recall, void (*each)(void *ctx, const char *config, const struct trial_result *result),
                 void *ctx);
/* The place of its first trial in the search, in the order in which they were run; SIZE_MAX: none. */
size_t recall_row(const struct recall *recall, const json_t *config);
/* Is there an untaken search trial of this configuration? */
bool recall_has(const struct recall *recall, const json_t *config);
size_t recall_left(const struct recall *recall);    /* untaken search trials */
bool recall_searched(const struct recall *recall);  /* its search was complete */
double recall_seconds(const struct recall *recall); /* time of all its trials */
#endif
