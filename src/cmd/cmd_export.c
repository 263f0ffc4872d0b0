/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/tree.h"
#include "src/cmd/regions/regions.h"
#include "tuner/export/export.h"
#include "tuner/profile/profile.h"
#include "tuner/program/program.h"

static const struct opt what_options[] = {
	OPT_GROUP("What to export"),
	{"regions", 0, NULL, "settings found by tune --regions", 0},
	{"profile", 0, "FILE", "profile, or folder of profiles, instead of the store", 0},
	{"param", 0, "NAME", "variable that the profile may also set", OPT_REPEAT},
	{"anyway", 0, NULL, "also settings that are not proven to be faster", 0},
	{0},
};

static const struct opt options[] = {
	OPT_GROUP("Output"),
	{"format", 'f', "NAME", "json, env, c, slurm, csv, .. (`list formats`)", 0},
	{"output", 'o', "FILE", "file to write (stdout)", 0},
	{0},
};

static const struct export_format *format_read(const struct opt_args *args, struct err *err) {
	const char *names[64] = {0}, *name = opt_get(args, "format", "json");
	size_t count = 0;
	const struct export_format *format = export_find(name);
	if (format)
		return format;
	for (; export_registry[count] && count < 64; count++)
		names[count] = export_registry[count]->name;
	opt_refuse(err, name, names, count, "did you mean %s?", "`sweetspot list formats` lists them",
	           "unknown format \"%s\"", name);
	return NULL;
}

/* The kernels that the user named: built-in ones and plug-ins as they are now, or names that only the store may know.
 */
struct wanted {
	const struct kernel_list *built_in;
	const char *device;
	const struct kernel_desc **kernels; /* NULL for a name that is not known here */
	const char **names;
	size_t count;
	bool trials; /* the format needs all trials of one search */
};

static const char *source_of(void *ctx, const char *kernel) {
	const struct wanted *wanted = ctx;
	for (size_t i = 0; i < wanted->count; i++)
		if (wanted->kernels[i] && strcmp(wanted->names[i], kernel) == 0)
			return wanted->kernels[i]->source;
	const struct kernel_desc *found = kernel_list_find(wanted->built_in, kernel, wanted->device, NULL);
	return found ? found->source : NULL;
}

/* A name without a slash that is unknown here may belong to a plug-in that was tuned. */
static int wanted_add(struct app *app, struct wanted *wanted, const char *word, struct err *unknown, struct err *err) {
	const struct kernel_desc *kernel = app_kernel(app, word, err);
	if (!kernel && (err->code != ERR_USAGE || strchr(word, '/')))
		return -1;
	if (!kernel && unknown->code == ERR_OK)
		*unknown = *err;
	*err = (struct err){0};
	wanted->kernels[wanted->count] = kernel;
	wanted->names[wanted->count++] = kernel ? kernel->name : word;
	return 0;
}

/* A name that neither this program nor the store knows must be a mistake. Returns the first one; NULL if there is none.
 */
static const char *mistaken(const struct wanted *wanted, const json_t *profile) {
	for (size_t i = 0; i < wanted->count; i++)
		if (!wanted->kernels[i] && !js_find(json_object_get(profile, "entries"), "kernel", wanted->names[i]))
			return wanted->names[i];
	return NULL;
}

/* Adds to each entry the trials of its search. */
static int trials_add(struct store *store, json_t *profile, struct err *err) {
	js_each (entry, json_object_get(profile, "entries")) {
		json_t *trials = store_trials_json(store, js_int_or(json_object_get(entry, "provenance"), "search", 0), err);
		if (!trials)
			return -1;
		json_object_set_new(entry, "trials", trials);
	}
	return 0;
}

/* Keeps the results of the program after the dashes, as it was given to `tune`. */
static int program_keep(json_t *profile, const struct opt_args *args, struct err *err) {
	size_t count;
	char *const *words = opt_rest(args, &count);
	if (!opt_dashes(args) || count == 0)
		return 0;
	json_t *entries = json_object_get(profile, "entries");
	mem_auto char *line = program_join((const char *const *)words, true),
				  *plain = program_join((const char *const *)words, false);
	for (size_t i = json_array_size(entries); i-- > 0;) {
		const json_t *problem = json_object_get(json_array_get(entries, i), "problem");
		const char *command = js_string_or(problem, "command", "");
		if (strcmp(command, line) != 0 && strcmp(command, plain) != 0)
			json_array_remove(entries, i);
	}
	if (json_array_size(entries) == 0)
		err_set(err, ERR_NOTHING, "`sweetspot store list` shows what was tuned, as it was written",
		        "nothing is recommended for %s on this machine", line);
	return err->code == ERR_OK ? 0 : -1;
}

/* Prefers results in seconds, and then the newest. */
static bool is_before(const json_t *one, const json_t *other) {
	const struct profile_entry a = profile_entry_read(one), b = profile_entry_read(other);
	bool time = strcmp(a.unit, "s") == 0;
	int order = strcmp(a.measured, b.measured);
	if (time != (strcmp(b.unit, "s") == 0))
		return time;
	return order ? order > 0 : a.search > b.search;
}

/* Formats with trials hold a single search, so keep the newest entry and say which one it is. */
static void keep_one(struct app *app, json_t *profile) {
	json_t *entries = json_object_get(profile, "entries"), *kept = json_array_get(entries, 0);
	for (size_t i = 1; i < json_array_size(entries); i++)
		if (is_before(json_array_get(entries, i), kept))
			kept = json_array_get(entries, i);
	if (json_array_size(entries) < 2)
		return;
	ui_warn(app_ui(app), "name a kernel to choose another one", "exporting only the newest of %zu results, for %s",
	        json_array_size(entries), js_string_or(kept, "kernel", ""));
	json_object_set_new(profile, "entries", json_pack("[O]", kept));
}

/* Returns the CPUs of each thread, or "unbound" if the settings are unknown to us. */
static const char *binding_of(const struct topo *topo, const json_t *entry, struct topo_binding **binding) {
	const json_t *environment = json_object_get(entry, "environment");
	long threads = strtol(js_string_or(environment, "OMP_NUM_THREADS", "1"), NULL, 10);
	*binding = threads < 1 || threads > 65536
	               ? NULL
	               : topo_binding_new(topo, (int)threads, js_string_or(environment, "OMP_PLACES", "threads"),
	                                  js_string_or(environment, "OMP_PROC_BIND", "false"), NULL);
	return *binding ? topo_binding_key(*binding) : "[*]";
}

/* Adds the numbers of CPUs to entries of this machine only, because they mean nothing on another one. */
static int bindings_add(struct app *app, json_t *profile, struct err *err) {
	const char *here = app_fingerprint(app, err);
	struct topo *topo = here ? app_topo(app, err) : NULL;
	if (!topo)
		return -1;
	if (strcmp(js_string_or(json_object_get(profile, "machine"), "fingerprint", ""), here) != 0)
		return 0;
	js_each (entry, json_object_get(profile, "entries")) {
		struct topo_binding *binding;
		json_object_set_new(entry, "binding", json_string(binding_of(topo, entry, &binding)));
		topo_binding_free(binding);
	}
	return 0;
}

/* One of the results may be near. */
static void mistake_tell(struct app *app, struct wanted *wanted, struct store *store, const char *word,
                         const struct err *unknown, struct err *err) {
	struct err none = {0};
	const char *fingerprint = app_fingerprint(app, &none);
	js_auto json_t *all =
		store && fingerprint ? profile_from_store(store, fingerprint, NULL, source_of, wanted, &none) : NULL;
	json_t *entries = json_object_get(all, "entries");
	mem_auto const char **names = mem_alloc(json_array_size(entries) + 1, sizeof *names);
	size_t count = 0;
	js_each (entry, entries)
		names[count++] = js_string_or(entry, "kernel", "");
	app_name_unknown(app, word, unknown, names, count, err);
}

static json_t *profile_of(struct app *app, const struct opt_args *args, struct wanted *wanted, struct err *err) {
	struct err unknown = {0};
	for (size_t i = 0; i < opt_words(args); i++)
		if (wanted_add(app, wanted, opt_word(args, i), &unknown, err))
			return NULL;
	const char *fingerprint = app_fingerprint(app, err);
	struct store *store = fingerprint ? store_open(opt_get(args, "store", NULL), STORE_READ, err) : NULL;
	const char *const *names = opt_words(args) ? wanted->names : NULL;
	js_auto json_t *profile = store ? profile_from_store(store, fingerprint, names, source_of, wanted, err) : NULL;
	int failed = profile ? program_keep(profile, args, err) : 0;
	if (profile && !failed && wanted->trials) {
		keep_one(app, profile);
		failed = trials_add(store, profile, err);
	}
	const char *word = failed ? NULL : mistaken(wanted, profile);
	if (word && (profile || err->code == ERR_NOTHING)) {
		mistake_tell(app, wanted, store, word, &unknown, err);
		failed = -1;
	}
	store_close(store);
	return failed ? NULL : json_incref(profile);
}

static json_t *from_store(struct app *app, const struct opt_args *args, bool trials, struct err *err) {
	struct wanted wanted = {.built_in = app_kernels(app, err), .device = app_device_kind(app), .trials = trials};
	if (!wanted.built_in)
		return NULL;
	wanted.names = mem_alloc(opt_words(args) + 1, sizeof *wanted.names);
	wanted.kernels = mem_alloc(opt_words(args) + 1, sizeof *wanted.kernels);
	json_t *profile = profile_of(app, args, &wanted, err);
	free(wanted.names);
	free(wanted.kernels);
	return profile;
}

/* Loads a file even if it belongs to another machine; from a folder, takes the profile of this machine. */
static json_t *from_path(struct app *app, const char *path, struct err *err) {
	if (!tree_is_folder(path))
		return profile_load(path, err);
	return profile_at(path, app_fingerprint(app, err), err);
}

/* If the store does not know this machine and --store is not given, searches the folders in which libsweetspot
 * searches. *file tells whether the profile is a file. */
static json_t *from_any(struct app *app, const struct opt_args *args, bool trials, bool *file, struct err *err) {
	const char *path = opt_get(args, "profile", NULL), *set = getenv("SWEETSPOT_PROFILE");
	bool asked = opt_has(args, "store") || trials;
	*file = path || (!asked && set && *set);
	if (*file)
		return path ? from_path(app, path, err) : profile_find(app_fingerprint(app, err), err);
	json_t *profile = from_store(app, args, trials, err);
	if (profile || err->code != ERR_NOTHING || asked)
		return profile;
	struct err second = {0};
	profile = profile_find(app_fingerprint(app, &second), &second);
	*file = profile != NULL;
	if (profile)
		*err = (struct err){0};
	return profile;
}

/* Removes the entries of kernels that were not named. */
static int pick(json_t *profile, const struct opt_args *args, struct err *err) {
	if (profile_pick(profile, opt_words_from(args, 0), err) == 0)
		return 0;
	return err_hint(err, "tune it first: sweetspot tune %s", opt_word(args, 0));
}

/* Output is read as code, also where a file of somebody else gives the names and values. */
static int variables_check(const json_t *profile, const struct opt_args *args, struct err *err) {
	size_t count = opt_count(args, "param");
	mem_auto const char **named = mem_alloc(count + 1, sizeof *named);
	int failed = 0;
	for (size_t k = 0; k < count; k++)
		named[k] = opt_at(args, "param", k);
	js_each (entry, json_object_get(profile, "entries"))
		failed = failed || profile_check_foreign(entry, named, err);
	return failed;
}

/* A profile of another host is written as what it is: its comment must not call it this machine's. */
static int origin_check(struct app *app, json_t *profile, const struct export_format *format, struct err *err) {
	const char *here = app_fingerprint(app, err),
			   *profiled = js_string_or(json_object_get(profile, "machine"), "fingerprint", "");
	if (!here)
		return -1;
	if (strcmp(profiled, here) == 0)
		return 0;
	ui_warn(app_ui(app), "`sweetspot tune` here, or compare with `sweetspot profile show`",
	        "this profile belongs to another machine, or to another compiler or flags");
	if (strcmp(format->name, "json") != 0)
		json_object_set_new(profile, "foreign", json_true());
	return 0;
}

/* The comments of the formats say so, too, but a file is often sourced unread. used: what is not proven, too. */
static void doubts_tell(struct app *app, const json_t *entry, bool used) {
	const char *kernel = js_string_or(entry, "kernel", ""), *why = profile_use_why(entry);
	mem_auto char *busy = profile_entry_busy(entry), *proof = profile_use_proof(entry);
	if (why && used)
		ui_warn(app_ui(app), NULL, "the setting of %s is exported although the result is %s", kernel, why);
	else if (why)
		ui_inform(app_ui(app), "%s is %s, so nothing is set for it%s%s", kernel, why, proof ? "; to prove it: " : "",
		          proof ? proof : "");
	if (busy && (used || !why))
		ui_warn(app_ui(app), "`sweetspot profile verify` compares it again", "the setting of %s was %s", kernel, busy);
}

/* Formats with trials hold measurements and recommend nothing. */
static void use_proven(struct app *app, const struct opt_args *args, const struct export_format *format,
                       json_t *profile) {
	bool used = opt_has(args, "anyway");
	js_each (entry, json_object_get(profile, "entries"))
		if (!format->trials)
			doubts_tell(app, entry, used);
	if (!format->trials && !used)
		profile_settle(profile, format->data);
}

static int write_out(const struct export_format *format, const json_t *profile, const char *path, struct err *err) {
	mem_auto char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	struct profile read = profile_read(profile);
	int failed = memory ? format->write(&read, memory, err) : err_set(err, ERR_FAILED, NULL, "out of memory");
	if (memory)
		fclose(memory);
	if (!failed && path)
		failed = sys_write_file(path, text, size, err);
	else if (!failed)
		fputs(text, stdout); /* main looks for errors of stdout */
	free(read.entries);
	return failed;
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_has(args, "regions"))
		return regions_command_export(app, args, err);
	const struct export_format *format = format_read(args, err);
	const char *from = opt_get(args, "profile", NULL), *path = opt_get(args, "output", NULL);
	if (!format)
		return -1;
	if (opt_has(args, "json"))
		format = export_find("json");
	if (from && format->trials)
		return err_set(err, ERR_USAGE, "leave --profile out, because only the store has trials",
		               "a profile does not contain the trials that %s needs", format->name);
	bool file;
	js_auto json_t *profile = from_any(app, args, format->trials, &file, err);
	if (!profile)
		return -1;
	int failed = file ? pick(profile, args, err) || program_keep(profile, args, err) ||
	                        variables_check(profile, args, err) || origin_check(app, profile, format, err)
	                  : 0;
	if (!failed)
		use_proven(app, args, format, profile);
	if (!failed && format->binding)
		failed = bindings_add(app, profile, err);
	if (!failed)
		failed = write_out(format, profile, path && strcmp(path, "-") != 0 ? path : NULL, err);
	return failed;
}

const struct cmd cmd_export = {
	.name = "export",
	.summary = "write the recommendations for programs and job scripts",
	.usage = "export [OPTION...] [KERNEL...] [-- PROGRAM [ARG...]]",
	.options = (const struct opt *const[]){what_options, cmd_device_options, cmd_store_options, options, NULL},
	.notes = "Exports the results of this machine with its current compiler and flags. Only\n"
			 "what is proven to be faster is set; after a tie your own setting stays.",
	.examples = "sweetspot export --format env fw -o fw.sh\n"
				"sweetspot export --format c -o tuned.h",
	.only_reads = true,
	.run = run,
};
