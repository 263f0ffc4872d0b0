/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line of a makefile cannot hold number signs, backslashes and ends of lines: references to variables replace them,
 * and an empty variable guards blanks and CR at both ends (GNU make manual, sections 3.1.1, 6.5, 6.8). Hidden
 * characters are variables, too, which a shell sets because make has no escapes. */
#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/export/export.h"
#include "tuner/export/export_impl.h"

static const char special[] = "sweetspot_empty :=\n"
							  "sweetspot_hash := \\#\n"
							  "sweetspot_backslash := \\$(sweetspot_empty)\n"
							  "define sweetspot_newline\n\n\nendef\n";

static void put_byte(FILE *out, char c) {
	switch (c) {
	case '$':
		fputs("$$", out);
		break;
	case '#':
		fputs("$(sweetspot_hash)", out);
		break;
	case '\\':
		fputs("$(sweetspot_backslash)", out);
		break;
	case '\n':
		fputs("$(sweetspot_newline)", out);
		break;
	default:
		putc(c, out);
	}
}

static void put_hidden(FILE *out, const char *text, size_t length) {
	fputs("$(sweetspot_", out);
	export_hex(out, text, length);
	putc(')', out);
}

static void define_hidden(FILE *out, const char *text, size_t length) {
	fputs("sweetspot_", out);
	export_hex(out, text, length);
	fputs(" := $(shell printf '", out);
	export_octal(out, text, length);
	fputs("')\n", out);
}

static void put_bytes(FILE *out, const char *text) {
	fputs("$(sweetspot_empty)", out);
	export_bytes(out, text, put_byte, put_hidden);
	fputs("$(sweetspot_empty)\n", out);
}

static bool is_plain(const char *text) {
	return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:=-+")] == '\0';
}

static void put_set(FILE *out, const char *name, const char *value) {
	export_hidden_each(out, value, define_hidden);
	fprintf(out, "%s := ", name);
	if (is_plain(value))
		fprintf(out, "%s\n", value);
	else
		put_bytes(out, value);
}

/* Assignments before a command of a recipe, quoted for its shell, behind `env -u` if variables are left out. A line of
 * a recipe ends at every newline, also inside quotes, so that values with one are left out. */
static void put_environment(FILE *out, const char *prefix, const struct profile_entry *entry) {
	mem_auto char *text = NULL, *name = mem_printf("%s_ENVIRONMENT", prefix);
	const char *between = "";
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	js_each (value, entry->unset) {
		if (memory)
			fprintf(memory, "%s-u %s", value_at ? " " : "env ", json_string_value(value));
		between = " ";
	}
	js_members (key, value, entry->environment) {
		if (!memory || strpbrk(json_string_value(value), "\r\n"))
			continue;
		fprintf(memory, "%s%s=", between, key);
		export_shell_quoted(memory, json_string_value(value));
		between = " ";
	}
	if (memory && fclose(memory) == 0)
		put_set(out, name, text);
}

static int make_write(const struct profile *profile, FILE *out, struct err *err) {
	export_heading(out, "# ", profile, "include FILE, for GNU make.");
	fputs(special, out);
	return export_settings_entries(profile, out, put_environment, put_set, err);
}

const struct export_format export_make = {
	.name = "make",
	.summary = "variables to include in a makefile of GNU make",
	.write = make_write,
};
