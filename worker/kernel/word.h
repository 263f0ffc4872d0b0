/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of words, and the error for a word that is not in one: of a parameter, or of a request's members. */
#ifndef WORKER_KERNEL_WORD_H
#define WORKER_KERNEL_WORD_H

#include "base/json/member.h"
#include "base/mem.h"

/* Splits "a,b,c" into words in the arena. */
const char *const *word_split(struct arena *arena, const char *list, size_t *count);
/* Sets ERR_USAGE: the message, and the nearest word as a hint, or all of them if none is near. Returns -1. */
int word_unknown(const char *word, const char *const *known, size_t count, const char *what, struct err *err);
/* Every key of the object must be a known one; else ERR_USAGE with the nearest. */
int word_check_keys(const json_t *object, const char *const *known, size_t count, struct err *err);
/* Fills the fields of `out`; an absent or null member leaves its field alone, but MEMBER_WORDS makes an empty array of
 * it. -1 and ERR_USAGE for a value of another type or out of range, and for a key that is not in the table. */
int members_read(struct arena *arena, const struct member *members, size_t count, const json_t *json, void *out,
                 struct err *err);
/* Makes a kernel's text safe for JSON: NUL-terminated, one line, UTF-8. */
void word_clean(char *text, size_t size);
/* New references: the text, null for NULL and ""; and a cleaned copy of it. */
json_t *word_or_null(const char *text);
json_t *word_clean_json(const char *text);

/* Lines from a file descriptor, of bounded length. */

struct lines;

enum lines_got {
	LINES_LINE,
	LINES_LONG, /* longer than the limit; skipped to its end */
	LINES_END   /* end of input, or an error */
};

struct lines *lines_new(int fd, size_t limit); /* limit: bytes in a line, without its newline */
void lines_free(struct lines *lines);
/* The next line without its newline, valid until the next call; an unfinished line at the end of input counts. */
enum lines_got lines_next(struct lines *lines, const char **line, size_t *size);
#endif
