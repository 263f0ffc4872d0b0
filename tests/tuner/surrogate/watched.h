/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search whose strategy is the surrogate alone, watched at every proposal. */
#ifndef TESTS_TUNER_SURROGATE_WATCHED_H
#define TESTS_TUNER_SURROGATE_WATCHED_H
#include "tuner/search/search.h"
#include "tuner/surrogate/surrogate_impl.h"

enum { WATCHED_FIRST = 3 }; /* proposals before the first one of the model */

/* Observations of the latest search so far. */
struct watch {
	struct surrogate *surrogate;
	bool fresh, finite, lifted;
	size_t models; /* proposals by the model */
};
extern struct watch watch;

struct search *watched_begin(const struct space *space, const struct strategy_source *sources, size_t source_count);
void watched_answer(struct search *search, uint64_t index, double time); /* INFINITY: it failed */

#endif
