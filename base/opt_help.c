/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/opt.h"

/* The longest name that takes part in the common column. A longer one gets a line of its own, because otherwise a
 * single one would push all help texts beyond 80 columns. */
enum { WIDEST = 27 };

/* Iterates over the rows of all tables and keeps track of the group of each. */
struct walk {
	const struct opt *const *table;
	const struct opt *next;
	const char *group;
};

static struct walk walk_begin(const struct opt *const *tables) {
	return (struct walk){tables, *tables, "Options"};
}

/* Returns the next option, or NULL at the end. Headings only change the group. */
static const struct opt *walk_next(struct walk *walk) {
	while (walk->next) {
		const struct opt *opt = walk->next;
		if (!opt->name) {
			walk->next = *++walk->table;
			continue;
		}
		walk->next++;
		if (!(opt->flags & OPT_HEADING))
			return opt;
		walk->group = opt->help;
	}
	return NULL;
}

/* Writes "  -o, --output FILE" and returns its width. Without a stream it only measures. */
static int write_left(const struct opt *opt, FILE *out) {
	char key[8] = "    ";
	if (opt->key)
		snprintf(key, sizeof(key), "-%c, ", opt->key);
	if (out)
		fprintf(out, "  %s--%s%s%s", key, opt->name, opt->meta ? " " : "", opt->meta ? opt->meta : "");
	return (int)(8 + strlen(opt->name) + (opt->meta ? 1 + strlen(opt->meta) : 0));
}

static void write_row(const struct opt *opt, int column, FILE *out) {
	int width = write_left(opt, out);
	if (width > column)
		fprintf(out, "\n%*s", column, "");
	fprintf(out, "%*s  %s\n", width < column ? column - width : 0, "", opt->help);
}

static int column_of(const struct opt *const *tables) {
	int column = 0;
	struct walk walk = walk_begin(tables);
	for (const struct opt *opt = walk_next(&walk); opt; opt = walk_next(&walk)) {
		int width = write_left(opt, NULL);
		if (width > column && width <= WIDEST)
			column = width;
	}
	return column;
}

/* Tells whether an earlier row had the same group as the last row of `walk`, so that the group was printed with that
 * one. */
static bool is_shown(const struct opt *const *tables, const struct walk *walk, const struct opt *row) {
	struct walk earlier = walk_begin(tables);
	for (const struct opt *opt = walk_next(&earlier); opt != row; opt = walk_next(&earlier))
		if (strcmp(earlier.group, walk->group) == 0)
			return true;
	return false;
}

static void write_group(const struct opt *const *tables, const char *group, int column, FILE *out) {
	struct walk walk = walk_begin(tables);
	fprintf(out, "\n%s:\n", group);
	for (const struct opt *opt = walk_next(&walk); opt; opt = walk_next(&walk))
		if (strcmp(walk.group, group) == 0)
			write_row(opt, column, out);
}

void opt_help(const struct opt *const *tables, FILE *out) {
	int column = column_of(tables);
	struct walk walk = walk_begin(tables);
	for (const struct opt *opt = walk_next(&walk); opt; opt = walk_next(&walk))
		if (!is_shown(tables, &walk, opt))
			write_group(tables, walk.group, column, out);
}
