/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of a session, by owners. What an owner does is in its header. */
#ifndef TUNER_TUNE_SESSION_IMPL_H
#define TUNER_TUNE_SESSION_IMPL_H
#include "tuner/race/numbers.h"
#include "tuner/search/search.h"
#include "tuner/tune/bench_impl.h"

struct tune {
	const struct tune_task *task;
	const struct tune_observer *observer;
	struct search *search;
	const char *stopped; /* why the search ended: "budget", "space", "gain"; NULL: it goes on */
	struct tune_tally tally;
	struct tune_money money;
	struct tune_bench bench;
	struct tune_memory memory;
	struct tune_finals finals;
	struct tune_counting counting;
};
#endif
