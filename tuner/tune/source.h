/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One earlier search as a source for a strategy: its outcomes, mapped to another space. */
#ifndef TUNER_TUNE_SOURCE_H
#define TUNER_TUNE_SOURCE_H
#include "tuner/store/store.h"
#include "tuner/search/strategy.h"

enum { SOURCE_OUTCOMES_MAX = 1000 };

struct tune_source_data {
	uint64_t *index;
	struct strategy_outcome *outcome;
	size_t count;
};

/* Reads the outcomes of a search up to trial `until`, failures included. Values are matched by the name of the
 * parameter; a number that is not in the list maps to the nearest one in its logarithm, if it lies within the range of
 * the list. Configurations that cannot be mapped are dropped, and of several mapped to the same one the nearest stays.
 * `start` (UINT64_MAX: none) provides values of parameters that the earlier search did not have. Of more than
 * SOURCE_OUTCOMES_MAX the best half and a sample of the rest are kept. */
int tune_source_read(struct store *store, int64_t search, int64_t until, const struct space *space, uint64_t start,
                     struct tune_source_data *data, struct err *err);
void tune_source_clear(struct tune_source_data *data);

#endif
