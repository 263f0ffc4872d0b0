/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that wait without sleeping need not be woken. */
#include <math.h>

#include "tuner/probe/cause_impl.h"

/* Seconds to put a thread to sleep and to wake it, at most. */
static const double WAKE = 100e-6;

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	static const struct cause_variable active[] = {{"OMP_WAIT_POLICY", "wait_policy", "active"},
	                                               {"GOMP_SPINCOUNT", "spincount", "infinite"},
	                                               {"KMP_BLOCKTIME", "blocktime", "infinite"},
	                                               {0}};
	size_t row = cause_row_today(subject);
	double team = row == SIZE_MAX ? NAN : cause_members(subject, row);
	if (!(team >= 2))
		return cause_untestable(test, "no team of several threads is known");
	if (!cause_openmp(subject, row, test))
		return false;
	if (team > probe_room(subject->study))
		return cause_untestable(test, "threads that poll would take the processors of those that work");
	double sleeps = cause_usage(subject, row, "voluntary_switches"),
		   lost = sleeps * WAKE / team / study_row(subject->study, row)->value;
	if (cause_without(lost) < CAUSE_LEAST)
		return cause_bounded(test, cause_without(lost), "its threads sleep %.0f times in a run", sleeps);
	if (!cause_environment(subject, row, active, test))
		return false;
	if (lost > 0)
		cause_predict(test, fmin(cause_without(lost), team), 1, false);
	return true;
}

const struct cause cause_wake_up = {"wake_up", "cpu", plan};
