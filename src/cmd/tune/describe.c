/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/tune/describe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "src/show/results.h"

void tune_describe_progress(void *ctx, const struct tune_progress *progress) {
	struct tune_description *description = ctx;
	char phase[sizeof description->phase];
	snprintf(phase, sizeof phase, "%s", progress->note && progress->phase == TUNE_SEARCH ? progress->note : "");
	if (*phase && strcmp(phase, description->phase) != 0) {
		snprintf(description->phase, sizeof description->phase, "%s", phase);
		ui_step(description->ui, "search: %s", phase);
	}
	struct tune_progress shown = *progress;
	shown.kernel = description->name ? description->name : shown.kernel;
	results_progress(description->ui, &shown);
	watch_progress(description->watch, &shown);
}

void tune_describe_warning(void *ctx, const char *text) {
	struct tune_description *description = ctx;
	ui_progress_end(description->ui);
	ui_warn(description->ui, NULL, "%s", text);
}

void tune_describe_found(void *ctx, const json_t *config, const json_t *baseline, double gain) {
	struct tune_description *description = ctx;
	char *words = results_config(config, baseline);
	ui_progress_end(description->ui);
	ui_inform(description->ui, "%.2fx so far with %s, not yet proven; Ctrl-C ends the search and keeps it", gain,
	          words);
	free(words);
}

static long long failures_of(const json_t *result) {
	const char *type;
	json_t *count;
	long long sum = 0;
	json_object_foreach(json_object_get(result, "failures"), type, count) if (strcmp(type, "censored") != 0) sum +=
		json_integer_value(count);
	return sum;
}

static const char *end_of(const char *stopped) {
	static const char *const words[][2] = {{"budget", "the budget is used up"},
	                                       {"space", "all configurations have been tried"},
	                                       {"gain", "the expected gain is too small"},
	                                       {"baseline", "the program fails as it is run today"}};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(stopped, words[i][0]) == 0)
			return words[i][1];
	return "interrupted";
}

void tune_describe_end(struct tune_description *description, const json_t *result) {
	ui_progress_end(description->ui);
	if (!result)
		return;
	size_t sources = json_array_size(json_object_get(result, "sources")), i;
	json_t *source;
	json_array_foreach(json_object_get(result, "sources"), i, source)
		ui_step(description->ui, "search: uses %lld configurations of %s",
	            (long long)js_int_or(source, "configurations", 0), js_string_or(source, "name", "?"));
	ui_step(
		description->ui,
		"search: %s measured %lld of %lld configurations, %lld failed, %lld cut short, %zu earlier searches used; %s",
		js_string_or(result, "strategy", "?"), (long long)js_int_or(result, "evaluations", 0),
		(long long)js_int_or(json_object_get(result, "space"), "valid", 0), failures_of(result),
		(long long)js_int_or(json_object_get(result, "failures"), "censored", 0), sources,
		end_of(js_string_or(result, "stopped", "")));
}
