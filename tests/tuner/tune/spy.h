/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole procedure with a simulated kernel and a strategy that records what it is told. */
#ifndef TESTS_TUNER_TUNE_SPY_H
#define TESTS_TUNER_TUNE_SPY_H
#include <math.h>
#include <stdlib.h>

#include "base/json/js.h"
#include "base/rng.h"
#include "tests/tuner/store/fixture.h"
#include "tests/tuner/space/help.h"
#include "tuner/tune/tune.h"

enum { SPY_ROOM = 4096, SPY_COUNTERS = 2 };

struct spy_told {
	uint64_t index;
	struct strategy_outcome outcome; /* its counters: */
	double counters[SPY_COUNTERS];
};

/* The last call of the strategy's tell. */
struct spy_book {
	uint64_t budget, seed, start;
	size_t source_count, hint_count, counter_count;
	struct strategy_source sources[8]; /* copies of the lists, with their names */
	char names[8][200];
	struct spy_told told[SPY_ROOM];
	size_t count;
	double promise;               /* to return */
	const struct strategy *inner; /* the strategy that does the work; NULL: random search */
};
extern struct spy_book spy_book;
extern const struct strategy spy_strategy; /* records what it is told */

/* A kernel whose times, failures and disturbances depend only on the configuration and the n of the problem. */
struct spy_kernel {
	int runs, dies_at; /* the process is killed in this run; 0: never */
	bool counts;
	double scale; /* 0: 1 */
};
struct runner spy_runner(struct spy_kernel *kernel);
struct space *spy_space(const char *x_values);
/* Creates a task with a session of its own in the store; spy_task_clear releases problem and baseline. */
struct tune_task spy_task(struct store *store, const struct space *space, const struct runner *runner, int n,
                          uint64_t evaluations);
void spy_task_clear(struct tune_task *task);
void spy_book_clear(void);

#endif
