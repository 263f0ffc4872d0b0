/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `sweetspot profile show`: lists recommendations with their state on this machine. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/json/verdict.h"
#include "base/mem.h"
#include "src/cmd/profile/input.h"
#include "src/cmd/profile/text.h"
#include "src/cmd/profile/verb.h"

struct show {
	struct app *app;
	const struct opt_args *args;
};

static json_t *entry_json(const struct show *show, const struct profile_input *input, const json_t *entry) {
	static const char *const taken[] = {"config", "environment", "median",  "ci",
	                                    "unit",   "speedup",     "verdict", "checked"};
	json_t *json = profile_text_head(entry);
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		json_object_set(json, taken[i], json_object_get(entry, taken[i]));
	json_object_set_new(json, "proven", json_boolean(js_bool_or(entry, "proven", true)));
	json_object_set_new(json, "state", json_string(profile_state_here(show->app, show->args, input, entry)));
	json_object_set_new(json, "measured", json_string(profile_entry_date(entry)));
	return json;
}

static json_t *profile_json(const struct show *show, const struct profile_input *input) {
	json_t *entries = json_array(), *entry;
	const json_t *sizes = json_object_get(input->profile, "sizes");
	size_t i;
	json_array_foreach(json_object_get(input->profile, "entries"), i, entry)
		json_array_append_new(entries, entry_json(show, input, entry));
	return json_pack(
		"{s:s,s:O,s:O,s:O,s:s,s:o,s:o,s:O?}", "path", input->path, "created",
		json_object_get(input->profile, "created"), "generator", json_object_get(input->profile, "generator"),
		"machine", json_object_get(input->profile, "machine"), "state", profile_origin_word(input->origin), "differs",
		profile_machine_differences(json_object_get(input->profile, "machine"), app_machine(show->app, NULL)),
		"entries", entries, "sizes", sizes);
}

static void heading_print(const struct show *show, const struct profile_input *input) {
	const json_t *machine = json_object_get(input->profile, "machine");
	char *path = profile_text_clean(input->path),
		 *cpu = profile_text_clean(js_string_or(machine, "cpu", "unknown CPU"));
	char *compiler = profile_text_clean(js_string_or(machine, "compiler", "unknown compiler"));
	printf("%s: %s, %.19s\n%s, %s\n", path, input->origin == PROFILE_FOREIGN ? "another machine" : "this machine",
	       js_string_or(machine, "fingerprint", ""), cpu, compiler);
	if (input->origin != PROFILE_HERE) {
		char *differing = profile_differing(show->app, input);
		printf("differs from this machine: %s\n", differing);
		free(differing);
	}
	free(path);
	free(cpu);
	free(compiler);
}

/* The speedup is then that of another configuration, which was not better. */
static bool keeps_baseline(const json_t *entry) {
	return json_equal(json_object_get(entry, "config"), json_object_get(json_object_get(entry, "baseline"), "config"));
}

static void row_add(struct table *table, const char *state, const json_t *entry) {
	char median[64], speedup[64];
	char *kernel = profile_text_kernel(entry), *problem = profile_text_problem(entry);
	char *config = profile_text_config(entry);
	profile_text_median(entry, median, sizeof median);
	profile_text_speedup(keeps_baseline(entry) ? NULL : json_object_get(entry, "speedup"), speedup, sizeof speedup);
	if (verdict_of(entry) == VERDICT_NOT_SAME)
		snprintf(speedup, sizeof speedup, "other work");
	if (strcmp(js_string_or(entry, "verdict", ""), "undecided") == 0) /* its interval may reach from 0 to billions */
		snprintf(speedup, sizeof speedup, "undecided");
	char *whole = mem_printf("%s%s", state, json_object_get(entry, "busy") ? ", busy machine" : "");
	table_add(table, kernel, problem, median, speedup, config, whole);
	free(whole);
	free(kernel);
	free(problem);
	free(config);
}

static void profile_print(const struct show *show, const struct profile_input *input) {
	static const char *const titles[] = {"kernel", "problem", "median", "speedup [95 %]", "configuration", "state"};
	struct table *table = table_new(sizeof titles / sizeof *titles, titles);
	size_t i;
	json_t *entry, *sizes;
	heading_print(show, input);
	table_right(table, 2);
	json_array_foreach(json_object_get(input->profile, "entries"), i, entry) row_add(
		table,
		js_bool_or(entry, "proven", true) ? profile_state_here(show->app, show->args, input, entry) : "not yet proven",
		entry);
	table_print(table, app_ui(show->app), stdout);
	table_free(table);
	json_array_foreach(json_object_get(input->profile, "sizes"), i, sizes) {
		char *kernel = profile_text_kernel(sizes), *over = profile_text_clean(js_string_or(sizes, "over", ""));
		size_t ranges = json_array_size(json_object_get(sizes, "thresholds"));
		printf("%s: %zu range%s of %s\n", kernel, ranges, ranges == 1 ? "" : "s", over);
		free(kernel);
		free(over);
	}
}

static void print(const struct show *show, const struct profile_inputs *inputs) {
	json_t *profiles = opt_has(show->args, "json") ? json_array() : NULL;
	for (size_t i = 0; i < inputs->count; i++) {
		if (profiles) {
			json_array_append_new(profiles, profile_json(show, &inputs->items[i]));
			continue;
		}
		if (i > 0)
			putchar('\n');
		profile_print(show, &inputs->items[i]);
	}
	if (!profiles)
		return;
	json_t *document = json_pack("{s:s,s:O,s:o}", "schema", "sweetspot-profile-show/1", "machine",
	                             app_machine(show->app, NULL), "profiles", profiles);
	js_write(document, stdout);
	json_decref(document);
}

/* Profiles without the kernel of --kernel are left out, but at least one must have it. */
static int pick(struct profile_inputs *inputs, const struct show *show, struct err *err) {
	size_t kept = 0;
	for (size_t i = 0; i < inputs->count; i++) {
		struct profile_input one = inputs->items[i];
		*err = (struct err){0};
		int failed = profile_input_pick(&one, show->app, show->args, err);
		if (failed && err->code != ERR_NOTHING)
			return -1;
		if (failed)
			profile_input_close(&one);
		else
			inputs->items[kept++] = one;
	}
	inputs->count = kept;
	if (kept)
		*err = (struct err){0};
	return kept ? 0 : -1;
}

int profile_show(struct app *app, const struct opt_args *args, struct err *err) {
	const struct show show = {app, args};
	size_t count = opt_words(args) ? opt_words(args) - 1 : 0;
	const char **paths = mem_alloc(count + 1, sizeof *paths);
	struct profile_inputs inputs = {0};
	for (size_t i = 0; i < count; i++)
		paths[i] = opt_word(args, i + 1);
	int failed =
		count ? profile_inputs_files(&inputs, app, paths, count, err) : profile_inputs_store(&inputs, app, args, err);
	failed = failed || pick(&inputs, &show, err) ? -1 : 0;
	if (!failed)
		print(&show, &inputs);
	profile_inputs_free(&inputs);
	free(paths);
	return failed;
}
