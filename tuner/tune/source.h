/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One earlier search as a source of a strategy: what it measured, in the places of another space. */
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

/* The outcomes of a search up to trial `until`, failures too. Values are found by the parameter's name; a number that
 * is not in the list is taken for the one nearest in its logarithm if it is within the list's range. What can't be
 * mapped is left out, and what was mapped to a place that another fits better. `start` (UINT64_MAX: none) has the
 * values of parameters that the earlier search did not know. Of more than SOURCE_OUTCOMES_MAX the best half and a
 * sample of the rest are kept. */
int tune_source_read(struct store *store, int64_t search, int64_t until, const struct space *space, uint64_t start,
                     struct tune_source_data *data, struct err *err);
void tune_source_clear(struct tune_source_data *data);

#endif
