/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For Environment Modules and Lmod, in Tcl. ASCII bytes other than letters and digits are written as octal escapes
 * of three digits (Tcl(n), rule 9), so that no text can end its word or be substituted, and hidden characters as \u and
 * their code point. */
#include <ctype.h>

#include "tuner/export/export.h"
#include "tuner/export/export_impl.h"

static void put_byte(FILE *out, char byte) {
	unsigned char c = (unsigned char)byte;
	if (!isascii(c) || isalnum(c) || c == '_' || c == ' ' || c == '.' || c == ',' || c == ':' || c == '=')
		putc(c, out);
	else
		fprintf(out, "\\%03o", c);
}

static void put_text(FILE *out, const char *text) {
	putc('"', out);
	export_bytes(out, text, put_byte, text_code_point);
	putc('"', out);
}

static void put_set(FILE *out, const char *name, const char *value) {
	fprintf(out, value ? "setenv %s " : "unsetenv %s", name);
	if (value)
		put_text(out, value);
	putc('\n', out);
}

static void put_title(FILE *out, const char *title) {
	fputs("module-whatis ", out);
	put_text(out, title);
	putc('\n', out);
}

static int modulefile_tcl_write(const struct profile *profile, FILE *out, struct err *err) {
	fputs("#%Module1.0\n", out);
	export_heading(out, "# ", profile, "a module.");
	return export_module(profile, out, "# ", put_title, put_set, err);
}

const struct export_format export_modulefile_tcl = {
	.name = "modulefile-tcl",
	.summary = "a module for Environment Modules (Tcl)",
	.write = modulefile_tcl_write,
};
