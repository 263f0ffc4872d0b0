/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `explain --regions`: a sentence or two about each region that matters. */
#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "src/cmd/regions/cmd_regions_apply.h"
#include "src/cmd/regions/regions.h"

static const double SMALL = 0.01; /* of the time in regions */

static void teams_print(const json_t *region) {
	const json_t *teams = json_object_get(region, "teams");
	char time[32];
	js_each (team, teams) {
		ui_seconds(js_real_or(team, "time", NAN), time, sizeof time);
		printf("%s%lld thread%s %s", team_at ? ", " : "  a run takes with ", (long long)js_int_or(team, "threads", 0),
		       js_int_or(team, "threads", 0) == 1 ? "" : "s", time);
	}
	if (json_array_size(teams))
		putchar('\n');
}

static void limit_print(const json_t *region) {
	const char *text = js_string_or(region, "limit_text", "");
	const char *limit = js_string_or(region, "limit", "");
	if (*text)
		printf("  %s%s\n", strcmp(limit, "unknown") == 0 ? "its limit is " : "limited because ", text);
	else if (strcmp(limit, "none") == 0)
		printf("  it uses its whole team well\n");
	else
		printf("  its limit is unknown, because its calls were too few to try other teams\n");
	text = js_string_or(region, "cannot_change", "");
	if (*text)
		printf("  %s\n", text);
	if (js_bool_or(region, "fixed", false))
		printf("  the program chooses its team itself: a num_threads clause or omp_set_num_threads\n");
}

static void region_print(struct ui *ui, const json_t *region) {
	const json_t *best = json_object_get(region, "best");
	const char *place = js_string_or(region, "place", ""), *schedule = js_string_or(best, "schedule", "");
	double threads = js_real_or(best, "threads", NAN),
		   call = js_real_or(region, "time", NAN) / js_real_or(region, "calls", NAN);
	char time[32];
	ui_seconds(call, time, sizeof time);
	printf("%s%s%s%s%s%s: %.1f %% of the time, %lld calls of %s\n", ui_style(ui, UI_BOLD),
	       js_string_or(region, "name", "?"), ui_style(ui, UI_PLAIN), *place ? " (" : "", place, *place ? ")" : "",
	       100 * js_real_or(region, "share", NAN), (long long)js_int_or(region, "calls", 0), time);
	limit_print(region);
	teams_print(region);
	if (js_real_or(region, "gain", 1) != 1 || *schedule)
		printf("  best found: %.3g thread%s%s%s\n", threads, threads == 1 ? "" : "s", *schedule ? ", " : "", schedule);
}

int regions_command_explain(struct app *app, const struct opt_args *args, struct err *err) {
	size_t count, small = 0;
	char *const *words = opt_rest(args, &count);
	json_t *document = regions_file_of_words(app, args, words, count, err);
	if (!document)
		return -1;
	if (opt_has(args, "json")) {
		int failed = js_print(document);
		return failed;
	}
	js_each (region, json_object_get(document, "regions"))
		if (js_real_or(region, "share", 0) >= SMALL)
			region_print(app_ui(app), region);
		else
			small++;
	if (small)
		printf("%zu region%s of less than 1 %% of the time %s left alone\n", small, small == 1 ? "" : "s",
		       small == 1 ? "is" : "are");
	json_decref(document);
	return 0;
}
