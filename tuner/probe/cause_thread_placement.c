/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that the kernel moves leave their caches behind; threads that a binding crowds together wait for processors
 * while others are idle. */
#include <math.h>
#include <stdlib.h>

#include "tuner/probe/cause_impl.h"

/* Seconds that a moved thread takes at most to fill its caches again. */
static const double MOVE = 200e-6;

static bool is_bound(const struct cause_variable *variables) {
	bool bound = false;
	for (; variables->name; variables++)
		bound = bound || getenv(variables->name);
	return bound;
}

/* At most what its processors could do over what they do. */
static bool unbind(const struct probe_subject *subject, size_t row, const struct cause_variable *free,
                   struct cause_test *test) {
	const struct study_row *one = study_row(subject->study, row);
	double busy = cause_usage(subject, row, "user_s") + cause_usage(subject, row, "system_s");
	double team = fmin(cause_members(subject, row), probe_room(subject->study));
	if (!cause_environment(subject, row, free, test))
		return false;
	if (team * one->value / busy > 1)
		cause_predict(test, team * one->value / busy, 1, false);
	return true;
}

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	static const struct cause_variable bound[] = {{"OMP_PROC_BIND", "proc_bind", "spread"},
	                                              {"OMP_PLACES", "places", "cores"},
	                                              {0}},
									   unbound[] = {{"OMP_PROC_BIND", "proc_bind", "false"},
	                                                {"OMP_PLACES", "places", NULL},
	                                                {"GOMP_CPU_AFFINITY", NULL, NULL},
	                                                {"KMP_AFFINITY", NULL, NULL},
	                                                {0}};
	size_t row = cause_row_today(subject);
	double moves = row == SIZE_MAX ? NAN : cause_usage(subject, row, "migrations");
	if (row == SIZE_MAX || !(cause_members(subject, row) >= 2))
		return cause_untestable(test, "no team of several threads is known");
	if (!cause_openmp(subject, row, test))
		return false;
	if (cause_members(subject, row) > probe_room(subject->study))
		return cause_untestable(test, "more threads than processors have no places of their own");
	if (is_bound(unbound))
		return unbind(subject, row, unbound, test);
	double lost = moves * MOVE / cause_members(subject, row) / study_row(subject->study, row)->value;
	if (cause_without(lost) < CAUSE_LEAST)
		return cause_bounded(test, cause_without(lost), "its threads move %.0f times in a run", moves);
	if (!cause_environment(subject, row, bound, test))
		return false;
	if (lost > 0)
		cause_predict(test, cause_without(lost), 1, false);
	return true;
}

const struct cause cause_thread_placement = {"thread_placement", "cpu", plan};
