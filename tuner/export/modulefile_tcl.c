/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For Environment Modules and Lmod, in Tcl. Bytes of ASCII other than letters and digits stand as octal escapes of
 * three digits (Tcl(n), rule 9), so no text can end its word or be substituted. */
#include <config.h>

#include <ctype.h>
#include <stdlib.h>

#include "tuner/export/export.h"
#include "tuner/export/settings.h"
#include "tuner/export/text.h"

static void put_text(FILE *out, const char *text) {
	putc('"', out);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (!isascii(*c) || isalnum(*c) || *c == '_' || *c == ' ' || *c == '.' || *c == ',' || *c == ':' || *c == '=')
			putc(*c, out);
		else
			fprintf(out, "\\%03o", *c);
	}
	putc('"', out);
}

static void put_set(FILE *out, const char *name, const char *value) {
	fprintf(out, value ? "setenv %s " : "unsetenv %s", name);
	if (value)
		put_text(out, value);
	putc('\n', out);
}

static int modulefile_tcl_write(const json_t *profile, FILE *out, struct err *err) {
	const json_t *entries = json_object_get(profile, "entries");
	fputs("#%Module1.0\n", out);
	export_heading(out, "# ", profile, "a module.");
	for (size_t i = 0; i < json_array_size(entries); i++) {
		char *title = export_title_text(json_array_get(entries, i));
		fputs("module-whatis ", out);
		put_text(out, title);
		putc('\n', out);
		free(title);
	}
	if (json_array_size(entries) == 1) {
		export_settings_of(entries, json_array_get(entries, 0), out, put_set);
	} else {
		export_comment(out, "# ", "What all recommendations agree on; export one kernel for all of its settings.");
		export_settings_agreed(entries, out, put_set);
	}
	return export_end(out, "module", err);
}

extern const struct export_format export_modulefile_tcl;
const struct export_format export_modulefile_tcl = {
	.name = "modulefile-tcl",
	.summary = "a module for Environment Modules (Tcl)",
	.write = modulefile_tcl_write,
};
