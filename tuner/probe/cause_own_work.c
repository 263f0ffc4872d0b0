/* SPDX-License-Identifier: GPL-3.0-or-later */
/* If threads lose nothing to each other, a quarter of the cores takes four times as long for all of them: then only
 * other code, other data or more cores make it faster. */
#include <math.h>

#include "tuner/probe/cause_impl.h"

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	size_t row = cause_row_today(subject);
	double team = row == SIZE_MAX ? NAN : cause_members(subject, row), fewer = cause_fewer(team);
	if (!cause_confine(subject, row, fewer, test))
		return false;
	test->predicted = fewer / team;
	test->otherwise = CAUSE_CLOCKS * CAUSE_CLOCKS * fewer / team;
	test->apart = CAUSE_CLOCKS * fewer / team;
	test->least = fewer / team / sqrt(CAUSE_CLOCKS); /* threads that wait by sleeping lose more than that */
	return true;
}

const struct cause cause_own_work = {"own_work", "cpu", plan};
