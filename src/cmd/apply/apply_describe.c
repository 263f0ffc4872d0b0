/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The messages of apply: warnings, and the command that it would run. */
#include "src/cmd/apply/apply_impl.h"
#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "tuner/profile/profile_state.h"
#include "tuner/profile/use.h"
#include "tuner/program/program.h"

/* Cleans text of the profile or the command line for people. */
char *launch_shown(char *text) {
	text_clean(text, false);
	return text;
}

static void warn_of_arguments(struct ui *ui, const struct launch *launch) {
	const json_t *program = launch->choice.entry.program;
	if (launch->choice.fit == APPLY_FIT_NAME) {
		mem_auto char *tuned = launch_shown(apply_template_line(program, NULL));
		ui_warn(ui, NULL, "it was tuned with other arguments: %s", tuned);
	} else if (launch->choice.fit == APPLY_FIT_OPEN) {
		mem_auto char *best = launch_shown(apply_template_line(program, launch->choice.entry.config));
		ui_warn(ui, NULL, "these are not the recommended arguments: %s", best);
	}
}

static void warn_of_age(struct ui *ui, const struct launch *launch) {
	const struct profile_entry *entry = &launch->choice.entry;
	mem_auto char *name = launch_shown(mem_strdup(entry->kernel));
	mem_auto char *again = launch_shown(mem_printf("tune it again: %s", entry->command));
	if (launch->choice.rebuilt)
		ui_warn(ui, again, "%s has been rebuilt since it was tuned", name);
	else if (strcmp(entry->state, "stale") == 0)
		ui_warn(ui, again, "%s has changed since it was tuned", name);
}

static bool is_unset(const struct launch *launch, const char *name) {
	js_each (one, launch->unset)
		if (strcmp(json_string_value(one), name) == 0)
			return true;
	return false;
}

/* Warns of variables that decide what is loaded or run: a profile does not set them, even if they were tuned. */
static void warn_of_variables(struct ui *ui, const struct launch *launch) {
	const struct profile_entry *entry = &launch->choice.entry;
	js_members (name, way, json_object_get(entry->program, "params")) {
		if (strcmp(json_string_value(way), "environment") != 0 || !json_object_get(entry->config, name) ||
		    json_object_get(launch->set, name) || is_unset(launch, name))
			continue;
		mem_auto char *plain = launch_shown(mem_strdup(name));
		ui_warn(ui, "set it yourself; `sweetspot export` shows its value",
		        "%s was tuned, but a profile must not set this variable", plain);
	}
}

static void warn_of_load(struct ui *ui, const struct launch *launch) {
	mem_auto char *busy = profile_entry_busy(launch->choice.entry.json);
	if (busy)
		ui_warn(ui, "`sweetspot profile verify` compares it again", "this setting was %s", busy);
}

/* In one line, because every rank of a job may say it. */
static void tell_kept(struct ui *ui, const struct launch *launch) {
	mem_auto char *proof = profile_use_proof(launch->choice.entry.json);
	ui_inform(ui, "%s, so the program runs as it is%s%s", launch->kept, proof ? "; to prove it: " : "",
	          proof ? proof : "");
}

void launch_warn(struct ui *ui, const struct launch *launch) {
	if (!launch->choice.entry.json)
		return;
	if (launch->kept) {
		tell_kept(ui, launch);
		return;
	}
	const struct profile_entry *entry = &launch->choice.entry;
	const char *why = profile_use_why(entry->json);
	if (why && !entry->keeps)
		ui_warn(ui, NULL, "this setting is used although the result is %s", why);
	warn_of_load(ui, launch);
	warn_of_arguments(ui, launch);
	warn_of_age(ui, launch);
	warn_of_variables(ui, launch);
}

static void line_print(const struct launch *launch) {
	mem_auto char *prefix = program_env_prefix(launch->unset, launch->set);
	mem_auto char *words = program_join((const char *const *)launch->argv, true);
	printf("%s%s%s%s\n", launch->before ? launch->before : "", prefix, words, launch->behind ? launch->behind : "");
}

void launch_print(const struct launch *launch, bool json) {
	if (!json) {
		line_print(launch);
		return;
	}
	json_t *argv = json_array();
	for (char **word = launch->argv; *word; word++)
		json_array_append_new(argv, value_json(value_word(*word)));
	const json_t *entry = launch->choice.entry.json;
	json_t *document = json_object();
	json_object_set_new(document, "argv", argv);
	json_object_set(document, "environment", launch->set);
	json_object_set(document, "unset", launch->unset);
	json_object_set_new(document, "kernel", entry ? json_incref(json_object_get(entry, "kernel")) : json_null());
	json_object_set_new(document, "problem", entry ? json_incref(json_object_get(entry, "problem")) : json_null());
	js_print(document);
}
