/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `sweetspot profile select`: shows the configuration for a problem. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/profile/cmd_profile_text.h"
#include "src/cmd/profile/profile_impl.h"
#include "src/show/results.h"
#include "tuner/profile/select.h"

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

static void number(char *text, size_t size, const struct profile_choice *choice, double value) {
	results_value(value, choice->unit, text, size);
}

static void costs_print(const struct profile_choice *choice) {
	char text[64];
	if (isfinite(choice->predicted)) {
		number(text, sizeof text, choice, choice->predicted);
		line("predicted", text);
	} else {
		line("predicted", "unknown, because the nearest measurements are too far away");
	}
	if (isfinite(choice->measured) && choice->fit != PROFILE_EXACT) {
		number(text, sizeof text, choice, choice->measured);
		line("measured there", text);
	}
	if (isfinite(choice->speedup)) {
		snprintf(text, sizeof text, "%.2fx over the baseline%s", choice->speedup,
		         choice->fit == PROFILE_EXACT ? "" : " there");
		line("speedup", text);
	}
}

static void match_print(const struct profile_choice *choice) {
	char *text;
	if (choice->range) {
		text = mem_printf("%s, %s from %.6g to %.6g", profile_fit_word(choice->fit),
		                  js_string_or(choice->sizes, "over", ""), js_real_or(choice->range, "from", NAN),
		                  js_real_or(choice->range, "to", NAN));
	} else {
		mem_auto char *problem = profile_text_problem(choice->entry);
		text = mem_printf("%s%s%s", profile_fit_word(choice->fit), *problem ? ", tuned for " : "", problem);
	}
	line("match", text);
	free(text);
}

static void people_print(const struct selection *selection) {
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

int profile_select_run(struct app *app, const struct opt_args *args, struct err *err) {
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
		people_print(&selection);
	}
	json_decref(selection.problem);
	profile_input_close(&selection.input);
	return failed;
}
