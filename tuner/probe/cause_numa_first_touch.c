/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that the threads have placed themselves is near to them. */
#include "tuner/probe/cause_impl.h"

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	static const struct cause_words words = {"first_touch touch placement", "serial master one", "parallel all objects",
	                                         "parallel", "first touch"};
	if (study_host(subject->study)->numa_nodes == 1)
		return cause_untestable(test, "this machine has one memory node");
	return cause_replace(subject, &words, test);
}

const struct cause cause_numa_first_touch = {"numa_first_touch", "cpu", plan};
