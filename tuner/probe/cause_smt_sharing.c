/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread a core does not share it. If sharing is what holds the others back, they are worth little. */
#include "tuner/probe/cause_impl.h"

static const double USUAL = 1.2; /* times what one thread does, two of a core do */
static const double COST = 2;    /* they do not take more from each other than all of the core */

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	const struct study_host *host = study_host(subject->study);
	if (host->cores < 1 || host->threads <= host->cores)
		return cause_untestable(test, "the cores of this machine have one hardware thread each");
	size_t row = cause_row(subject, host->cores + 1, host->threads);
	if (row == SIZE_MAX)
		return cause_untestable(test, "no setting that was measured has two threads on a core");
	cause_begin(subject, row, test);
	double team = cause_team(test->config[0]);
	cause_team_set(test, 1, host->cores);
	if (json_object_get(test->config[1], "proc_bind")) {
		json_object_set_new(test->config[1], "proc_bind", json_string("spread"));
		json_object_set_new(test->config[1], "places", json_string("cores"));
	}
	cause_predict(test, 1 / USUAL, host->cores / team, true);
	test->most = COST;
	cause_intervene(test, "%d thread%s, one a core, instead of %g", host->cores, probe_s(host->cores), team);
	return true;
}

const struct cause cause_smt_sharing = {"smt_sharing", "cpu", plan};
