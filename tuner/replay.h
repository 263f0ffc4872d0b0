/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A strategy played on a recorded space: every evaluation is looked up. Unique configurations count, failed ones
 * too; one that breaks a restriction is no configuration of the space. */
#ifndef TUNER_REPLAY_H
#define TUNER_REPLAY_H
#include "tuner/record/record.h"
#include "tuner/strategy/strategy.h"

struct replay_task {
	const struct record *record;
	const struct strategy *strategy;
	uint64_t seed;
	uint64_t evaluations; /* at most; 0: until the space is used up */
	double seconds;       /* of recorded cost, at most; 0: no limit */
	size_t batch;         /* asked for at a time, told when all are done; 1 */
	const struct strategy_source *sources; /* what was measured elsewhere */
	size_t source_count;
	bool counters; /* tell the strategy of the recorded ones */
	double until;  /* end at a value as good as this; 0: don't */
};

struct replay_step {
	uint64_t index;
	double value;   /* NAN: failed */
	double seconds; /* recorded cost, from the beginning to the end of this evaluation */
};

struct replay {
	struct replay_step *steps;
	size_t count;
	double asking; /* seconds of our own spent in the strategy */
};

int replay_run(const struct replay_task *task, struct replay *replay, struct err *err);
void replay_clear(struct replay *replay);

#endif
