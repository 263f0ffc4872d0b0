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
#include "tuner/regions/regions.h"

static void warn(struct app *app, const json_t *settings) {
	const char *verdict = js_string_or(settings, "verdict", "");
	if (strcmp(verdict, "slower") == 0)
		ui_warn(app_ui(app), "sweetspot tune --regions -- ..", "these settings were slower than the program's own");
	else if (js_bool_or(settings, "busy", false))
		ui_warn(app_ui(app), "tune again when the machine is quiet",
		        "the machine was too busy to find settings, so the program runs as it is");
	else if (strcmp(verdict, "undecided") == 0)
		ui_warn(app_ui(app), "tune again with a larger --budget", "it is not proven that these settings are faster");
}

static bool is_usable(const json_t *settings) {
	return strcmp(js_string_or(settings, "verdict", ""), "slower") != 0 && !js_bool_or(settings, "busy", false);
}

int regions_command_apply(struct app *app, const struct opt_args *args, struct err *err) {
	struct regions_target target;
	json_t *settings = NULL;
	if (regions_target_read(&target, args, "apply", err) == 0)
		settings = regions_file_load(app, args, target.path, err);
	if (settings && is_usable(settings)) {
		char *preload = regions_preload(target.library);
		setenv("LD_PRELOAD", preload, 1);
		setenv("SWEETSPOT_OMP_TABLE", js_string_or(settings, "table", ""), 1);
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
	json_decref(settings);
	regions_target_clear(&target);
	return -1;
}

static void lines_print(FILE *out, const char *format, const char *library, const char *table) {
	char *quoted_library = program_quote(library), *quoted_table = program_quote(table);
	if (strcmp(format, "modulefile") == 0) {
		fprintf(out, "#%%Module1.0\nprepend-path LD_PRELOAD {%s}\nsetenv SWEETSPOT_OMP_TABLE {%s}\n", library, table);
	} else {
		fprintf(out, "export LD_PRELOAD=%s${LD_PRELOAD:+:$LD_PRELOAD}\n", quoted_library);
		fprintf(out, "export SWEETSPOT_OMP_TABLE=%s\n", quoted_table);
	}
	free(quoted_library);
	free(quoted_table);
}

static int format_check(const char *format, const json_t *settings, const char *library, struct err *err) {
	static const char *const known[] = {"env", "slurm", "module", "modulefile", "json"};
	bool found = false;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		found = found || strcmp(format, known[i]) == 0;
	if (!found)
		return err_set(err, ERR_USAGE, "env, slurm, modulefile or json", "--regions cannot be exported as %s", format);
	/* Tcl would read these inside braces. */
	if (format[0] == 'm' && (strpbrk(library, "{}\\") || strpbrk(js_string_or(settings, "table", ""), "{}\\")))
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
	json_t *settings = library ? regions_file_load(app, args, count ? words[0] : NULL, err) : NULL;
	int failed = !settings || format_check(format, settings, library, err);
	FILE *out = failed ? NULL : open_memstream(&text, &size);
	if (out) {
		if (strcmp(format, "json") == 0)
			js_write(settings, out);
		else
			lines_print(out, format[0] == 'm' ? "modulefile" : format, library, js_string_or(settings, "table", ""));
		failed = fclose(out) ? err_set(err, ERR_FAILED, NULL, "out of memory") : 0;
		if (!failed && output)
			failed = sys_write_file(output, text, size, err);
		else if (!failed && (fputs(text, stdout) == EOF || fflush(stdout)))
			failed = err_set(err, ERR_FAILED, NULL, "cannot write: %s", strerror(errno));
	}
	free(text);
	json_decref(settings);
	free(library);
	return failed ? -1 : 0;
}
