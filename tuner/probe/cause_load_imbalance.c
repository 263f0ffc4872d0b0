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
static bool is_bounded(const struct probe_subject *subject, double gain, struct cause_test *test) {
	const json_t *worst = worst_of(subject->regions);
	if (isnan(gain) || (worst && gain >= CAUSE_LEAST))
		return false;
	return cause_bounded(test, worst ? gain : 1, "its regions wait %.2g %% of its time for their slowest threads",
	                     100 * cause_share(subject, CAUSE_WAITS));
}

static bool record_plan(const struct probe_subject *subject, size_t row, double gain, struct cause_test *test) {
	static const struct cause_variable dynamic[] = {{"OMP_SCHEDULE", "schedule", "dynamic"}, {0}};
	const json_t *worst = worst_of(subject->regions);
	if (isnan(gain))
		return cause_untestable(test, "%s",
		                        js_bool_or(subject->regions, "busy", false)
		                            ? "other programs took processors from its regions"
		                            : "the threads of its regions were not timed");
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

/* Has a table or a tune shown an effect of the schedule? */
static bool is_seen(const struct probe_subject *subject, const struct cause_test *test) {
	double ratio, ci[2];
	return js_named(subject->findings, "load_imbalance") || cause_price(subject, test, &ratio, ci);
}

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	static const struct cause_words words = {
		"schedule OMP_SCHEDULE", "static", "dynamic guided tasks taskloop", "dynamic", "the schedule of loops", false};
	size_t row = cause_row_today(subject);
	double gain = cause_without(cause_share(subject, CAUSE_WAITS));
	if (subject->regions && !json_array_size(json_object_get(subject->regions, "regions")))
		return cause_bounded(test, 1, "it runs no parallel region");
	bool replaced = cause_replace(subject, &words, test);
	if (subject->regions && !(replaced && is_seen(subject, test)) && is_bounded(subject, gain, test))
		return true;
	return replaced || (subject->regions && row != SIZE_MAX && record_plan(subject, row, gain, test));
}

const struct cause cause_load_imbalance = {"load_imbalance", "cpu", plan};
