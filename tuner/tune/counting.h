/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counting for one machine (counters.c) and for several nodes (parallel/counters.c). */
#ifndef TUNER_TUNE_COUNTING_H
#define TUNER_TUNE_COUNTING_H
#include "tuner/tune/state.h"

/* Were counters requested? */
bool counting_asked(const struct tune *tune);
double counting_allowance(const struct tune *tune); /* seconds that counting may take */
struct trial_request counting_request(const struct tune *tune, const json_t *config);
void counting_failed(struct tune *tune, const json_t *config, const char *reason);
int counting_keep(struct tune *tune, const json_t *config, const struct trial_result *result, struct err *err);
/* Is there time for number `at` of the queue? last: the seconds of the one before it; 0: not known. */
bool counting_affordable(const struct tune *tune, size_t at, double used, double last, double allowed);
/* Counts those of the queue that are not counted yet. Returns -1 with err to stop. */
int counting_on_nodes(struct tune *tune, const json_t *queue, double allowed, struct err *err);

#endif
