/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/export/shell_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/text.h"
#include "tuner/export/cpus_impl.h"
#include "tuner/export/export_text_impl.h"
#include "tuner/program/recorded.h"

static void put_octal(FILE *out, const char *text, size_t length) {
	fputs("'\"$(printf '", out);
	export_octal(out, text, length);
	fputs("')\"'", out);
}

void export_shell_quoted(FILE *out, const char *value) {
	putc('\'', out);
	for (size_t left = strlen(value), length; left; value += length, left -= length) {
		length = text_utf8(value, left);
		length = length ? length : 1;
		if (*value == '\r' || export_is_hidden(value, length))
			put_octal(out, value, length);
		else if (*value == '\'')
			fputs("'\\''", out);
		else
			fwrite(value, 1, length, out);
	}
	putc('\'', out);
}

void export_shell_set(FILE *out, const char *name, const char *value) {
	if (!value) {
		fprintf(out, "unset %s\n", name);
		return;
	}
	fprintf(out, "export %s=", name);
	export_shell_quoted(out, value);
	putc('\n', out);
}

void export_shell_set_inside(FILE *out, const char *name, const char *value) {
	putc('\t', out);
	export_shell_set(out, name, value);
}

bool export_shell_command_put(const struct profile *profile, const struct profile_entry *entry, bool inside,
                              FILE *out) {
	const json_t *program = entry->program;
	const char *cwd = js_string_or(program, "cwd", NULL), *input = js_string_or(program, "input", NULL);
	if (!program || js_string_or(program, "build", NULL))
		return false;
	const char *indent = inside ? "\t" : "";
	export_settings_of(profile, entry, out, inside ? export_shell_set_inside : export_shell_set);
	if (cwd) {
		fprintf(out, "%scd ", indent);
		export_shell_quoted(out, cwd);
		fputs(" || exit\n", out);
	}
	fprintf(out, "%sexec", indent);
	json_t *words = program_recorded_words(program, entry->config);
	js_each (word, words) {
		putc(' ', out);
		export_shell_quoted(out, json_string_value(word));
	}
	fputs(" \"$@\"", out);
	if (input) {
		fputs(" <", out);
		export_shell_quoted(out, input);
	}
	putc('\n', out);
	json_decref(words);
	return true;
}

/* A function that runs the whole command, where variables are not all of the setting. */
static void put_run(const struct profile *profile, const struct profile_entry *entry, json_t *taken, FILE *out) {
	const json_t *program = entry->program;
	bool whole = false;
	js_members (name, way, json_object_get(program, "params")) {
		whole = whole || strcmp(json_string_value(way), "argument") == 0;
	}
	if (!whole || js_string_or(program, "build", NULL))
		return;
	char *function = export_entry_name("sweetspot_run_", entry, taken);
	fprintf(out, "%s() (\n", function);
	export_shell_command_put(profile, entry, true, out);
	fputs(")\n", out);
	free(function);
}

static void put_functions(const struct profile *profile, FILE *out, export_shell_more *more) {
	json_t *taken = json_object(), *runs = json_object();
	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_entry *entry = &profile->entries[i];
		char *name = export_entry_name("sweetspot_use_", entry, taken);
		putc('\n', out);
		export_title(out, "# ", entry);
		fprintf(out, "%s() {\n", name);
		export_settings_of(profile, entry, out, export_shell_set_inside);
		if (more)
			more(profile, entry, out, export_shell_set_inside);
		fputs("\t:\n}\n", out); /* a body is never empty */
		put_run(profile, entry, runs, out);
		free(name);
	}
	json_decref(runs);
	json_decref(taken);
}

void export_shell_settings(const struct profile *profile, FILE *out, export_shell_more *more) {
	const struct profile_entry *first = profile->entries;
	if (profile->count == 1) {
		export_title(out, "# ", first);
		export_settings_of(profile, first, out, export_shell_set);
		if (more)
			more(profile, first, out, export_shell_set);
		json_t *taken = json_object();
		put_run(profile, first, taken, out);
		json_decref(taken);
		return;
	}
	export_comment(out, "# ",
	               "Settings that are the same in all recommendations are set here. For all settings of one kernel");
	export_comment(out, "# ", "and problem call its function.");
	export_settings_agreed(profile, out, export_shell_set);
	put_functions(profile, out, more);
}

int export_shell_runs(const struct profile *profile, FILE *out, const char *format, export_setter *set,
                      export_shell_command *command, struct err *err) {
	if (export_cpus_check(profile, format, err))
		return -1;
	export_heading(out, "# ", profile, "source this file, then sweetspot_run_.. PROGRAM ARG..");
	json_t *taken = json_object();
	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_entry *entry = &profile->entries[i];
		char *name = export_entry_name("sweetspot_run_", entry, taken);
		putc('\n', out);
		export_title(out, "# ", entry);
		fprintf(out, "%s() (\n", name);
		export_settings_of(profile, entry, out, set);
		fputs("\texec ", out);
		command(entry, out);
		fputs("\"$@\"\n)\n", out);
		free(name);
	}
	json_decref(taken);
	return export_end(out, "commands", err);
}
