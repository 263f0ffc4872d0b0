/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/profile/profile_impl.h"
#include "src/show/results.h"

static json_t *side_json(const struct profile_input *input) {
	return json_pack("{s:s,s:O,s:O,s:s}", "path", input->path, "created", json_object_get(input->profile, "created"),
	                 "fingerprint", js_at(input->profile, "machine.fingerprint"), "state",
	                 profile_origin_word(input->origin));
}

static void document_print(const struct profile_input inputs[2], json_t *diff) {
	json_t *document = json_pack("{s:s,s:o,s:o}", "schema", "sweetspot-profile-diff/1", "a", side_json(&inputs[0]), "b",
	                             side_json(&inputs[1]));
	json_object_update(document, diff);
	js_print(document);
}

static char *member_text(const json_t *value) {
	mem_auto char *text = json_is_string(value) ? mem_strdup(json_string_value(value)) : js_canonical(value);
	return text ? profile_text_clean(text) : mem_strdup("-");
}

/* Writes for example "block 16 -> 64". */
static char *settings_text(const json_t *settings) {
	char *text = mem_strdup("");
	js_each (one, settings) {
		mem_auto char *a = member_text(json_object_get(one, "a")), *b = member_text(json_object_get(one, "b"));
		mem_auto char *name = profile_text_clean(js_string_or(one, "name", ""));
		mem_append(&text, "%s%s %s -> %s", *text ? ", " : "", name, a, b);
	}
	return text;
}

static void machine_print(const json_t *differences) {
	js_each (one, differences) {
		js_auto json_t *array = json_pack("[O]", one);
		mem_auto char *text = settings_text(array);
		printf("%s\n", text);
	}
}

static char *changes_text(const json_t *row) {
	json_t *changes = json_object_get(row, "changes");
	char *text = mem_strdup("");
	js_each (change, changes)
		mem_append(&text, "%s%s", *text ? ", " : "", json_string_value(change));
	return text;
}

static char *profile_text_config(const json_t *entry) {
	const json_t *config = json_object_get(entry, "config");
	return json_equal(config, js_at(entry, "baseline.config")) ? mem_strdup("(the baseline)")
	                                                           : results_config(config, NULL);
}

/* Writes a median with its unit. */
static struct shown median_text(const json_t *entry) {
	return results_value(js_real_or(entry, "median", NAN), js_string_or(entry, "unit", ""));
}

static void row_add(struct table *table, const json_t *row) {
	const json_t *a = json_object_get(row, "a"), *b = json_object_get(row, "b"), *any = json_is_object(a) ? a : b;
	double ratio = js_real_or(row, "ratio", NAN);
	char times[32] = "-";
	mem_auto char *kernel = profile_text_kernel(any), *problem = profile_text_problem(any),
				  *changes = changes_text(row);
	mem_auto char *settings =
		any == a && json_is_object(b) ? settings_text(json_object_get(row, "config")) : profile_text_config(any);
	if (isfinite(ratio))
		snprintf(times, sizeof times, "%.3f", ratio);
	table_add(table, kernel, problem, changes, median_text(a).text, median_text(b).text, times, settings);
}

static void people_print(struct ui *ui, const struct profile_input inputs[2], const json_t *diff) {
	struct table *table =
		table_titled("kernel", "problem", "changed", "\1before", "\1after", "\1ratio", "configuration", NULL);
	size_t same = 0, changed = 0;
	js_each (row, json_object_get(diff, "entries")) {
		bool is_same = json_array_size(json_object_get(row, "changes")) == 0;
		same += is_same;
		changed += !is_same;
		if (!is_same)
			row_add(table, row);
	}
	for (int side = 0; side < 2; side++) {
		mem_auto char *path = profile_text_clean(inputs[side].path);
		const json_t *machine = json_object_get(inputs[side].profile, "machine");
		printf("%s %s, %s, %.19s\n", side ? "after: " : "before:", path,
		       js_string_or(inputs[side].profile, "created", ""), js_string_or(machine, "fingerprint", ""));
	}
	machine_print(json_object_get(diff, "machine"));
	if (changed)
		table_print(table, ui, stdout);
	printf("%zu of %zu recommendations changed\n", changed, changed + same);
	table_free(table);
}

static int diff_run(struct app *app, const struct opt_args *args, struct err *err) {
	struct profile_input inputs[2] = {0};
	const char *second = opt_words(args) > 2 ? opt_word(args, 2) : NULL;
	int failed = profile_input_open(&inputs[0], app, args, opt_word(args, 1), err) ||
	                     profile_input_open(&inputs[1], app, args, second, err)
	                 ? -1
	                 : 0;
	js_auto json_t *diff = failed ? NULL : profile_diff(inputs[0].profile, inputs[1].profile);
	if (diff && opt_has(args, "json"))
		document_print(inputs, diff);
	else if (diff)
		people_print(app_ui(app), inputs, diff);
	profile_input_close(&inputs[0]);
	profile_input_close(&inputs[1]);
	return failed;
}

const struct cmd_verb verb_profile_diff = {"diff",   "sweetspot profile diff OLD.json NEW.json", 1, 2, diff_run,
                                           {"store"}};

/* `sweetspot profile select`: shows the configuration for a problem. */
struct selection {
	struct app *app;
	const struct opt_args *args;
	struct profile_input input;
	json_t *problem;
	struct profile_choice choice;
	const char *state;
};

/* A range depends on all entries of its kernel, so it is stale as soon as one of them is. */
static const char *state_of(const struct selection *selection) {
	const struct profile_choice *choice = &selection->choice;
	const char *state = profile_origin_word(selection->input.origin), *kernel = opt_word(selection->args, 1);
	if (choice->entry)
		return profile_state_here(selection->app, selection->args, &selection->input, choice->entry);
	js_each (entry, json_object_get(selection->input.profile, "entries")) {
		const char *one = strcmp(js_string_or(entry, "kernel", ""), kernel) == 0
		                      ? profile_state_here(selection->app, selection->args, &selection->input, entry)
		                      : state;
		if (strcmp(one, "stale") == 0)
			return one;
	}
	return state;
}

static json_t *document(const struct selection *selection) {
	const struct profile_choice *choice = &selection->choice;
	const json_t *from = choice->entry ? json_object_get(choice->entry, "problem") : NULL;
	json_t *range = choice->range
	                    ? json_pack("{s:O,s:O,s:O}", "over", json_object_get(choice->sizes, "over"), "from",
	                                json_object_get(choice->range, "from"), "to", json_object_get(choice->range, "to"))
	                    : json_null();
	return json_pack("{s:s,s:s,s:O,s:s,s:s,s:s,s:s,s:O,s:O,s:s,s:o,s:o,s:o,s:o,s:O?,s:o}", "schema",
	                 "sweetspot-profile-select/1", "kernel", opt_word(selection->args, 1), "problem",
	                 selection->problem, "objective", choice->objective, "profile", selection->input.path, "match",
	                 profile_fit_word(choice->fit), "state", selection->state, "config", choice->config, "environment",
	                 choice->environment, "unit", choice->unit, "predicted", js_number(choice->predicted), "measured",
	                 js_number(choice->measured), "speedup", js_number(choice->speedup), "distance",
	                 js_number(choice->distance), "of", from, "range", range);
}

static void line(const char *what, const char *text) {
	mem_auto char *clean = profile_text_clean(text);
	printf("%-14s %s\n", what, clean);
}

static void costs_print(const struct profile_choice *choice) {
	char text[64];
	line("predicted", isfinite(choice->predicted) ? results_value(choice->predicted, choice->unit).text
	                                              : "unknown, because the nearest measurements are too far away");
	if (isfinite(choice->measured) && choice->fit != PROFILE_EXACT)
		line("measured there", results_value(choice->measured, choice->unit).text);
	if (isfinite(choice->speedup)) {
		snprintf(text, sizeof text, "%.2fx over the baseline%s", choice->speedup,
		         choice->fit == PROFILE_EXACT ? "" : " there");
		line("speedup", text);
	}
}

static void match_print(const struct profile_choice *choice) {
	mem_auto char *text = NULL;
	if (choice->range) {
		text = mem_printf("%s, %s from %.6g to %.6g", profile_fit_word(choice->fit),
		                  js_string_or(choice->sizes, "over", ""), js_real_or(choice->range, "from", NAN),
		                  js_real_or(choice->range, "to", NAN));
	} else {
		mem_auto char *problem = profile_text_problem(choice->entry);
		text = mem_printf("%s%s%s", profile_fit_word(choice->fit), *problem ? ", tuned for " : "", problem);
	}
	line("match", text);
}

static void selection_print(const struct selection *selection) {
	const struct profile_choice *choice = &selection->choice;
	mem_auto char *problem = results_config(selection->problem, NULL), *config = results_config(choice->config, NULL);
	mem_auto char *environment = results_config(choice->environment, NULL);
	line("kernel", opt_word(selection->args, 1));
	line("problem", *problem ? problem : "any");
	match_print(choice);
	line("state", selection->state);
	costs_print(choice);
	line("configuration", config);
	line("environment", environment);
}

static void warn(const struct selection *selection) {
	struct ui *ui = app_ui(selection->app);
	if (strcmp(selection->state, "stale") == 0)
		ui_warn(ui, "tune it again", "the kernel has changed since it was tuned");
	else if (selection->input.origin != PROFILE_HERE)
		ui_warn(ui, "`sweetspot profile verify` checks whether it still holds", "%s was made on %s",
		        selection->input.path,
		        selection->input.origin == PROFILE_FOREIGN ? "another machine" : "this machine with another compiler");
}

static int words_read(struct selection *selection, struct err *err) {
	const struct opt_args *args = selection->args;
	const char *kernel = opt_word(args, 1);
	if (!profile_select_objective(selection->input.profile, kernel, opt_get(args, "objective", NULL), err))
		return -1;
	for (size_t i = 2; i < opt_words(args); i++)
		if (profile_select_word(selection->input.profile, kernel, opt_word(args, i), selection->problem, err))
			return -1;
	return 0;
}

static int look_up(struct selection *selection, struct err *err) {
	const struct opt_args *args = selection->args;
	if (profile_input_open(&selection->input, selection->app, args, opt_get(args, "profile", NULL), err))
		return -1;
	if (selection->input.origin == PROFILE_FOREIGN && !opt_has(args, "force"))
		return err_set(err, ERR_NOTHING, "programs would not use it here; --force shows it anyway",
		               "%s comes from another machine", selection->input.path);
	return words_read(selection, err) ||
	               profile_select(selection->input.profile, opt_word(args, 1), opt_get(args, "objective", NULL),
	                              selection->problem, &selection->choice, err)
	           ? -1
	           : 0;
}

static int select_run(struct app *app, const struct opt_args *args, struct err *err) {
	struct selection selection = {.app = app, .args = args, .problem = json_object()};
	int failed = look_up(&selection, err);
	if (!failed) {
		selection.state = state_of(&selection);
		warn(&selection);
	}
	if (!failed && opt_has(args, "json")) {
		json_t *json = document(&selection);
		js_print(json);
	} else if (!failed) {
		selection_print(&selection);
	}
	json_decref(selection.problem);
	profile_input_close(&selection.input);
	return failed;
}

const struct cmd_verb verb_profile_select = {"select",   "sweetspot profile select fw n=700",       1, SIZE_MAX,
                                             select_run, {"profile", "objective", "store", "force"}};

/* `sweetspot profile show`: lists recommendations with their state on this machine. */
struct show {
	struct app *app;
	const struct opt_args *args;
};

static json_t *entry_json(const struct show *show, const struct profile_input *input, const json_t *entry) {
	static const char *const taken[] = {"config",  "environment",  "median",  "ci",    "unit",
	                                    "speedup", VERDICT_MEMBER, "checked", "worth", "not_needed"};
	json_t *json = profile_text_head(entry);
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		json_object_set(json, taken[i], json_object_get(entry, taken[i]));
	json_object_set_new(json, "proven", json_boolean(js_bool_or(entry, "proven", true)));
	json_object_set_new(json, "state", json_string(profile_state_here(show->app, show->args, input, entry)));
	json_object_set_new(json, "measured", json_string(profile_entry_date(entry)));
	return json;
}

static json_t *profile_json(const struct show *show, const struct profile_input *input) {
	json_t *entries = json_array();
	const json_t *sizes = json_object_get(input->profile, "sizes");
	js_each (entry, json_object_get(input->profile, "entries"))
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
	mem_auto char *path = profile_text_clean(input->path),
				  *cpu = profile_text_clean(js_string_or(machine, "cpu", "unknown CPU"));
	mem_auto char *compiler = profile_text_clean(js_string_or(machine, "compiler", "unknown compiler"));
	printf("%s: %s, %.19s\n%s, %s\n", path, input->origin == PROFILE_FOREIGN ? "another machine" : "this machine",
	       js_string_or(machine, "fingerprint", ""), cpu, compiler);
	if (input->origin != PROFILE_HERE) {
		mem_auto char *differing = profile_differing(show->app, input);
		printf("differs from this machine: %s\n", differing);
	}
}

/* The speedup is then that of another configuration, which was not better. */
static bool keeps_baseline(const json_t *entry) {
	return json_equal(json_object_get(entry, "config"), js_at(entry, "baseline.config"));
}

static void entry_add(struct table *table, const char *state, const json_t *entry) {
	enum verdict verdict = verdict_of(entry);
	mem_auto char *kernel = profile_text_kernel(entry), *problem = profile_text_problem(entry);
	mem_auto char *config = profile_text_config(entry);
	struct shown speedup = speedup_text(speedup_of(entry));
	const char *gain = verdict == VERDICT_NOT_SAME    ? "other work"
	                   : verdict == VERDICT_UNDECIDED ? "undecided" /* its interval may reach from 0 to billions */
	                   : keeps_baseline(entry)        ? "-"
	                                                  : speedup.text;
	mem_auto char *whole = mem_printf("%s%s", state, json_object_get(entry, "busy") ? ", busy machine" : "");
	table_add(table, kernel, problem, median_text(entry).text, gain, config, whole);
}

static void profile_print(const struct show *show, const struct profile_input *input) {
	struct table *table =
		table_titled("kernel", "problem", "\1median", "speedup [95 %]", "configuration", "state", NULL);
	heading_print(show, input);
	js_each (entry, json_object_get(input->profile, "entries"))
		entry_add(table,
		          js_bool_or(entry, "proven", true) ? profile_state_here(show->app, show->args, input, entry)
		                                            : "not yet proven",
		          entry);
	table_end(table, app_ui(show->app), stdout);
	js_each (sizes, json_object_get(input->profile, "sizes")) {
		mem_auto char *kernel = profile_text_kernel(sizes), *over = profile_text_clean(js_string_or(sizes, "over", ""));
		size_t ranges = json_array_size(json_object_get(sizes, "thresholds"));
		printf("%s: %zu range%s of %s\n", kernel, ranges, ranges == 1 ? "" : "s", over);
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
	js_print(json_pack("{s:s,s:O,s:o}", "schema", "sweetspot-profile-show/1", "machine", app_machine(show->app, NULL),
	                   "profiles", profiles));
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

static int show_run(struct app *app, const struct opt_args *args, struct err *err) {
	const struct show show = {app, args};
	size_t count = opt_words(args) ? opt_words(args) - 1 : 0;
	struct profile_inputs inputs = {0};
	int failed = count ? profile_inputs_files(&inputs, app, opt_words_from(args, 1), count, err)
	                   : profile_inputs_store(&inputs, app, args, err);
	failed = failed || pick(&inputs, &show, err) ? -1 : 0;
	if (!failed)
		print(&show, &inputs);
	profile_inputs_free(&inputs);
	return failed;
}

const struct cmd_verb verb_profile_show = {
	"show", "sweetspot profile show [FILE...]", 0, SIZE_MAX, show_run, {"kernel", "store"}};
