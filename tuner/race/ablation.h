/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which changes of a winner pay? Each is taken back in the blocks of a duel with today's setting. What is not shown to
 * be slower without a change does not need it, and meets today's setting anew without all of those, until each change
 * that remains has a proven price. Many changes are taken back in groups first, so that the cost grows with the
 * logarithm of their number (group testing: Dorfman, "The detection of defective members of large populations", 1943).
 * Sets of changes are bits; no clocks and no measurements here (doc/measurement.md, rule 6). */
#ifndef TUNER_RACE_ABLATION_H
#define TUNER_RACE_ABLATION_H
#include "tuner/race/race.h"

enum { ABLATION_CHANGES_MAX = 64, ABLATION_ARMS_MAX = ABLATION_CHANGES_MAX + 1 };

struct ablation_arm {
	uint64_t set;
	double ratio, ci[2]; /* its time over that of the whole; NAN: not measured */
	bool slower, faster; /* proven */
	bool open;           /* the time was over before that could be told */
	bool fails;          /* it does not work, and is slower therefore */
};

struct ablation_gain {
	double ratio; /* the time of today's setting over that of the set; NAN: not known */
	bool faster;  /* proven; before the duel: a larger set is */
	bool open;    /* neither that nor the opposite, because the arms were known first */
};

struct ablation_task {
	void *ctx;
	size_t count;
	/* If two changes are not shown to pay, the one with the smaller rank is dropped first. */
	const double *rank;
	/* The number of arms for which there is time beside `set` and today's setting; 0: only those two; -1: none at all.
	 */
	int (*room)(void *ctx, uint64_t set);
	/* Runs the duel of `set` with today's, and of the arms with `set` in its blocks. An arm that cannot be measured, as
	 * its configuration is not valid, is left as it is. `first`: the duel may end once the arms are known. */
	int (*duel)(void *ctx, uint64_t set, struct ablation_arm *arms, size_t count, bool first,
	            struct ablation_gain *gain, struct err *err);
	/* The set of the last duel is now the one to recommend. */
	void (*keep)(void *ctx);
};

struct ablation_result {
	uint64_t kept; /* the changes that remain */
	/* `kept` without each of them; its ratio is NAN where that was not measured. A single one has today's setting. */
	struct ablation_arm without[ABLATION_CHANGES_MAX];
	bool faster; /* `kept` is proven to be faster than today's */
};

void ablation_arm_take(struct ablation_arm *arm, const struct duel_other *other);

/* Begins with all changes; count is from 1 to ABLATION_CHANGES_MAX. Returns -1 if a duel does. */
int ablation_run(const struct ablation_task *task, struct ablation_result *result, struct err *err);
#endif
