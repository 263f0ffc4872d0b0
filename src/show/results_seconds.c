/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json/js.h"
#include "base/text.h"
#include "src/show/results.h"

static void builds_print(const json_t *result, FILE *out) {
	const json_t *building = json_object_get(result, "building");
	if (!building)
		return;
	fprintf(
		out,
		"  builds: %lld, reused %lld, stopped %lld, given up %lld; up to %lld at the same time, %s; %.3g s in all\n",
		(long long)js_int_or(result, "builds", 0), (long long)js_int_or(building, "reused", 0),
		(long long)js_int_or(building, "stopped", 0), (long long)js_int_or(building, "given_up", 0),
		(long long)js_int_or(building, "jobs", 1), js_string_or(building, "when", "?"),
		js_real_or(building, "seconds", 0));
}

static void one_print(const json_t *result, FILE *out) {
	const json_t *seconds = json_object_get(result, "seconds");
	mem_auto char *kernel = mem_strdup(js_string_or(result, "kernel", "?"));
	double all = js_real_or(result, "elapsed_s", 0);
	text_clean(kernel, false);
	fprintf(out, "\nwhere the time went: %s, %.3g s\n", kernel, all);
	js_members (what, value, seconds) {
		double share = all > 0 ? 100 * json_number_value(value) / all : 0;
		if (json_number_value(value) > 0)
			fprintf(out, "  %-9s %8.2f s %5.1f %%\n", what, json_number_value(value), share);
	}
	builds_print(result, out);
}

void results_seconds_print(const json_t *results, FILE *out) {
	js_each (result, results)
		if (json_is_object(json_object_get(result, "seconds")))
			one_print(result, out);
}
