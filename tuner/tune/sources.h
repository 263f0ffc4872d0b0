/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the store knows that may help a search: earlier searches of the same kernel under the same objective, the most
 * alike first - this machine before others, this source before older ones, then the nearest problem, the newest. */
#ifndef TUNER_TUNE_SOURCES_H
#define TUNER_TUNE_SOURCES_H
#include "tuner/store/store.h"
#include "tuner/search/strategy.h"

enum { SOURCES_MAX = 8, SOURCES_OF_A_KIND = 2 /* of one machine, source and problem */ };

struct tune_sources_query {
	const char *kernel, *source, *objective, *fingerprint;
	const json_t *problem;
	const struct space *space;
	uint64_t start;
	int64_t search; /* for which: it is no source of its own */
	int64_t until;  /* trials stored later are left out */
};

struct tune_sources;
/* wanted: the searches to take, an array of numbers, in its order; NULL: pick them. */
struct tune_sources *tune_sources_new(struct store *store, const struct tune_sources_query *query, const json_t *wanted,
                                      struct err *err);
void tune_sources_free(struct tune_sources *sources);
const struct strategy_source *tune_sources_list(const struct tune_sources *sources, size_t *count);
json_t *tune_sources_searches(const struct tune_sources *sources); /* their numbers; new reference */
json_t *tune_sources_json(const struct tune_sources *sources);     /* [{"name", "configurations"}]; new reference */

#endif
