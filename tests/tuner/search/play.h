/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search measured by a simulated tuner, with noise and with trials cut short as a tuner does it. */
#ifndef TESTS_TUNER_SEARCH_PLAY_H
#define TESTS_TUNER_SEARCH_PLAY_H
#include "tests/tuner/search/land.h"
#include "tuner/search/search.h"

struct play {
	const struct land *land;
	const struct strategy *strategy;
	uint64_t seed, evaluations; /* the baseline counts as one */
	double noise;               /* deviation of the logarithm of a measured time */
};

/* The best true time over the landscape's best, among the few finalists of a race. INFINITY: nothing worked. */
double play_run(const struct play *play);

#endif
