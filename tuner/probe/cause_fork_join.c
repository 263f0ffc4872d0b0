/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Larger regions pay the same for their threads, and have more work to share the price. Where no larger problem was
 * measured, fewer threads have more work each in such a region, which then takes little longer. */
#include <math.h>

#include "tuner/probe/cause_impl.h"

/* A smaller team. */
static bool fewer_plan(const struct probe_subject *subject, size_t row, struct cause_test *test) {
	double team = cause_members(subject, row), fewer = cause_fewer(team);
	if (team > probe_room(subject->study))
		return cause_untestable(test, "its threads share processors, so that fewer of them lose nothing");
	cause_begin(subject, row, test);
	if (cause_threads(test->config[1]))
		cause_team_set(test, 1, fewer);
	else if (subject->program)
		json_object_set_new(test->config[1], "OMP_NUM_THREADS", json_integer((json_int_t)fewer));
	else
		return cause_untestable(test, "its team cannot be changed");
	test->quiet = true;
	cause_intervene(test, "%g thread%s instead of %g", fewer, probe_s(fewer), team);
	return true;
}

static bool record_plan(const struct probe_subject *subject, size_t row, struct cause_test *test) {
	double joins = cause_share(subject, CAUSE_JOINS), regions = cause_share(subject, CAUSE_REGIONS),
		   team = cause_members(subject, row), gain = cause_without(joins);
	if (isnan(joins))
		return subject->program && cause_untestable(test, "the price of its parallel regions is not known");
	if (gain < CAUSE_LEAST)
		return cause_bounded(test, gain, "starting and joining teams takes %.2g %% of its time", 100 * joins);
	if (!fewer_plan(subject, row, test))
		return false;
	double more = team / cause_fewer(team) - 1; /* work of each thread in the smaller team */
	cause_predict(test, 1 / (1 + (regions - joins) * more), 1 / (1 + regions * more), true);
	return true;
}

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	size_t row = cause_row_today(subject);
	if (row == SIZE_MAX || !(cause_members(subject, row) >= 2))
		return cause_untestable(test, "no setting with several threads was measured to its end");
	return cause_resize(subject, row, true, INFINITY, test) || record_plan(subject, row, test);
}

const struct cause cause_fork_join = {"fork_join", "cpu", plan};
