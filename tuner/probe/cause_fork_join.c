/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Larger regions pay the same for their threads, and have more work to share the price. */
#include <math.h>

#include "tuner/probe/cause_impl.h"

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	size_t row = cause_row_full(subject);
	if (row == SIZE_MAX || cause_team(study_row(subject->study, row)->config) < 2)
		return cause_untestable(test, "no setting with several threads was measured to its end");
	return cause_resize(subject, row, true, INFINITY, test);
}

const struct cause cause_fork_join = {"fork_join", "cpu", plan};
