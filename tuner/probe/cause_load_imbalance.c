/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work that is handed out on demand does not leave threads without any. */
#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "tuner/probe/cause_impl.h"

/* The region that loses most time; NULL: none loses any. */
static const json_t *worst_of(const json_t *regions) {
	const json_t *worst = NULL;
	double most = 0;
	js_each (region, json_object_get(regions, "regions")) {
		double lost = js_real_or(region, "time", 0) * js_real_or(region, "imbalance", 0);
		worst = lost > most ? region : worst;
		most = fmax(most, lost);
	}
	return worst;
}

/* The regions of one run tell how much is lost. */
static bool record_plan(const struct probe_subject *subject, size_t row, struct cause_test *test) {
	static const struct cause_variable dynamic[] = {{"OMP_SCHEDULE", "schedule", "dynamic"}, {0}};
	const json_t *worst = worst_of(subject->regions);
	double gain = cause_without(cause_share(subject, CAUSE_WAITS));
	if (isnan(gain))
		return cause_untestable(test, "%s",
		                        js_bool_or(subject->regions, "busy", false)
		                            ? "other programs took processors from its regions"
		                            : "the threads of its regions were not timed");
	if (!worst || gain < CAUSE_LEAST)
		return cause_bounded(test, worst ? gain : 1, "its regions wait %.2g %% of its time for their slowest threads",
		                     100 * cause_share(subject, CAUSE_WAITS));
	if (strcmp(js_string_or(worst, "sharing", ""), "runtime loop") != 0)
		return cause_untestable(test,
		                        "the schedule of %.60s is compiled in; its slowest thread works %.0f %% longer than "
		                        "the mean, which costs at most %.2gx",
		                        js_string_or(worst, "name", "?"), 100 * js_real_or(worst, "imbalance", NAN), gain);
	if (!cause_environment(subject, row, dynamic, test))
		return false;
	cause_predict(test, gain, 1, true);
	return true;
}

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	static const struct cause_words words = {"schedule OMP_SCHEDULE", "static", "dynamic guided tasks taskloop",
	                                         "dynamic", "the schedule of loops"};
	size_t row = cause_row_today(subject);
	if (subject->regions && !json_array_size(json_object_get(subject->regions, "regions")))
		return cause_bounded(test, 1, "it runs no parallel region");
	if (cause_replace(subject, &words, test))
		return true;
	return subject->regions && row != SIZE_MAX && record_plan(subject, row, test);
}

const struct cause cause_load_imbalance = {"load_imbalance", "cpu", plan};
