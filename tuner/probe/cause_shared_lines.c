/* SPDX-License-Identifier: GPL-3.0-or-later */
/* On one core the same instructions run and no line of memory moves from cache to cache, whether it holds data of
 * several threads or a lock. Waiting for work or for memory makes many cores no slower than one, so that such a loss is
 * one by lines that move; so is a smaller one beyond the waiting that is known, if the memory is not what they wait
 * for. */
#include <math.h>

#include "tuner/probe/cause_impl.h"

/* The ratio of times that waiting in the regions and outside of them explains, and shared clocks and caches; NAN. */
static double explained_of(const struct probe_subject *subject, double team) {
	double idle =
		1 - cause_share(subject, CAUSE_REGIONS) + cause_share(subject, CAUSE_WAITS) + cause_share(subject, CAUSE_JOINS);
	return CAUSE_CLOCKS * CAUSE_CLOCKS * cause_without(idle) / team;
}

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	size_t row = cause_row_today(subject), alone = cause_row(subject, 1, 1);
	if (!cause_confine(subject, row, 1, test))
		return false;
	double team = cause_members(subject, row), explained = explained_of(subject, team),
		   seen = alone == SIZE_MAX ? NAN : test->seconds / study_row(subject->study, alone)->value;
	cause_predict(test, seen > 1 ? seen : 1, 1, false);
	if (explained < 1) {
		test->predicted = seen > explained ? seen : explained;
		test->otherwise = 1 / team;
		test->apart = explained;
		test->unless = "memory_bandwidth";
	}
	test->nothing = CAUSE_CLOCKS / team;
	test->instead = "own_work"; /* fewer cores have fewer threads at a time that take lines from each other */
	return true;
}

const struct cause cause_shared_lines = {"shared_lines", "cpu", plan};
