/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "tuner/export/export.h"
#include "tuner/export/export_text_impl.h"
#include "tuner/export/shell_impl.h"

/* With several recommendations the first argument is the name of one. */
static void put_functions(const json_t *entries, FILE *out) {
	json_t *taken = json_object(), *entry;
	size_t i;
	json_array_foreach(entries, i, entry) {
		char *name = export_entry_name("run_", entry, taken);
		putc('\n', out);
		export_title(out, "# ", entry);
		fprintf(out, "%s() (\n", name);
		if (!export_shell_command_put(entries, entry, true, out))
			fputs("\techo 'it is not run by a command' >&2; exit 2\n", out);
		fputs(")\n", out);
		free(name);
	}
	fputs("\ncase $1 in\n", out);
	const char *name;
	json_t *value;
	json_object_foreach(taken, name, value) fprintf(out, "%s) shift && %s \"$@\" ;;\n", name + strlen("run_"), name);
	fputs("*) echo 'usage: sh SCRIPT NAME [ARG...]' >&2; exit 2 ;;\nesac\n", out);
	json_decref(taken);
}

static int script_write(const json_t *profile, FILE *out, struct err *err) {
	const json_t *entries = json_object_get(profile, "entries"), *first = json_array_get(entries, 0);
	bool one = json_array_size(entries) == 1;
	fputs("#!/bin/sh\n", out);
	export_heading(out, "# ", profile, one ? "runs the program; arguments follow its own." : "runs the program NAME.");
	if (!one)
		put_functions(entries, out);
	else
		export_title(out, "# ", first);
	if (one && !export_shell_command_put(entries, first, false, out))
		fputs("echo 'it is not run by a command: `sweetspot apply` builds and runs it' >&2; exit 2\n", out);
	return export_end(out, "script", err);
}

extern const struct export_format export_script;
const struct export_format export_script = {
	.name = "script",
	.summary = "a shell script that runs the program with its setting",
	.write = script_write,
};
