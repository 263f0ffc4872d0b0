/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values are quoted arguments (cmake-language(7)). CMake turns CR LF into LF, so that both are written as escapes.
 * Hidden characters are variables that string(ASCII) sets from their bytes. */
#include "base/mem.h"
#include "base/json/js.h"
#include "tuner/export/export.h"
#include "tuner/export/export_impl.h"

static void put_byte(FILE *out, char c) {
	if (c == '\n' || c == '\r')
		fputs(c == '\n' ? "\\n" : "\\r", out);
	else
		fprintf(out, strchr("\\\"$@", c) ? "\\%c" : "%c", c);
}

static void put_hidden(FILE *out, const char *text, size_t length) {
	fputs("${SWEETSPOT_CHARACTER_", out);
	export_hex(out, text, length);
	putc('}', out);
}

static void define_hidden(FILE *out, const char *text, size_t length) {
	fputs("string(ASCII", out);
	for (size_t i = 0; i < length; i++)
		fprintf(out, " %d", (unsigned char)text[i]);
	fputs(" SWEETSPOT_CHARACTER_", out);
	export_hex(out, text, length);
	fputs(")\n", out);
}

static void put_bytes(FILE *out, const char *text) {
	export_bytes(out, text, put_byte, put_hidden);
}

static void put_set(FILE *out, const char *name, const char *value) {
	export_hidden_each(out, value, define_hidden);
	fprintf(out, "set(%s \"", name);
	put_bytes(out, value);
	fputs("\")\n", out);
}

/* An element of a CMake list cannot hold these. */
static bool is_for_lists(const char *value) {
	return !strpbrk(value, ";[]\\");
}

/* For the property ENVIRONMENT_MODIFICATION of tests (CMake 3.22). */
static void put_unset(FILE *out, const char *prefix, const struct profile_entry *entry) {
	if (!json_array_size(entry->unset))
		return;
	fprintf(out, "set(%s_ENVIRONMENT_MODIFICATION", prefix);
	js_each (name, entry->unset)
		fprintf(out, "\n\t\"%s=unset:\"", json_string_value(name));
	fputs(")\n", out);
}

/* For set_tests_properties(.. PROPERTIES ENVIRONMENT "${..}") and `cmake -E env`. */
static void put_environment(FILE *out, const char *prefix, const struct profile_entry *entry) {
	js_members (name, value, entry->environment)
		export_hidden_each(out, json_string_value(value), define_hidden);
	fprintf(out, "set(%s_ENVIRONMENT", prefix);
	js_members (name, value, entry->environment) {
		if (!is_for_lists(json_string_value(value)))
			continue;
		fprintf(out, "\n\t\"%s=", name);
		put_bytes(out, json_string_value(value));
		putc('"', out);
	}
	fputs(")\n", out);
	put_unset(out, prefix, entry);
}

static int cmake_write(const struct profile *profile, FILE *out, struct err *err) {
	export_heading(out, "# ", profile, "include(FILE).");
	return export_settings_entries(profile, out, put_environment, put_set, err);
}

const struct export_format export_cmake = {
	.name = "cmake",
	.summary = "variables to include in CMakeLists.txt",
	.write = cmake_write,
};
