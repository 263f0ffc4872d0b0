/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The messages of apply: warnings, and the command that it would run. */
#include "base/json/js.h"
#include "base/proc/work.h"
#include "src/cmd/apply/apply_impl.h"
#include "tuner/profile/profile.h"
#include "tuner/program/program_json.h"
#include <errno.h>
#include <unistd.h>

/* Tells whether `text` matches the template words of `program` (of an entry), in which {NAME} matches any text. */
static bool apply_template_fits(const char *template, const char *text, const json_t *program) {
	struct template_names names = program_recorded_names(program, NULL);
	bool fits = template_fits(template, &names, text);
	free((void *)names.list);
	return fits;
}

/* Joins the words of a template with blanks, filled in or, if config is NULL, as they are. The caller frees the result.
 */
/* The words of a shell's line are joined first, because its quotes may reach from one to the next. */
static char *apply_template_line(const json_t *program, const json_t *config) {
	const json_t *argv = json_object_get(program, "argv");
	bool shell = js_bool_or(program, "shell", false);
	size_t count = json_array_size(argv);
	mem_auto char **words = mem_alloc(count + 1, sizeof *words);
	for (size_t i = 0; i < count; i++) {
		const char *word = json_string_value(json_array_get(argv, i));
		words[i] = config && !shell ? program_recorded_fill(word, false, program, config) : mem_strdup(word);
	}
	char *line = program_join((const char *const *)words, false);
	char *filled = config && shell ? program_recorded_fill(line, true, program, config) : NULL;
	for (size_t i = 0; i < count; i++)
		free(words[i]);
	if (!filled)
		return line;
	free(line);
	return filled;
}

/* Skips the folder of the first word. The rest of the line stays, because the templates of words do not contain blanks.
 */
static const char *base_name(const char *line) {
	size_t length = strcspn(line, " \t\n");
	for (size_t i = length; i-- > 0;)
		if (line[i] == '/')
			return line + i + 1;
	return line;
}

/* Two scripts of one interpreter are two programs, and so is code in its options. */
static bool work_fits(const json_t *program, const struct apply_request *request) {
	mem_auto char *template = apply_template_line(program, NULL), *was = work_name(template);
	mem_auto char *line = program_join((const char *const *)request->words, false), *is = work_name(line);
	return strcmp(was, is) == 0 ? !work_passes(was)
	                            : strchr(was, '{') || json_object_get(json_object_get(program, "params"), was);
}

static bool name_fits(const json_t *program, const struct apply_request *request) {
	const char *first = json_string_value(js_at(program, "argv.0"));
	mem_auto char *template = mem_strdup(base_name(first)), *name = mem_strdup(base_name(request->words[0]));
	if (request->shell)
		template[strcspn(template, " \t\n")] = name[strcspn(name, " \t\n")] = '\0';
	return *name && apply_template_fits(template, name, program);
}

static enum apply_fit text_fit(const char *template, const char *filled, const char *text, const json_t *program) {
	if (strcmp(template, text) == 0 || strcmp(filled, text) == 0)
		return APPLY_FIT_SAME;
	return apply_template_fits(template, text, program) ? APPLY_FIT_OPEN : APPLY_FIT_NONE;
}

static enum apply_fit line_fit(const json_t *program, const json_t *config, const char *line) {
	mem_auto char *template = apply_template_line(program, NULL), *filled = apply_template_line(program, config);
	return text_fit(template, filled, line, program);
}

/* Compares only the arguments, because the program may be called by another path. */
static enum apply_fit arguments_fit(const json_t *program, const json_t *config, const struct apply_request *request) {
	const json_t *argv = json_object_get(program, "argv");
	enum apply_fit worst = APPLY_FIT_SAME;
	if (json_array_size(argv) != request->count)
		return APPLY_FIT_NONE;
	for (size_t i = 1; i < request->count; i++) {
		const char *template = json_string_value(json_array_get(argv, i));
		mem_auto char *filled = program_recorded_fill(template, false, program, config);
		enum apply_fit fit = text_fit(template, filled, request->words[i], program);
		worst = fit < worst ? fit : worst;
	}
	return worst;
}

/* Does what was typed stand in the template, from the program that does the work on, with only parameters, and what
 * belongs to them, behind it? */
static bool is_bare(const json_t *program, const struct apply_request *request) {
	const json_t *argv = json_object_get(program, "argv");
	size_t all = json_array_size(argv), at = 0;
	mem_auto const char **words = mem_alloc(all + 1, sizeof *words);
	for (size_t i = 0; i < all; i++)
		words[i] = json_string_value(json_array_get(argv, i));
	struct work work = work_of_words(words);
	while (at < all && strcmp(words[at], work.word) != 0)
		at++;
	bool bare = at + request->count <= all && request->count < all;
	for (size_t i = 0; bare && i < request->count; i++)
		bare = i == 0 ? strcmp(base_name(words[at]), base_name(request->words[0])) == 0
		              : strcmp(words[at + i], request->words[i]) == 0;
	bool last = at + request->count == all || strchr(words[all - 1], '{');
	free(work.word);
	return bare && last;
}

static enum apply_fit entry_fit(const struct profile_entry *entry, const struct apply_request *request) {
	const json_t *program = entry->program, *config = entry->config;
	enum apply_fit fit;
	if (!program || js_bool_or(program, "shell", false) != request->shell)
		return APPLY_FIT_NONE;
	if (!request->shell && is_bare(program, request))
		return APPLY_FIT_BARE;
	if (!name_fits(program, request))
		return APPLY_FIT_NONE;
	if (request->shell) {
		mem_auto char *line = program_join((const char *const *)request->words, false);
		fit = line_fit(program, config, line);
	} else {
		fit = arguments_fit(program, config, request);
	}
	return fit != APPLY_FIT_NONE ? fit : work_fits(program, request) ? APPLY_FIT_NAME : APPLY_FIT_NONE;
}

/* Tells whether `size`, "K=V,..", agrees with the problem of the entry. */
static bool size_fits(const json_t *problem, const char *size) {
	char *copy = mem_strdup(size), *rest = copy, *part;
	bool fits = true;
	while (fits && (part = strsep(&rest, ","))) {
		char *equals = strchr(part, '=');
		struct value value;
		if (equals)
			*equals = '\0';
		fits = equals && value_from_json(json_object_get(problem, part), &value) &&
		       value_equal(value, value_parse(equals + 1));
	}
	free(copy);
	return fits;
}

static bool is_asked(const struct profile_entry *entry, const struct apply_request *request) {
	if (request->kernel && strcmp(entry->kernel, request->kernel) != 0)
		return false;
	for (const char *const *size = request->size; size && *size; size++)
		if (!size_fits(entry->problem, *size))
			return false;
	return true;
}

/* The program of a request. Its hashes are computed once, and only if they matter. */
struct subject {
	const struct apply_request *request;
	struct program_hashes hashes;
	bool tried;
};

/* Tells whether the executable differs from the one that was tuned. False for a program that is built, run by a shell,
 * or named by a parameter, because its commands identify it, and not a file. */
static bool is_rebuilt(struct subject *subject, const struct profile_entry *entry) {
	const json_t *program = entry->program;
	if (!program || js_bool_or(program, "shell", false) || js_string_or(program, "build", NULL) ||
	    strchr(json_string_value(js_at(program, "argv.0")), '{'))
		return false;
	if (!subject->tried)
		subject->hashes = program_hashes_read((const char *const *)subject->request->words, NULL);
	subject->tried = true;
	return *subject->hashes.work && !program_hashes_have(&subject->hashes, entry->source);
}

static void unknown_kernel(const struct profile *profile, const char *word, struct err *err) {
	size_t count = profile->count, same = 0;
	mem_auto const char **names = mem_alloc(count + 1, sizeof *names);
	for (size_t i = 0; i < count; i++) {
		names[i] = profile->entries[i].kernel;
		same += strcmp(names[i], word) == 0;
	}
	const char *near = near_word(word, names, count);
	if (same)
		err_set(err, ERR_NOTHING, "`sweetspot export --format csv` lists what was tuned",
		        "%s was not tuned on this machine for that size", word);
	else
		err_set(err, ERR_NOTHING, NULL, "nothing is recommended for %s on this machine", word);
	if (!same)
		near ? err_hint(err, "did you mean %s?", near) : err_hint(err, "tune it first: sweetspot tune %s", word);
}

static int fail(const struct profile *profile, const struct apply_request *request, struct err *err) {
	if (request->kernel) {
		unknown_kernel(profile, request->kernel, err);
		return -1;
	}
	mem_auto char *line = program_join((const char *const *)request->words, !request->shell), *name = work_name(line);
	err_set(err, ERR_NOTHING, NULL, "nothing is recommended for %s on this machine", name);
	return -1;
}

int apply_choose(const json_t *json, const struct apply_request *request, struct apply_choice *choice,
                 struct err *err) {
	struct profile profile = profile_read(json);
	struct subject subject = {.request = request};
	int best = -1;
	*choice = (struct apply_choice){0};
	for (size_t i = 0; i < profile.count; i++) {
		const struct profile_entry *entry = &profile.entries[i];
		enum apply_fit fit = is_asked(entry, request) ? entry_fit(entry, request) : APPLY_FIT_NONE;
		if (!is_asked(entry, request) || (!request->kernel && fit == APPLY_FIT_NONE))
			continue;
		bool rebuilt = fit != APPLY_FIT_NONE && is_rebuilt(&subject, entry);
		int rank = 2 * (int)fit + !rebuilt;
		if (rank < best)
			continue;
		best = rank;
		*choice = (struct apply_choice){.entry = *entry, .fit = fit, .rebuilt = rebuilt};
	}
	int failed = best < 0 ? fail(&profile, request, err) : 0;
	free(profile.entries);
	return failed;
}

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

/* Warns of variables that decide what is loaded or run: a profile does not set them, even if they were tuned. */
static void warn_of_variables(struct ui *ui, const struct launch *launch) {
	const struct profile_entry *entry = &launch->choice.entry;
	js_members (name, way, json_object_get(entry->program, "params")) {
		if (strcmp(json_string_value(way), "environment") != 0 || !json_object_get(entry->config, name) ||
		    json_object_get(launch->set, name) || js_has(launch->unset, name))
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

static bool is_current(const char *folder) {
	mem_auto char *here = getcwd(NULL, 0);
	return here && strcmp(here, folder) == 0;
}

static int fail_exec(const struct launch *launch, int why, struct err *err) {
	const json_t *program = launch->choice.entry.program;
	const char *build = js_string_or(program, "build", NULL), *cwd = js_string_or(program, "cwd", NULL);
	const char *folder = js_string_or(program, "folder", NULL);
	bool absent = why == ENOENT || why == ENOTDIR;
	err_set(err, absent ? ERR_ABSENT : ERR_BARRED, "check the path, and that the file is executable",
	        "cannot run %s: %s", launch->argv[0], strerror(why));
	if (absent && build) {
		mem_auto char *line = program_recorded_fill(build, true, program, launch->config);
		err_hint(err, "build it first: %s", line ? line : build);
	} else if (absent && cwd) {
		err_hint(err, "it was tuned in %s", cwd);
	} else if (absent && folder && !is_current(folder)) {
		mem_auto char *word = program_quote(folder);
		err_hint(err, "it was tuned in another folder: cd %s", word);
	}
	return -1;
}

int launch_run(struct app *app, const struct launch *launch, struct err *err) {
	js_each (value, launch->unset) {
		ui_note(app_ui(app), "unset %s", json_string_value(value));
		unsetenv(json_string_value(value));
	}
	js_members (name, value, launch->set) {
		ui_note(app_ui(app), "%s=%s", name, json_string_value(value));
		setenv(name, json_string_value(value), 1);
	}
	app_release(app);
	fflush(stderr);
	execvp(launch->argv[0], launch->argv);
	return fail_exec(launch, errno, err);
}
