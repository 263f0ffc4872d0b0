/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <string.h>

#include "src/base/opt.h"

enum { WIDEST = 30 };

/* "  -o, --output FILE"; returns its width. Without a stream it only measures. */
static int write_left(const struct opt *opt, FILE *out) {
	char key[8] = "    ";
	if (opt->key)
		snprintf(key, sizeof(key), "-%c, ", opt->key);
	if (out)
		fprintf(out, "  %s--%s%s%s", key, opt->name, opt->meta ? " " : "", opt->meta ? opt->meta : "");
	return (int)(8 + strlen(opt->name) + (opt->meta ? 1 + strlen(opt->meta) : 0));
}

int opt_help_column(const struct opt *table) {
	int column = 0;
	for (const struct opt *opt = table; opt->name; opt++) {
		int width = write_left(opt, NULL);
		if (width > column && width <= WIDEST)
			column = width;
	}
	return column;
}

void opt_help(const struct opt *table, int column, FILE *out) {
	if (column <= 0)
		column = opt_help_column(table);
	for (const struct opt *opt = table; opt->name; opt++) {
		int width = write_left(opt, out);
		if (width > column)
			fprintf(out, "\n%*s", column, "");
		fprintf(out, "%*s  %s\n", width < column ? column - width : 0, "", opt->help);
	}
}
