/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <unistd.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "base/tree.h"
#include "src/cmd/profile/profile_impl.h"
#include "src/show/results.h"

/* `sweetspot profile merge`: joins profiles of one machine into one, and of several machines into a folder. A conflict
 * is only settled on request, and then reported. `sweetspot profile import` does so with the user's own folder. */
enum { CONFLICTS_SHOWN = 20 };

struct joining {
	struct app *app;
	const char *output; /* NULL for stdout */
	bool folder;
	enum profile_prefer prefer;
	json_t *profiles, *merged, *conflicts;
	json_t *targets; /* {"fingerprint": "path"} */
};

static int prefer_read(const struct opt_args *args, enum profile_prefer *prefer, struct err *err) {
	static const char *const words[] = {"newest", "faster"};
	const char *word = opt_get(args, "prefer", NULL);
	*prefer = PROFILE_PREFER_NONE;
	if (!word)
		return 0;
	for (size_t i = 0; i < 2; i++)
		if (strcmp(word, words[i]) == 0)
			*prefer = i ? PROFILE_PREFER_FASTER : PROFILE_PREFER_NEWEST;
	if (*prefer != PROFILE_PREFER_NONE)
		return 0;
	return opt_refuse(err, word, words, 2, "did you mean --prefer %s?", "newest or faster", "--prefer cannot be %s",
	                  word);
}

static const char *fingerprint_of(const json_t *profile) {
	return js_string_or(json_object_get(profile, "machine"), "fingerprint", "");
}

/* {"fingerprint": null} */
static json_t *machines_of(const json_t *profiles) {
	json_t *machines = json_object();
	js_each (profile, profiles)
		json_object_set_new(machines, fingerprint_of(profile), json_null());
	return machines;
}

/* A profile of the same machine that is there takes part in the merge. */
static int target_find(struct joining *joining, const char *fingerprint, struct err *err) {
	mem_auto char *path = profile_file_name(joining->output, fingerprint);
	bool exists = access(path, F_OK) == 0;
	js_auto json_t *there = exists ? profile_load(path, err) : NULL;
	if (exists && !there)
		return -1;
	if (there && strcmp(fingerprint_of(there), fingerprint) != 0)
		return err_set(err, ERR_USAGE, "move it away", "%s holds the profile of another machine", path);
	if (there)
		json_array_append(joining->profiles, there);
	js_members (machine, target, joining->targets)
		if (strcmp(json_string_value(target), path) == 0)
			return err_set(err, ERR_USAGE, "give them one after the other, and move the first one away",
			               "two of the machines would have the file %s", path);
	json_object_set_new(joining->targets, fingerprint, json_string(path));
	return 0;
}

static int targets_find(struct joining *joining, struct err *err) {
	js_auto json_t *machines = machines_of(joining->profiles);
	if (!joining->folder && json_object_size(machines) > 1)
		return err_set(err, ERR_USAGE, "give a folder, for example -o fleet/", "the profiles belong to %zu machines",
		               json_object_size(machines));
	js_members (fingerprint, value, machines)
		if (joining->folder && target_find(joining, fingerprint, err))
			return -1;
	return 0;
}

/* Writes for example "variant=a x=3 (1.2 ms, 2025-01-01T..)". */
static char *choice_text(const json_t *choice) {
	char median[64] = "";
	mem_auto char *config = json_object_get(choice, "config") ? results_config(json_object_get(choice, "config"), NULL)
	                                                          : mem_strdup("different ranges");
	if (json_object_get(choice, "median"))
		snprintf(median, sizeof median, "%.6g, ", js_real_or(choice, "median", 0));
	return mem_printf("%s (%s%s)", config, median, js_string_or(choice, "measured", ""));
}

static void conflict_describe(struct ui *ui, const json_t *conflict) {
	const json_t *kept = json_object_get(conflict, "kept");
	mem_auto char *kernel = profile_text_kernel(conflict), *problem = profile_text_problem(conflict),
				  *all = mem_strdup("");
	js_each (one, json_object_get(conflict, "left")) {
		mem_auto char *text = choice_text(one);
		mem_append(&all, "%s%s", *all ? "; " : "", text);
	}
	if (json_is_object(kept)) {
		mem_auto char *text = choice_text(kept);
		ui_warn(ui, NULL, "%s %s: using %s, not %s", kernel, problem, text, all);
	} else {
		ui_warn(ui, NULL, "%s %s: %s", kernel, problem, all);
	}
}

static void conflicts_describe(struct joining *joining) {
	size_t count = json_array_size(joining->conflicts);
	for (size_t i = 0; i < count && i < CONFLICTS_SHOWN; i++)
		conflict_describe(app_ui(joining->app), json_array_get(joining->conflicts, i));
	if (count > CONFLICTS_SHOWN)
		ui_warn(app_ui(joining->app), NULL, "and %zu more", count - CONFLICTS_SHOWN);
}

static const char *path_of(const struct joining *joining, const json_t *profile) {
	return joining->folder ? js_string_or(joining->targets, fingerprint_of(profile), "") : joining->output;
}

static int files_write(const struct joining *joining, struct err *err) {
	if (joining->folder && sys_make_dirs(joining->output, err))
		return -1;
	js_each (profile, joining->merged)
		if (profile_save(profile, path_of(joining, profile), err))
			return -1;
	return 0;
}

static void report(const struct joining *joining, bool json) {
	js_auto json_t *files = json_array();
	js_each (profile, joining->merged) {
		size_t entries = json_array_size(json_object_get(profile, "entries"));
		json_array_append_new(files, json_pack("{s:s,s:s,s:I}", "path", path_of(joining, profile), "fingerprint",
		                                       fingerprint_of(profile), "entries", (json_int_t)entries));
		if (!json)
			printf("%s: %zu recommendation%s\n", path_of(joining, profile), entries, entries == 1 ? "" : "s");
	}
	json_t *document =
		json_pack("{s:s,s:I,s:O,s:O}", "schema", "sweetspot-profile-merge/1", "read",
	              (json_int_t)json_array_size(joining->profiles), "files", files, "conflicts", joining->conflicts);
	if (json)
		js_print(document);
}

static int join(struct joining *joining, bool json, struct err *err) {
	if (targets_find(joining, err))
		return -1;
	joining->merged = profile_merge(joining->profiles, joining->prefer, &joining->conflicts, err);
	conflicts_describe(joining);
	if (!joining->merged)
		return -1;
	if (!joining->output) {
		js_write(json_array_get(joining->merged, 0), stdout); /* main looks for errors of stdout */
		return 0;
	}
	if (files_write(joining, err))
		return -1;
	report(joining, json);
	return 0;
}

/* Returns the path without slashes at its end. */
static char *output_read(const struct opt_args *args) {
	const char *output = opt_get(args, "output", NULL);
	char *path = output && strcmp(output, "-") != 0 ? mem_strdup(output) : NULL;
	for (size_t end = path ? strlen(path) : 0; end > 1 && path[end - 1] == '/'; end--)
		path[end - 1] = '\0';
	return path;
}

/* Takes the output. */
static int run_into(struct app *app, const struct opt_args *args, char *output, bool folder, struct joining *joining,
                    struct err *err) {
	*joining = (struct joining){
		.app = app, .output = output, .folder = folder, .profiles = json_array(), .targets = json_object()};
	struct profile_inputs inputs = {0};
	int failed = prefer_read(args, &joining->prefer, err);
	if (!failed && opt_has(args, "json") && !output)
		failed = err_set(err, ERR_USAGE, "add -o FILE", "--json reports on stdout, so the profile needs a file");
	failed = failed || profile_inputs_files(&inputs, app, opt_words_from(args, 1), opt_words(args) - 1, err) ? -1 : 0;
	for (size_t i = 0; i < inputs.count; i++)
		json_array_append(joining->profiles, inputs.items[i].profile);
	if (!failed)
		failed = join(joining, opt_has(args, "json"), err);
	profile_inputs_free(&inputs);
	return failed;
}

static void joining_clear(struct joining *joining, char *output) {
	json_decref(joining->profiles);
	json_decref(joining->targets);
	json_decref(joining->merged);
	json_decref(joining->conflicts);
	free(output);
}

static int profile_merge_run(struct app *app, const struct opt_args *args, struct err *err) {
	char *output = output_read(args);
	struct joining joining;
	int failed =
		run_into(app, args, output,
	             output && (text_ends_with(opt_get(args, "output", ""), "/") || tree_is_folder(output)), &joining, err);
	joining_clear(&joining, output);
	return failed;
}

/* A profile of another host is kept for that host, which may share this folder; nothing here uses it. */
static int foreign_describe(const struct joining *joining, struct err *err) {
	const char *here = app_fingerprint(joining->app, err);
	js_each (profile, joining->merged) {
		const json_t *machine = json_object_get(profile, "machine");
		if (here && strcmp(fingerprint_of(profile), here) != 0)
			ui_inform(
				app_ui(joining->app),
				"%s is for another machine, %s, or for another compiler or flags: programs use it there, not here",
				path_of(joining, profile), js_string_or(machine, "cpu", "whose processor is unknown"));
	}
	return here ? 0 : -1;
}

static int profile_import_run(struct app *app, const struct opt_args *args, struct err *err) {
	char *output = sys_data_dir(err);
	struct joining joining;
	if (!output)
		return -1;
	int failed = run_into(app, args, output, true, &joining, err);
	failed = failed || foreign_describe(&joining, err) ? -1 : 0;
	joining_clear(&joining, output);
	return failed;
}

static const struct opt options[] = {
	OPT_GROUP("show, verify"),
	{"kernel", 0, "NAME", "only this kernel, or this plug-in's", OPT_REPEAT},
	OPT_GROUP("merge, import"),
	{"output", 'o', "FILE", "merge: file to write, or folder for several machines", 0},
	{"prefer", 0, "WORD", "entry to keep in a conflict: newest or faster", 0},
	OPT_GROUP("select"),
	{"profile", 0, "FILE", "profile instead of the store", 0},
	{"objective", 0, "NAME", "time, energy or edp (time)", 0},
	OPT_GROUP("verify, select"),
	{"force", 0, NULL, "also use the profile of another machine", 0},
	OPT_GROUP("verify"),
	{"programs", 0, NULL, "also run the programs that FILE names", 0},
	{"pairs", 0, "N", "minimum number of pairs in a duel (21)", 0},
	{"max-pairs", 0, "N", "maximum number, while a duel is undecided (101)", 0},
	{"timeout", 0, "SECONDS", "time limit of a trial (600)", 0},
	{"seed", 0, "N", "random seed of the input and the comparisons (1)", 0},
	{"ci", 0, NULL, "also exit with 1 if slower than recorded", 0},
	{"fail-slower", 0, "P%", "with --ci: tolerated slowdown (5 %)", 0},
	{"junit", 0, "FILE", "write the outcomes as JUnit XML", 0},
	OPT_GROUP("all verbs"),
	{0},
};

static const struct cmd_verb verb_profile_merge = {
	"merge", "sweetspot profile merge a.json b.json -o all.json", 1, SIZE_MAX, profile_merge_run, {"output", "prefer"}};
static const struct cmd_verb verb_profile_import = {
	"import", "sweetspot profile import cluster.json", 1, SIZE_MAX, profile_import_run, {"prefer"}};

const struct cmd cmd_profile = {
	.name = "profile",
	.summary = "show, compare, merge, verify and look up recommendations",
	.usage = "profile [show] [FILE...]\n"
			 "profile diff OLD [NEW]\n"
			 "profile merge FILE... [-o FILE]\n"
			 "profile import FILE...\n"
			 "profile verify [FILE]\n"
			 "profile select KERNEL P=V...",
	.options = (const struct opt *const[]){options, cmd_device_options, cmd_store_options, NULL},
	.notes = "show    Recommendations, and whether they fit this machine, compiler and kernel.\n"
			 "diff    Changes between two profiles: machine, configurations, times, verdicts.\n"
			 "merge   Profiles of one machine into one file, of several into a folder.\n"
			 "import  Profiles of any machine into the folder in which programs look.\n"
			 "verify  Measures each recommendation again; exits with 1 if one no longer holds.\n"
			 "        Programs of the store run in the folder where they were tuned.\n"
			 "select  The configuration for a problem, and the time to expect.\n"
			 "FILE may also be a folder of profiles; without one, the store is read.",
	.examples = "sweetspot profile\n"
				"sweetspot profile verify --ci --junit sweetspot.xml\n"
				"sweetspot profile select fw n=700",
	.verbs = (const struct cmd_verb *const[]){&verb_profile_show, &verb_profile_diff, &verb_profile_merge,
                                              &verb_profile_import, &verb_profile_verify, &verb_profile_select, NULL},
	.verb = "show",
};
