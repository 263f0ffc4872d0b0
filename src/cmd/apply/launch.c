/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prepares the environment and the words of a command, and runs it. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/cmd/apply/apply.h"
#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/profile/program.h"
#include "tuner/profile/use.h"
#include "tuner/program/program.h"

/* The OpenMP settings belong together: a profile recommends all of them, or none if the present ones are the best. */
static bool governs_openmp(const json_t *entry) {
	const json_t *program = json_object_get(entry, "program"), *environment = json_object_get(entry, "environment");
	bool some = false;
	for (const char *const *governed = program_governed; *governed; governed++)
		some = some || json_object_get(environment, *governed);
	return some && (!program || js_bool_or(program, "openmp", false));
}

/* Variables of the user's own that are best left out. */
static void without_read(struct launch *launch) {
	size_t i;
	json_t *name;
	json_array_foreach(json_object_get(launch->choice.entry, "unset"), i, name) {
		if (!json_object_get(launch->set, json_string_value(name)))
			json_array_append(launch->unset, name);
	}
}

static int environment_read(struct launch *launch, struct err *err) {
	const json_t *entry = launch->choice.entry;
	const char *name;
	json_t *value;
	json_object_foreach(json_object_get(entry, "environment"), name, value) {
		const char *text = json_string_value(value);
		char *clean = launch_shown(mem_strdup(text));
		bool same = strcmp(clean, text) == 0;
		free(clean);
		if (!same)
			return err_set(err, ERR_USAGE, "tune again", "the recommended %s contains control characters", name);
		json_object_set(launch->set, name, value);
	}
	without_read(launch);
	bool governs = governs_openmp(entry);
	for (const char *const *governed = program_governed; governs && *governed; governed++)
		if (!json_object_get(launch->set, *governed))
			json_array_append_new(launch->unset, json_string(*governed));
	return 0;
}

static int shell_fill(struct launch *launch, const struct apply_request *request, struct err *err) {
	const json_t *program = json_object_get(launch->choice.entry, "program");
	char *line = program_join((const char *const *)request->words, false);
	char *filled = program ? apply_shell_fill(line, program, launch->config, err) : mem_strdup(line);
	free(line);
	launch->argv[0] = mem_strdup("/bin/sh");
	launch->argv[1] = mem_strdup("-c");
	launch->argv[2] = filled;
	return filled ? 0 : -1;
}

/* Copies the words and replaces {NAME} by the recommended value. */
static int words_fill(struct launch *launch, const struct apply_request *request, struct err *err) {
	const json_t *program = json_object_get(launch->choice.entry, "program");
	launch->argv = mem_alloc(request->count + 4, sizeof *launch->argv);
	if (request->shell)
		return shell_fill(launch, request, err);
	for (size_t i = 0; i < request->count; i++)
		launch->argv[i] = program ? apply_template_fill(request->words[i], false, program, launch->config)
		                          : mem_strdup(request->words[i]);
	if (launch->program) {
		free(launch->argv[0]);
		launch->argv[0] = mem_strdup(launch->program);
	}
	return 0;
}

static bool is_current(const char *folder) {
	char *here = getcwd(NULL, 0);
	bool same = here && strcmp(here, folder) == 0;
	free(here);
	return same;
}

static int fail_exec(const struct launch *launch, int why, struct err *err) {
	const json_t *program = json_object_get(launch->choice.entry, "program");
	const char *build = js_string_or(program, "build", NULL), *cwd = js_string_or(program, "cwd", NULL);
	const char *folder = js_string_or(program, "folder", NULL);
	bool absent = why == ENOENT || why == ENOTDIR;
	err_set(err, absent ? ERR_ABSENT : ERR_BARRED, "check the path, and that the file is executable",
	        "cannot run %s: %s", launch->argv[0], strerror(why));
	if (absent && build) {
		char *line = apply_template_fill(build, true, program, launch->config);
		err_hint(err, "build it first: %s", line ? line : build);
		free(line);
	} else if (absent && cwd) {
		err_hint(err, "it was tuned in %s", cwd);
	} else if (absent && folder && !is_current(folder)) {
		char *word = program_quote(folder);
		err_hint(err, "it was tuned in another folder: cd %s", word);
		free(word);
	}
	return -1;
}

int launch_run(struct app *app, const struct launch *launch, struct err *err) {
	const char *name;
	json_t *value;
	size_t i;
	json_array_foreach(launch->unset, i, value) {
		ui_note(app_ui(app), "unset %s", json_string_value(value));
		unsetenv(json_string_value(value));
	}
	json_object_foreach(launch->set, name, value) {
		ui_note(app_ui(app), "%s=%s", name, json_string_value(value));
		setenv(name, json_string_value(value), 1);
	}
	app_release(app);
	fflush(stderr);
	execvp(launch->argv[0], launch->argv);
	return fail_exec(launch, errno, err);
}

int launch_make(struct ui *ui, struct launch *launch, const struct apply_request *request, struct err *err) {
	launch->set = json_object();
	launch->unset = json_array();
	const json_t *entry = launch->choice.entry, *baseline = json_object_get(entry, "baseline");
	launch->kept = entry && !request->anyway ? profile_use_why(entry) : NULL;
	launch->config = json_copy(json_object_get(launch->kept ? baseline : entry, "config"));
	if (launch->choice.foreign && apply_nested_check(launch->config, request, err))
		return -1;
	if (launch->kept) /* the program runs as the user would run it: nothing is set */
		return words_fill(launch, request, err);
	if ((launch->choice.foreign && profile_check_foreign(entry, request->params, err)) ||
	    (entry && environment_read(launch, err)) || launch_build_choose(ui, launch, request, err))
		return -1;
	return words_fill(launch, request, err);
}

void launch_clear(struct launch *launch) {
	for (char **word = launch->argv; word && *word; word++)
		free(*word);
	free(launch->argv);
	free(launch->program);
	json_decref(launch->config);
	json_decref(launch->set);
	json_decref(launch->unset);
}
