/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by tune_counters.c, and tune_parallel_counters.c for several nodes. */
#ifndef TUNER_TUNE_COUNTING_H
#define TUNER_TUNE_COUNTING_H
#include "tuner/tune/state.h"

/* Are there counters to be read? */
bool counting_asked(const struct tune *tune);
double counting_allowance(const struct tune *tune); /* seconds that it may take */
struct trial_request counting_request(const struct tune *tune, const json_t *config);
void counting_failed(struct tune *tune, const json_t *config, const char *reason);
int counting_keep(struct tune *tune, const json_t *config, const struct trial_result *result, struct err *err);
/* Is there time for number `at` of the queue? last: what the one before it took; 0: not known. */
bool counting_affordable(const struct tune *tune, size_t at, double used, double last, double allowed);
/* Those of the queue that are not counted yet. -1: stop, with err. */
int counting_on_nodes(struct tune *tune, const json_t *queue, double allowed, struct err *err);

#endif
