/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `apply --regions` and `export --regions`: the library and the table reach the program by its environment. */
#include <errno.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/proc/path.h"
#include "base/sys.h"
#include "base/tree.h"
#include "src/app/app.h"
#include "src/cmd/regions/regions_impl.h"
#include "tuner/profile/profile.h"
#include "tuner/result/result.h"
#include "src/app/lock.h"

enum { DOCUMENT_MAX = 8 << 20, KEY = 12 };

/* Settings of regions are kept beside the store in two files per program: NAME-KEY.json for people and tools, and
 * NAME-KEY.table for libsweetspot-omp. The key is a hash of the program's path and the machine. */
struct regions_files {
	char *folder, *json, *table;
};

static char *folder_of(const struct opt_args *args, struct err *err) {
	const char *store = opt_get(args, "store", NULL);
	if (store)
		return mem_printf("%s.regions", store);
	mem_auto char *data = sys_data_dir(err);
	return data ? mem_printf("%s/regions", data) : NULL;
}

static int regions_files_of(struct app *app, const struct opt_args *args, const char *program,
                            struct regions_files *files, struct err *err) {
	const char *machine = app_fingerprint(app, err);
	char hash[SHA256_TEXT], *real = realpath(program, NULL);
	*files = (struct regions_files){.folder = machine ? folder_of(args, err) : NULL};
	if (!files->folder) {
		free(real);
		return -1;
	}
	mem_auto char *identity = mem_printf("%s\n%s", real ? real : program, machine);
	sha256_text(identity, strlen(identity), hash);
	const char *key = strchr(hash, ':') ? strchr(hash, ':') + 1 : hash;
	mem_auto char *absolute = files->folder[0] == '/' ? NULL : realpath(".", NULL);
	mem_auto char *stem = mem_printf("%s%s%s/%s-%.*s", absolute ? absolute : "", absolute ? "/" : "", files->folder,
	                                 text_base_name(program), KEY, key);
	files->json = mem_printf("%s.json", stem);
	files->table = mem_printf("%s.table", stem);
	free(real);
	return 0;
}

static void regions_files_clear(struct regions_files *files) {
	free(files->folder);
	free(files->json);
	free(files->table);
}

/* One document, checked. New reference. */
static json_t *regions_document_load(const char *path, struct err *err) {
	json_t *json = js_load(path, DOCUMENT_MAX, err);
	const char *table;
	if (json && strcmp(js_string_or(json, "schema", ""), "sweetspot-regions/1") == 0 &&
	    js_string(json, "table", &table, err) == 0 && access(table, R_OK) == 0)
		return json;
	if (json)
		err_set(err, ERR_USAGE, "tune the program again with --regions", "%s does not hold usable settings", path);
	json_decref(json);
	return NULL;
}

/* The only document in the folder; *count says how many there are. */
static char *only_document(const char *folder, size_t *count) {
	mem_auto char **paths = tree_files(folder, ".json", count);
	for (size_t i = 1; i < *count; i++)
		free(paths[i]);
	return *count ? paths[0] : NULL;
}

/* The document of a program, NULL for any if there is only one. New reference. */
static json_t *regions_file_load(struct app *app, const struct opt_args *args, const char *program, struct err *err) {
	struct regions_files files = {0};
	mem_auto char *path = NULL;
	size_t count = 0;
	json_t *json = NULL;
	if (program && regions_files_of(app, args, program, &files, err) == 0 && access(files.json, F_OK) == 0)
		path = mem_strdup(files.json);
	if (!program && (files.folder = folder_of(args, err)))
		path = only_document(files.folder, &count);
	if (path && count <= 1)
		json = regions_document_load(path, err);
	else if (count > 1)
		err_set(err, ERR_USAGE, "name the program after two dashes: --regions -- ./app",
		        "settings of %zu programs are kept in %s", count, files.folder);
	else if (files.folder)
		err_set(err, ERR_NOTHING, "sweetspot tune --regions -- ./app in.dat", "no regions have been tuned%s%s",
		        program ? " for " : "", program ? program : "");
	regions_files_clear(&files);
	return json;
}

json_t *regions_file_of_words(struct app *app, const struct opt_args *args, char *const *words, size_t count,
                              struct err *err) {
	mem_auto char *path = count ? program_path(words[0], NULL, err) : NULL;
	mem_auto char *subject = path ? regions_subject(path, words, count) : NULL;
	return count && !path ? NULL : regions_file_load(app, args, subject, err);
}

int regions_files_each(const struct opt_args *args, int (*visit)(void *ctx, const json_t *document), void *ctx) {
	mem_auto char *folder = folder_of(args, NULL);
	size_t count = 0;
	mem_auto char **paths = folder ? tree_files(folder, ".json", &count) : NULL;
	int result = 0;
	for (size_t i = 0; i < count; i++) {
		js_auto json_t *document = result ? NULL : regions_document_load(paths[i], NULL);
		if (document)
			result = visit(ctx, document);
		free(paths[i]);
	}
	return result;
}

static bool is_same_build(const json_t *document) {
	struct regions_rebuilt rebuilt;
	bool same = regions_rebuilt_find(document, false, &rebuilt, NULL) == 0 && !rebuilt.table;
	regions_rebuilt_clear(&rebuilt);
	return same;
}

/* Undecided settings of another command line may still be what the user wants now. */
static bool is_better(const json_t *old, const json_t *result, const struct regions_target *target) {
	bool unusable = verdict_of(result) == VERDICT_SLOWER || js_bool_or(result, "busy", false);
	if (verdict_of(old) != VERDICT_FASTER || js_bool_or(old, "busy", false) ||
	    !(unusable || !verdict_is_decided(result)) || !is_same_build(old))
		return false;
	js_auto json_t *command = regions_target_command(target);
	bool same = json_equal(command, json_object_get(old, "argv"));
	return unusable || same;
}

static int document_write(struct app *app, const struct regions_files *files, const struct regions_target *target,
                          const json_t *result, struct err *err) {
	js_auto json_t *json = json_copy((json_t *)result);
	json_object_set_new(json, "schema", json_string("sweetspot-regions/1"));
	json_object_set_new(json, "program", json_string(target->subject));
	json_object_set_new(json, "argv", regions_target_command(target));
	json_object_set_new(json, "library", json_string(target->library));
	json_object_set_new(json, "fingerprint", json_string(app_fingerprint(app, err)));
	mem_auto char *text = json_dumps(json, JSON_INDENT(2) | JSON_SORT_KEYS);
	return text ? sys_write_file(files->json, text, strlen(text), err) : -1;
}

/* Keeps the result of `tune --regions`, which `apply --regions` then uses. chosen: the table of the result, which is
 * moved to its place. A result that proves nothing does not replace settings of the same build that were proven; people
 * are told. */
static int regions_keep(struct app *app, const struct regions_files *files, const struct regions_target *target,
                        const char *chosen, json_t *result, struct err *err) {
	js_auto json_t *old = access(files->json, F_OK) == 0 ? regions_document_load(files->json, NULL) : NULL;
	bool better = old && is_better(old, result, target);
	json_object_set_new(result, "table", json_string(files->table));
	if (better)
		ui_inform(app_ui(app), "the settings found earlier stay, because they are proven: %.2fx faster",
		          speedup_of(old).ratio);
	if (better)
		return 0;
	if (rename(chosen, files->table))
		return err_set(err, ERR_FAILED, "choose a writable path", "cannot write %s: %s", files->table, strerror(errno));
	return document_write(app, files, target, result, err);
}

enum { TABLE_MAX = 1 << 20 };

/* In one line, because every rank of a job may say it. */
static void tell_kept(struct app *app, const json_t *settings, const char *end) {
	const json_t *argv = json_object_get(settings, "argv");
	mem_auto const char **words = mem_alloc(json_array_size(argv) + 1, sizeof *words);
	for (size_t i = 0; i < json_array_size(argv); i++)
		words[i] = json_string_value(json_array_get(argv, i));
	mem_auto char *line = program_join(words, true);
	text_clean(line, false);
	ui_inform(app_ui(app), "%s, so %s; to prove it: sweetspot tune --regions -- %s",
	          js_bool_or(settings, "busy", false) ? "undecided: the machine was too busy to find settings"
	                                              : profile_use_why(settings),
	          end, line);
}

static bool is_text_same(const char *path, const char *text) {
	size_t size;
	mem_auto char *now = sys_read_file(path, TABLE_MAX, &size, NULL);
	return now && size == strlen(text) && memcmp(now, text, size) == 0;
}

/* Ranks that start together want the same table, so it is written only where it is not there yet. */
static char *table_write(const char *kept, const struct regions_rebuilt *rebuilt, struct err *err) {
	size_t length = strlen(kept);
	if (length > 6 && strcmp(kept + length - 6, ".table") == 0)
		length -= 6;
	char *path = mem_printf("%.*s-%.12s.table", (int)length, kept, rebuilt->build_id ? rebuilt->build_id : "rebuilt");
	if (!is_text_same(path, rebuilt->table) && sys_write_file(path, rebuilt->table, strlen(rebuilt->table), err)) {
		free(path);
		return NULL;
	}
	return path;
}

/* The table for the program as it is now. The one that is kept changes nothing unless its settings are proven. */
static char *table_of(struct app *app, const json_t *settings, struct err *err) {
	const char *kept = js_string_or(settings, "table", "");
	struct regions_rebuilt rebuilt;
	char *path = NULL;
	bool proven = regions_document_proven(settings);
	if (regions_rebuilt_find(settings, !proven, &rebuilt, err) == 0) {
		path = rebuilt.table ? table_write(kept, &rebuilt, err) : mem_strdup(kept);
		if (rebuilt.table && rebuilt.lost)
			ui_warn(app_ui(app), "tune again to find settings for them",
			        "the program was built again: %zu regions keep their settings, %zu have changed: %s", rebuilt.used,
			        rebuilt.lost, rebuilt.names);
		else if (rebuilt.build_id && rebuilt.used)
			ui_inform(app_ui(app), "the program was built again, but its tuned regions are as they were");
	}
	if (path && !proven)
		ui_warn(app_ui(app), NULL, "these settings are used although they are not proven to be faster");
	regions_rebuilt_clear(&rebuilt);
	return path;
}

/* Only variables that `tune` sets by itself: the document is a file that anyone may have edited. */
static const char *environment_value(const json_t *settings, const char *name) {
	const char *value = js_string_or(json_object_get(settings, "environment"), name, "");
	for (const char *c = value; *c; c++)
		if (*c < 'a' || *c > 'z')
			return "";
	return value;
}

/* Ranks that a launcher has not given processors of their own would all be bound to the same ones. */
static bool is_one_of_many(void) {
	static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", "SLURM_NPROCS"};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		const char *size = getenv(sizes[i]);
		if (size && atoi(size) > 1)
			return true;
	}
	return false;
}

/* The variables that the program needs. The user's own words win. New reference. */
static json_t *environment_of(const json_t *settings, const char *library, const char *table) {
	mem_auto char *preload = regions_preload(library);
	json_t *set = json_pack("{s:s,s:s}", "LD_PRELOAD", preload, "SWEETSPOT_OMP_TABLE", table);
	for (const char *const *name = regions_environment_names; *name; name++)
		if (*environment_value(settings, *name) && !getenv(*name) &&
		    (strcmp(*name, "OMP_WAIT_POLICY") == 0 || !is_one_of_many()))
			json_object_set_new(set, *name, json_string(environment_value(settings, *name)));
	return set;
}

static void command_print(const struct regions_target *target, const json_t *set, bool json) {
	mem_auto char *prefix = program_env_prefix(NULL, set),
				  *line = program_join((const char *const *)target->words, true);
	js_auto json_t *document =
		json_pack("{s:o,s:O,s:[]}", "argv", regions_target_command(target), "environment", set, "unset");
	if (json)
		js_write(document, stdout);
	else
		printf("%s%s\n", prefix, line);
}

static int become(struct app *app, const struct regions_target *target, const json_t *set, struct err *err) {
	js_members (name, value, set)
		setenv(name, json_string_value(value), 1);
	app_release(app);
	fflush(stderr);
	execv(target->path, target->words);
	return err_set(err, errno == ENOENT ? ERR_ABSENT : ERR_BARRED, NULL, "cannot run %s: %s", target->path,
	               strerror(errno));
}

static int launch(struct app *app, const struct opt_args *args, const struct regions_target *target,
                  const json_t *settings, struct err *err) {
	bool used = opt_has(args, "anyway") || regions_document_proven(settings);
	mem_auto char *table = used ? table_of(app, settings, err) : NULL;
	if (used && !table)
		return -1;
	js_auto json_t *set = used ? environment_of(settings, target->library, table) : json_object();
	if (!used)
		tell_kept(app, settings, "the program runs as it is");
	if (!opt_has(args, "print"))
		return become(app, target, set, err);
	command_print(target, set, opt_has(args, "json"));
	return 0;
}

int regions_command_apply(struct app *app, const struct opt_args *args, struct err *err) {
	struct regions_target target;
	js_auto json_t *settings = NULL;
	if (regions_target_read(&target, app, args, "apply", err) == 0)
		settings = regions_file_load(app, args, target.subject, err);
	int failed = settings ? launch(app, args, &target, settings, err) : -1;
	regions_target_clear(&target);
	return failed;
}

static void environment_print(FILE *out, const char *form, const json_t *settings) {
	for (const char *const *name = regions_environment_names; *name; name++)
		if (*environment_value(settings, *name))
			fprintf(out, form, *name, environment_value(settings, *name));
}

/* table: NULL where nothing is to be set. */
static void lines_print(FILE *out, const char *format, const char *library, const char *table, const json_t *settings) {
	bool module = format[0] == 'm';
	if (module)
		fputs("#%Module1.0\n", out);
	if (!table) {
		fputs("# no settings are proven to be faster, so the program runs as it is\n", out);
		return;
	}
	mem_auto char *quoted_library = program_quote(library), *quoted_table = program_quote(table);
	if (module) {
		fprintf(out, "prepend-path LD_PRELOAD {%s}\nsetenv SWEETSPOT_OMP_TABLE {%s}\n", library, table);
		environment_print(out, "setenv %s {%s}\n", settings);
	} else {
		fprintf(out, "export LD_PRELOAD=%s${LD_PRELOAD:+:$LD_PRELOAD}\n", quoted_library);
		fprintf(out, "export SWEETSPOT_OMP_TABLE=%s\n", quoted_table);
		environment_print(out, "export %s=%s\n", settings);
	}
}

/* The measurements stay in the document, but each region keeps its own team. */
static void settings_clear(json_t *settings) {
	js_each (region, json_object_get(settings, "regions")) {
		json_object_set(region, "best", json_object_get(region, "baseline"));
		json_object_set_new(region, "setting", json_pack("{s:i,s:i,s:i}", "threads", 0, "kind", 0, "chunk", 0));
	}
	json_object_set_new(settings, "environment", json_object());
}

static int format_check(const char *format, const char *table, const char *library, struct err *err) {
	static const char *const known[] = {"env", "slurm", "module", "modulefile", "json", NULL};
	if (!opt_is_known(format, known))
		return err_set(err, ERR_USAGE, "env, slurm, modulefile or json", "--regions cannot be exported as %s", format);
	/* Tcl would read these inside braces. */
	if (format[0] == 'm' && table && (strpbrk(library, "{}\\") || strpbrk(table, "{}\\")))
		return err_set(err, ERR_USAGE, "keep the store in a folder without braces and backslashes",
		               "the path of the table cannot be written into a modulefile");
	return 0;
}

static int export_write(const json_t *settings, const char *format, const char *library, const char *table,
                        const char *path, struct err *err) {
	mem_auto char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (out && strcmp(format, "json") == 0)
		js_write(settings, out);
	else if (out)
		lines_print(out, format, library, table, settings);
	int failed = out && fclose(out) == 0 ? 0 : err_set(err, ERR_FAILED, NULL, "out of memory");
	if (!failed && path)
		failed = sys_write_file(path, text, size, err);
	else if (!failed)
		fputs(text, stdout); /* main looks for errors of stdout */
	return failed;
}

int regions_command_export(struct app *app, const struct opt_args *args, struct err *err) {
	const char *format = opt_get(args, "format", "env");
	size_t count;
	char *const *words = opt_rest(args, &count), *library = app_library_path("libsweetspot-omp.so", err);
	js_auto json_t *settings = library ? regions_file_of_words(app, args, words, count, err) : NULL;
	bool used = settings && (opt_has(args, "anyway") || regions_document_proven(settings));
	mem_auto char *table = used ? table_of(app, settings, err) : NULL;
	int failed = !settings || (used && !table) || format_check(format, table, library, err);
	if (!failed && !used) {
		tell_kept(app, settings, "there is nothing to export");
		settings_clear(settings);
	}
	failed = failed || export_write(settings, format, library, table, opt_get(args, "output", NULL), err);
	free(library);
	return failed ? -1 : 0;
}

static int tuned_show(struct app *app, const struct opt_args *args, const struct regions_target *target, json_t *result,
                      struct err *err) {
	json_object_set_new(result, "kernel", json_string(text_base_name(target->subject)));
	mem_auto char *line = program_join((const char *const *)target->words, true);
	json_object_set_new(result, "problem", json_pack("{s:s}", "command", line));
	if (!opt_has(args, "json")) {
		mem_auto char *command = program_join((const char *const *)target->words, true);
		regions_result_print(app_ui(app), result, command);
		return 0;
	}
	const json_t *machine = app_machine(app, err);
	js_auto json_t *json = json_pack("{s:s,s:O,s:o,s:[O]}", "schema", "sweetspot-tune/1", "machine", machine,
	                                 "noise_floor", json_null(), "results", result);
	return machine && json ? js_write(json, stdout) : -1;
}

int regions_command_tune(struct app *app, const struct opt_args *args, const struct opt *const *tables,
                         struct err *err) {
	struct regions_target target;
	struct regions_files files = {0};
	struct regions_options options;
	js_auto json_t *result = NULL;
	int failed = regions_target_read(&target, app, args, "tune", err) || regions_options_check(args, tables, err) ||
	             regions_files_of(app, args, target.subject, &files, err) ||
	             regions_options_read(app, args, &target, &options, err) || sys_make_dirs(files.folder, err);
	int lock = failed ? -1 : lock_take(app_ui(app), app_interrupt(app), err);
	/* Until they are proven, settings have a file of their own: `apply` may run at any time. */
	mem_auto char *chosen = failed ? NULL : mem_printf("%s.new", files.table);
	if (lock >= 0) {
		options.table = chosen;
		result = regions_tune(&options, err);
		lock_release(lock);
	}
	ui_progress_end(app_ui(app));
	failed = !result || regions_keep(app, &files, &target, chosen, result, err) ||
	         tuned_show(app, args, &target, result, err);
	if (chosen)
		unlink(chosen); /* not there if it was kept */
	regions_files_clear(&files);
	regions_target_clear(&target);
	return failed ? -1 : 0;
}

bool regions_command_known(struct app *app, const struct opt_args *args) {
	struct regions_files files = {0};
	struct err none = {0};
	size_t count;
	char *const *words = opt_rest(args, &count);
	mem_auto char *path = count ? program_path(words[0], NULL, &none) : NULL;
	mem_auto char *subject = path ? regions_subject(path, words, count) : NULL;
	bool known = subject && regions_files_of(app, args, subject, &files, &none) == 0 && access(files.json, R_OK) == 0;
	regions_files_clear(&files);
	return known;
}
