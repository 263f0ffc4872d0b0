/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread alone runs at the highest clock. How much lower that of a team is, arithmetic without memory shows. */
#include <math.h>

#include "tuner/probe/cause_impl.h"

static const double LEAST = 1.05;
static const double BEYOND = 1.25; /* what a team loses beyond the clocks has another reason */

/* How many times faster one thread computes alone than in a team; NAN: not measured. Units that threads share and time
 * that others take make a peak lower as well, so that the least of the ratios is nearest to that of the clocks. */
static double clock_of(const struct study *study, double team) {
	static const char *const peaks[] = {"fp64", "fp32", "addmin"};
	double ratio = NAN;
	for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++)
		ratio =
			fmin(ratio, team * study_ceiling(study, peaks[i], NULL, 1) / study_ceiling(study, peaks[i], NULL, team));
	return ratio;
}

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	const struct study *study = subject->study;
	size_t row = cause_row(subject, 2, study_host(study)->cores);
	if (study_host(study)->cores < 2 || row == SIZE_MAX)
		return cause_untestable(test, "no setting that was measured has several threads on cores of their own");
	double team = cause_team(study_row(study, row)->config), clock = clock_of(study, team);
	if (isnan(clock))
		return cause_untestable(test, "the arithmetic peaks are not known: sweetspot machine --ceilings");
	if (clock < LEAST)
		return cause_untestable(test, "one thread alone computes as fast as each of %g", team);
	cause_begin(subject, row, test);
	cause_team_set(test, 1, 1);
	test->work = team;
	test->most = BEYOND * clock;
	cause_predict(test, clock, 1, true);
	cause_intervene(test, "one thread alone, for each of %g", team);
	return true;
}

const struct cause cause_frequency = {"frequency", "cpu", plan};
