/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <string.h>

#include "src/base/opt.h"

/* Names up to here share one column; longer ones get a line of their own, so that one of them doesn't push all help
 * texts beyond 80 columns. */
enum { WIDEST = 27 };

/* A walk over the rows of all tables that knows the group of each. */
struct walk {
	const struct opt *const *table;
	const struct opt *next;
	const char *group;
};

static struct walk walk_begin(const struct opt *const *tables) {
	return (struct walk){tables, *tables, "Options"};
}

/* Skips headings; NULL at the end. */
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

/* "  -o, --output FILE"; returns its width. Without a stream it only measures. */
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

/* Whether the group of `walk`'s last row was shown already, with an earlier row. */
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
