/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A heap that keeps its memory does not get it from the kernel again and again; threads with an arena of their own do
 * not wait for each other. */
#include <math.h>
#include <stdlib.h>

#include "tuner/probe/cause_impl.h"

static const double FAULT = 10e-6; /* seconds that a page fault takes at most */

/* If only the user's time is left, of all processors that the team has. */
static double left_of(const struct probe_subject *subject, size_t row) {
	double team = fmin(cause_members(subject, row), probe_room(subject->study));
	return team * study_row(subject->study, row)->value / cause_usage(subject, row, "user_s");
}

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	static const struct cause_variable keeps[] = {{"MALLOC_MMAP_THRESHOLD_", NULL, "33554432"},
	                                              {"MALLOC_TRIM_THRESHOLD_", NULL, "17179869184"},
	                                              {"MALLOC_TOP_PAD_", NULL, "67108864"},
	                                              {0}},
									   arenas[] = {{"MALLOC_ARENA_MAX", NULL, NULL}, {0}};
	size_t row = cause_row_today(subject);
	if (row == SIZE_MAX)
		return cause_untestable(test, "no setting worked");
	if (getenv("MALLOC_ARENA_MAX"))
		return cause_environment(subject, row, arenas, test);
	/* At most, one thread after the other is in the kernel, and all others wait for it. */
	double faults = cause_usage(subject, row, "minor_faults"), system = cause_usage(subject, row, "system_s"),
		   kernel = FAULT * faults < system ? FAULT * faults : system,
		   most = cause_without(kernel / study_row(subject->study, row)->value), left = left_of(subject, row);
	if (most < CAUSE_LEAST)
		return cause_bounded(test, most,
		                     "the kernel works for its memory at most %.2g s in a run, with %.0f page faults", kernel,
		                     faults);
	if (!cause_environment(subject, row, keeps, test))
		return false;
	test->lowers = "minor_faults";
	if (most > 1)
		cause_predict(test, left > 1 && left < most ? left : most, 1, false);
	return true;
}

const struct cause cause_allocation = {"allocation", "cpu", plan};
