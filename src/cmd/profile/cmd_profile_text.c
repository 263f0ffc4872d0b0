/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/profile/cmd_profile_text.h"

#include <math.h>

#include "base/json/js.h"
#include "base/text.h"
#include "src/show/results.h"

char *profile_text_clean(const char *text) {
	char *copy = mem_strdup(text);
	text_clean(copy, false);
	return copy;
}

char *profile_text_kernel(const json_t *entry) {
	const char *objective = js_string_or(entry, "objective", "time"), *device = js_string_or(entry, "device", "cpu");
	bool plain = strcmp(objective, "time") == 0, cpu = strcmp(device, "cpu") == 0;
	char *text =
		mem_printf("%s%s%s%s%s%s", js_string_or(entry, "kernel", "?"), plain && cpu ? "" : " (", plain ? "" : objective,
	               plain || cpu ? "" : ", ", cpu ? "" : device, plain && cpu ? "" : ")");
	text_clean(text, false);
	return text;
}

/* Shows the command line of a program instead of its problem. */
char *profile_text_problem(const json_t *entry) {
	const json_t *problem = json_object_get(entry, "problem");
	const char *command = json_object_get(entry, "program") ? js_string_or(problem, "command", NULL) : NULL;
	return command ? profile_text_clean(command) : results_config(problem, NULL);
}

char *profile_text_config(const json_t *entry) {
	const json_t *config = json_object_get(entry, "config");
	return json_equal(config, js_at(entry, "baseline.config")) ? mem_strdup("(the baseline)")
	                                                           : results_config(config, NULL);
}

void profile_text_median(const json_t *entry, char *text, size_t size) {
	results_value(js_real_or(entry, "median", NAN), js_string_or(entry, "unit", ""), text, size);
	text_clean(text, false);
}

json_t *profile_text_head(const json_t *entry) {
	return json_pack("{s:s,s:O,s:s,s:s}", "kernel", js_string_or(entry, "kernel", ""), "problem",
	                 json_object_get(entry, "problem"), "objective", js_string_or(entry, "objective", "time"), "device",
	                 js_string_or(entry, "device", "cpu"));
}
