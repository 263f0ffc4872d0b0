/* SPDX-License-Identifier: GPL-3.0-or-later */
/* While a longer kernel runs, the host has the time that it needs. */
#include <math.h>

#include "tuner/probe/cause_impl.h"

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	size_t row = cause_row(subject, 1, 0);
	if (row == SIZE_MAX)
		return cause_untestable(test, "no setting worked");
	return cause_resize(subject, row, true, INFINITY, test);
}

const struct cause cause_host_bound = {"host_bound", "cuda", plan};
