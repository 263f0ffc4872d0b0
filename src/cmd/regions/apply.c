/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `apply --regions` and `export --regions`: the library and the table reach the program by its environment. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/app/app.h"
#include "src/base/json/js.h"
#include "src/base/mem.h"
#include "src/base/sys.h"
#include "src/cmd/regions/file.h"
#include "src/cmd/regions/regions.h"
#include "src/cmd/regions/target.h"
#include "tuner/regions/environment.h"
#include "tuner/regions/rebuilt.h"
#include "tuner/regions/regions.h"

enum { TABLE_MAX = 1 << 20 };

static void warn(struct app *app, const json_t *settings) {
	const char *verdict = js_string_or(settings, "verdict", "");
	if (strcmp(verdict, "slower") == 0)
		ui_warn(app_ui(app), "sweetspot tune --regions -- ..", "these settings were slower than the program's own");
	else if (js_bool_or(settings, "busy", false))
		ui_warn(app_ui(app), "tune again when the machine is quiet",
		        "the machine was too busy to find settings, so the program runs as it is");
	else if (strcmp(verdict, "undecided") == 0)
		ui_warn(app_ui(app), "tune again with a larger --budget",
		        "it is not proven that the settings found are faster, so the program runs as it is");
}

static bool is_text_same(const char *path, const char *text) {
	size_t size;
	struct err none = {0};
	char *now = sys_read_file(path, TABLE_MAX, &size, &none);
	bool same = now && size == strlen(text) && memcmp(now, text, size) == 0;
	free(now);
	return same;
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

/* The table for the program as it is now. */
static char *table_of(struct app *app, const json_t *settings, struct err *err) {
	const char *kept = js_string_or(settings, "table", "");
	struct regions_rebuilt rebuilt;
	char *path = NULL;
	if (regions_rebuilt_find(settings, &rebuilt, err) == 0) {
		path = rebuilt.table ? table_write(kept, &rebuilt, err) : mem_strdup(kept);
		if (rebuilt.table && rebuilt.lost)
			ui_warn(app_ui(app), "tune again to find settings for them",
			        "the program was built again: %zu regions keep their settings, %zu have changed: %s", rebuilt.used,
			        rebuilt.lost, rebuilt.names);
		else if (rebuilt.table && rebuilt.used)
			ui_inform(app_ui(app), "the program was built again, but its tuned regions are as they were");
	}
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

/* The user's own words win. */
static void environment_set(const json_t *settings) {
	for (const char *const *name = regions_environment_names; *name; name++)
		if (*environment_value(settings, *name) && (strcmp(*name, "OMP_WAIT_POLICY") == 0 || !is_one_of_many()))
			setenv(*name, environment_value(settings, *name), 0);
}

static void environment_print(FILE *out, const char *form, const json_t *settings) {
	for (const char *const *name = regions_environment_names; *name; name++)
		if (*environment_value(settings, *name))
			fprintf(out, form, *name, environment_value(settings, *name));
}

int regions_command_apply(struct app *app, const struct opt_args *args, struct err *err) {
	struct regions_target target;
	json_t *settings = NULL;
	if (regions_target_read(&target, args, "apply", err) == 0)
		settings = regions_file_load(app, args, target.subject, err);
	char *table = settings && regions_document_proven(settings) ? table_of(app, settings, err) : NULL;
	if (settings && regions_document_proven(settings) && !table) {
		json_decref(settings);
		settings = NULL;
	}
	if (table) {
		char *preload = regions_preload(target.library);
		setenv("LD_PRELOAD", preload, 1);
		setenv("SWEETSPOT_OMP_TABLE", table, 1);
		environment_set(settings);
		free(preload);
	}
	if (settings) {
		warn(app, settings);
		app_release(app);
		fflush(stderr);
		execv(target.path, target.words);
		err_set(err, errno == ENOENT ? ERR_ABSENT : ERR_BARRED, NULL, "cannot run %s: %s", target.path,
		        strerror(errno));
	}
	free(table);
	json_decref(settings);
	regions_target_clear(&target);
	return -1;
}

/* Without a proof there is nothing to load into programs. */
static void lines_print(FILE *out, const char *format, const char *library, const char *table, const json_t *settings) {
	char *quoted_library = program_quote(library), *quoted_table = program_quote(table);
	if (!regions_document_proven(settings)) {
		fprintf(out, "%s# no settings are proven to be faster, so the program runs as it is\n",
		        strcmp(format, "modulefile") == 0 ? "#%Module1.0\n" : "");
	} else if (strcmp(format, "modulefile") == 0) {
		fprintf(out, "#%%Module1.0\nprepend-path LD_PRELOAD {%s}\nsetenv SWEETSPOT_OMP_TABLE {%s}\n", library, table);
		environment_print(out, "setenv %s {%s}\n", settings);
	} else {
		fprintf(out, "export LD_PRELOAD=%s${LD_PRELOAD:+:$LD_PRELOAD}\n", quoted_library);
		fprintf(out, "export SWEETSPOT_OMP_TABLE=%s\n", quoted_table);
		environment_print(out, "export %s=%s\n", settings);
	}
	free(quoted_library);
	free(quoted_table);
}

static int format_check(const char *format, const char *table, const char *library, struct err *err) {
	static const char *const known[] = {"env", "slurm", "module", "modulefile", "json"};
	bool found = false;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		found = found || strcmp(format, known[i]) == 0;
	if (!found)
		return err_set(err, ERR_USAGE, "env, slurm, modulefile or json", "--regions cannot be exported as %s", format);
	/* Tcl would read these inside braces. */
	if (format[0] == 'm' && (strpbrk(library, "{}\\") || strpbrk(table, "{}\\")))
		return err_set(err, ERR_USAGE, "keep the store in a folder without braces and backslashes",
		               "the path of the table cannot be written into a modulefile");
	return 0;
}

int regions_command_export(struct app *app, const struct opt_args *args, struct err *err) {
	const char *format = opt_get(args, "format", "env"), *output = opt_get(args, "output", NULL);
	size_t count;
	char *const *words = opt_rest(args, &count), *text = NULL;
	char *library = regions_library_path(err);
	size_t size;
	json_t *settings = library ? regions_file_of_words(app, args, words, count, err) : NULL;
	/* The table that is kept changes nothing where that is not proven. */
	bool proven = settings && regions_document_proven(settings);
	char *table = proven     ? table_of(app, settings, err)
	              : settings ? mem_strdup(js_string_or(settings, "table", ""))
	                         : NULL;
	int failed = !table || format_check(format, table, library, err);
	if (!failed)
		warn(app, settings);
	FILE *out = failed ? NULL : open_memstream(&text, &size);
	if (out) {
		if (strcmp(format, "json") == 0)
			js_write(settings, out);
		else
			lines_print(out, format[0] == 'm' ? "modulefile" : format, library, table, settings);
		failed = fclose(out) ? err_set(err, ERR_FAILED, NULL, "out of memory") : 0;
		if (!failed && output)
			failed = sys_write_file(output, text, size, err);
		else if (!failed)
			fputs(text, stdout); /* main looks for errors of stdout */
	}
	free(text);
	free(table);
	json_decref(settings);
	free(library);
	return failed ? -1 : 0;
}
