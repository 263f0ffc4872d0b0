/* SPDX-License-Identifier: BSD-3-Clause */
/* Command-line options as tables: parsing, --help, man pages and completions read the same rows. */
#ifndef SRC_BASE_OPT_H
#define SRC_BASE_OPT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "src/base/err.h"

enum opt_flags { OPT_REPEAT = 1 /* may be given more than once */ };

struct opt {
	const char *name; /* long name without dashes; NULL ends the table */
	char key;         /* one-letter form or 0 */
	const char *meta; /* name of the argument, NULL for a switch */
	const char *help; /* one line */
	unsigned flags;
};

struct opt_args;
/* Parses argv[1..]: `tables` is a NULL-terminated list of tables. "--" ends the options; what follows is kept apart.
 * Unknown options are ERR_USAGE and name the nearest known one. argv must outlive the result. */
struct opt_args *opt_parse(int argc, char *const *argv, const struct opt *const *tables, struct err *err);
void opt_free(struct opt_args *args);
bool opt_has(const struct opt_args *args, const char *name);
const char *opt_get(const struct opt_args *args, const char *name, const char *fallback); /* the last one given */
size_t opt_count(const struct opt_args *args, const char *name);
const char *opt_at(const struct opt_args *args, const char *name, size_t i);
size_t opt_words(const struct opt_args *args); /* positional arguments before "--" */
const char *opt_word(const struct opt_args *args, size_t i);
bool opt_dashes(const struct opt_args *args);                      /* was there a "--"? */
char *const *opt_rest(const struct opt_args *args, size_t *count); /* after "--", NULL-terminated */
/* Whole numbers and durations with range checks; the fallback where the option is absent. */
int opt_int(const struct opt_args *args, const char *name, long long min, long long max, long long fallback,
            long long *out, struct err *err);
/* "90s", "10m", "1.5h", "250ms", bare seconds */
int opt_seconds(const char *text, const char *name, double *out, struct err *err);
/* The option rows of one table, aligned, for --help. */
void opt_help(const struct opt *table, int column, FILE *out); /* column: of the help texts, 0: what fits this table */
int opt_help_column(const struct opt *table);

#endif
