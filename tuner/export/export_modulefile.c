/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For Lmod, in Lua. Bytes other than letters and digits are written as decimal escapes of three digits (Lua 5.1
 * reference manual, section 2.1), so that no text can end its string. */
#include <ctype.h>

#include "tuner/export/export.h"
#include "tuner/export/export_impl.h"

static void put_text(FILE *out, const char *text) {
	putc('"', out);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		if (isascii(*c) && (isalnum(*c) || *c == '_' || *c == ' ' || *c == '.' || *c == ',' || *c == ':' || *c == '='))
			putc(*c, out);
		else
			fprintf(out, "\\%03d", *c);
	putc('"', out);
}

static void put_set(FILE *out, const char *name, const char *value) {
	fprintf(out, value ? "setenv(\"%s\", " : "unsetenv(\"%s\"", name);
	if (value)
		put_text(out, value);
	fputs(")\n", out);
}

static void put_title(FILE *out, const char *title) {
	fputs("whatis(", out);
	put_text(out, title);
	fputs(")\n", out);
}

static int modulefile_write(const struct profile *profile, FILE *out, struct err *err) {
	export_heading(out, "-- ", profile, "a module for Lmod.");
	return export_module(profile, out, "-- ", put_title, put_set, err);
}

const struct export_format export_modulefile = {
	.name = "modulefile",
	.summary = "a module for Lmod (Lua)",
	.write = modulefile_write,
};
