/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/export/export.h"
#include "tuner/export/export_impl.h"

/* With several recommendations the first argument is the name of one. */
static void put_functions(const struct profile *profile, FILE *out) {
	js_auto json_t *taken = json_object();
	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_entry *entry = &profile->entries[i];
		mem_auto char *name = export_entry_name("run_", entry, taken);
		putc('\n', out);
		export_title(out, "# ", entry);
		fprintf(out, "%s() (\n", name);
		if (!export_shell_command_put(profile, entry, true, out))
			fputs("\techo 'it is not run by a command' >&2; exit 2\n", out);
		fputs(")\n", out);
	}
	fputs("\ncase $1 in\n", out);
	js_members (name, value, taken)
		fprintf(out, "%s) shift && %s \"$@\" ;;\n", name + strlen("run_"), name);
	fputs("*) echo 'usage: sh SCRIPT NAME [ARG...]' >&2; exit 2 ;;\nesac\n", out);
}

static int script_write(const struct profile *profile, FILE *out, struct err *err) {
	const struct profile_entry *first = profile->entries;
	bool one = profile->count == 1;
	fputs("#!/bin/sh\n", out);
	export_heading(out, "# ", profile, one ? "runs the program; arguments follow its own." : "runs the program NAME.");
	if (!one)
		put_functions(profile, out);
	else
		export_title(out, "# ", first);
	if (one && !export_shell_command_put(profile, first, false, out))
		fputs("echo 'it is not run by a command: `sweetspot apply` builds and runs it' >&2; exit 2\n", out);
	return export_end(out, "script", err);
}

extern const struct export_format export_script;
const struct export_format export_script = {
	.name = "script",
	.summary = "a shell script that runs the program with its setting",
	.write = script_write,
};
