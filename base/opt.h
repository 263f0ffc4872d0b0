/* SPDX-License-Identifier: BSD-3-Clause */
/* Command-line options as tables. Parsing and --help read the same rows; the manual pages and the shells' completions
 * are tested against --help, so that the four can't drift apart. */
#ifndef BASE_OPT_H
#define BASE_OPT_H
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum opt_flags {
	OPT_REPEAT = 1,  /* may be given more than once */
	OPT_MAYBE = 4,   /* its argument, always the word that the name in brackets says, may be left out */
	OPT_HEADING = 2, /* a title in --help instead of an option, see OPT_GROUP */
};

/* Begins a group of options in a table, for --help. A group continues in the following tables until another one begins,
 * and groups of the same title are shown as one, because commands share tables. */
#define OPT_GROUP(title)                                                                                               \
	{ "", 0, NULL, title, OPT_HEADING }

struct opt {
	const char *name; /* long name without dashes; NULL ends the table */
	char key;         /* one-letter form or 0 */
	const char *meta; /* name of the argument, NULL for a switch */
	const char *help; /* one short line: with the column of names it must fit 80 columns */
	unsigned flags;
};

struct opt_args;
/* Parses argv[1..] with the options of all tables. "--" ends the options; the words after it are kept apart. An unknown
 * option is ERR_USAGE with the nearest known one as a hint. argv must outlive the result. */
struct opt_args *opt_parse(int argc, char *const *argv, const struct opt *const *tables, struct err *err);
void opt_free(struct opt_args *args);
bool opt_has(const struct opt_args *args, const char *name);
const char *opt_get(const struct opt_args *args, const char *name, const char *fallback); /* the last one given */
size_t opt_count(const struct opt_args *args, const char *name);
const char *opt_at(const struct opt_args *args, const char *name, size_t i);
/* The first of these names (NULL-terminated) that was given; NULL: none. */
const char *opt_first(const struct opt_args *args, const char *const *names);
const char *opt_first_of(const struct opt_args *args, const struct opt *table); /* of its options */
/* The first option of the tables that was given and is not among these names. */
const char *opt_other(const struct opt_args *args, const struct opt *const *tables, const char *const *names);
bool opt_is_known(const char *word, const char *const *known); /* a NULL-terminated list */
/* Refuses a word that is not among the known ones: ERR_USAGE with this message, and with the nearest one as its hint in
 * the format `meant` ("did you mean %s?"); without a near one the hint is `hint`. Returns -1. */
int opt_refuse(struct err *err, const char *word, const char *const *known, size_t count, const char *meant,
               const char *hint, const char *what, ...) __attribute__((format(printf, 5, 0), format(printf, 7, 8)));
size_t opt_words(const struct opt_args *args); /* positional arguments before "--" */
const char *opt_word(const struct opt_args *args, size_t i);
const char *const *opt_words_from(const struct opt_args *args, size_t first); /* NULL-terminated */
bool opt_dashes(const struct opt_args *args);                                 /* whether "--" was given */
char *const *opt_rest(const struct opt_args *args, size_t *count);            /* after "--", NULL-terminated */
/* Read numbers with a range check. The fallback applies if the option is absent, and is not checked. */
int opt_int(const struct opt_args *args, const char *name, long long min, long long max, long long fallback,
            long long *out, struct err *err);
/* "90s", "10m", "1.5h", "1h30m", "250ms", bare seconds */
int opt_seconds(const char *text, const char *name, double *out, struct err *err);
/* The same of an option that is a limit, which cannot be 0. Absent: *out is unchanged. */
int opt_limit(const struct opt_args *args, const char *name, double *out, struct err *err);
/* "3%" or "0.03", less than 1000 %. Absent: *out is unchanged. */
int opt_share(const struct opt_args *args, const char *name, double *out, struct err *err);
/* Prints the rows of all tables for --help, aligned and in their groups, with a blank line before each group. Rows in
 * front of the first OPT_GROUP come under "Options". `tables` ends with NULL. */
void opt_help(const struct opt *const *tables, FILE *out);
#endif
