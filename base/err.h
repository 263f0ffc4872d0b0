/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors are values: what happened, what to do, and the exit code that follows. The caller owns the struct; a function
 * that can fail takes one as its last argument, fills it once, and returns -1 or NULL. Only src/ prints them. */
#ifndef BASE_ERR_H
#define BASE_ERR_H
#include <stdio.h>

/* name, exit code, meaning */
#define ERR_CODES(X)                                                                                                   \
	X(OK, 0, "done")                                                                                                   \
	X(FAILED, 1, "failed at run time")                                                                                 \
	X(USAGE, 2, "bad usage or input")                                                                                  \
	X(NOTHING, 3, "no configuration worked")                                                                           \
	X(UNAVAILABLE, 4, "asked for a device or counter that is not available here")                                      \
	X(INTERRUPTED, 130, "interrupted")                                                                                 \
	X(BARRED, 126, "the program cannot be run")                                                                        \
	X(ABSENT, 127, "the program does not exist")

enum err_code {
#define ERR_ENUM(name, status, text) ERR_##name,
	ERR_CODES(ERR_ENUM)
#undef ERR_ENUM
};

struct err {
	enum err_code code;
	char what[512]; /* one line, no full stop */
	char hint[512]; /* advice; may be empty */
};

/* All return -1, so that `return err_set(...)` reads well. hint may be NULL. err may be NULL: then nothing is kept.
 * Control characters become spaces and bytes that are not UTF-8 become '?', so that the text is safe to print and to
 * store. */
int err_set(struct err *err, enum err_code code, const char *hint, const char *what, ...)
	__attribute__((format(printf, 4, 5)));
/* Replaces the hint of an error that is already set. */
int err_hint(struct err *err, const char *hint, ...) __attribute__((format(printf, 2, 3)));
/* Puts "WHERE: " before the message. */
int err_prefix(struct err *err, const char *where, ...) __attribute__((format(printf, 2, 3)));
/* `return err_null(err_set(..))`, where a pointer is returned. */
static inline void *err_null(int failed) {
	(void)failed;
	return NULL;
}
int err_exit_status(enum err_code code);
const char *err_meaning(enum err_code code);
/* "sweetspot: error: WHAT" and "  hint: WHAT TO DO" */
void err_print(const struct err *err, FILE *out);
#endif
