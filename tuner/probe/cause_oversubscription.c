/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A team that the machine has room for never waits for threads that do not run. */
#include <math.h>

#include "tuner/probe/cause_impl.h"

/* Teams beyond the room take longer with each thread, at least by what two of them show. */
static double seen_in(const struct probe_subject *subject, size_t row, double room) {
	const struct study *study = subject->study;
	double team = cause_team(study_row(study, row)->config), time = study_row(study, row)->value;
	size_t within = cause_row(subject, 1, room), larger = cause_row(subject, team + 1, 0);
	if (within != SIZE_MAX)
		return time / study_row(study, within)->value;
	if (larger == SIZE_MAX)
		return NAN;
	double steps = log(team / room) / log(cause_team(study_row(study, larger)->config) / team);
	return pow(study_row(study, larger)->value / time, steps);
}

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	double room = probe_room(subject->study);
	size_t row = isfinite(room) ? cause_row(subject, room + 1, 0) : SIZE_MAX;
	if (row == SIZE_MAX)
		return cause_untestable(test, "no setting that was measured has more threads than the machine");
	double seen = seen_in(subject, row, room);
	cause_begin(subject, row, test);
	cause_team_set(test, 1, room);
	test->param = cause_threads(test->config[1]);
	cause_predict(test, seen > 1 ? seen : 1, 1, false);
	cause_intervene(test, "%s=%g instead of %g", test->param, room, cause_team(test->config[0]));
	return true;
}

const struct cause cause_oversubscription = {"oversubscription", "cpu", plan};
