/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that the threads have placed themselves is near to them. */
#include "tuner/probe/cause_impl.h"

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	static const struct cause_words words = {
		"first_touch touch placement", "serial master one", "parallel all objects", "parallel", "first touch", false};
	static const struct cause_variable none[] = {{0}};
	size_t row = cause_row_today(subject);
	if (study_host(subject->study)->numa_nodes == 1)
		return cause_untestable(test, "this machine has one memory node");
	if (cause_replace(subject, &words, test))
		return true;
	if (!subject->program || row == SIZE_MAX || study_host(subject->study)->numa_nodes < 2)
		return false;
	cause_environment(subject, row, none, test);
	test->confined = CAUSE_INTERLEAVED;
	cause_intervene(test, "its memory spread over %d nodes", study_host(subject->study)->numa_nodes);
	return true;
}

const struct cause cause_numa_first_touch = {"numa_first_touch", "cpu", plan};
