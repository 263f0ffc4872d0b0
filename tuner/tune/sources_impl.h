/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Earlier searches in the store that may help a new one: the same kernel under the same objective, most similar first
 * (this machine before others, this source before older ones, then the nearest problem, then the newest).
 * doc/adr/0009-surrogate.md describes how the model uses them. */
#ifndef TUNER_TUNE_SOURCES_IMPL_H
#define TUNER_TUNE_SOURCES_IMPL_H
#include "tuner/store/store.h"
#include "tuner/search/strategy.h"

/* One of them: its outcomes, mapped to another space. */
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

enum { SOURCES_MAX = 8, SOURCES_OF_A_KIND = 2 /* per machine, source and problem */ };

struct tune_sources_query {
	const char *kernel, *source, *objective, *fingerprint;
	const json_t *problem;
	const struct space *space;
	uint64_t start;
	int64_t search; /* the new search itself, which is never its own source */
	int64_t until;  /* trials stored later are ignored */
};

struct tune_sources;
/* wanted: an array of the searches to use, in this order; NULL: choose them. */
struct tune_sources *tune_sources_new(struct store *store, const struct tune_sources_query *query, const json_t *wanted,
                                      struct err *err);
void tune_sources_free(struct tune_sources *sources);
const struct strategy_source *tune_sources_list(const struct tune_sources *sources, size_t *count);
json_t *tune_sources_searches(const struct tune_sources *sources); /* their numbers; new reference */
json_t *tune_sources_json(const struct tune_sources *sources);     /* [{"name", "configurations"}]; new reference */
#endif
