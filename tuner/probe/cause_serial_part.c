/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fewer processors cost only the part that its threads share (Amdahl 1967). */
#include <math.h>

#include "base/json/js.h"
#include "tuner/probe/cause_impl.h"

static const double BEYOND = 1.25; /* times the prediction has another reason, too */

/* The record: it bounds the gain. */
static bool bound(const struct probe_subject *subject, double serial, struct cause_test *test) {
	double all = js_real_or(subject->regions, "time", NAN);
	return isnan(all) ? cause_bounded(test, cause_without(serial), "one thread alone runs for %.2g %% of its time",
	                                  100 * serial)
	                  : cause_bounded(test, cause_without(serial), "parallel regions take %.3g %% of its time",
	                                  100 * (1 - serial));
}

/* Where the threads were looked at, parts in which few of them run count as well. Fewer cores also have higher clocks
 * and larger caches for each, and none of that must look like a serial part. */
static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	size_t row = cause_row_today(subject);
	double share = cause_share(subject, CAUSE_REGIONS), team = row == SIZE_MAX ? NAN : cause_members(subject, row);
	if (isnan(share) || !subject->program)
		return cause_untestable(test, "the time of its parallel regions is not known");
	if (cause_without(1 - share) < CAUSE_LEAST)
		return bound(subject, 1 - share, test);
	double fewer = cause_fewer(team), slower = subject->alone[1];
	if (!cause_confine(subject, row, fewer, test))
		return false;
	cause_predict(test, 1 / (slower >= 1 ? slower : 1 - share + share * team / fewer), fewer / team, true);
	if (test->predicted < sqrt(CAUSE_CLOCKS) * test->otherwise)
		return cause_untestable(test,
		                        "%.2g %% of its time, without which it gains %.3gx at most, show too little on "
		                        "fewer cores",
		                        100 * (1 - share), cause_without(1 - share));
	test->most = BEYOND * test->predicted;
	test->beyond = "they lose even less than the serial part explains, so that something else holds it back as well";
	return true;
}

const struct cause cause_serial_part = {"serial_part", "cpu", plan};
