/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pull parser of JSON (RFC 8259) for large files of which only a part is needed: values are read in place, nothing is
 * stored, and skipped values are checked only as far as brackets and strings require. NaN, Infinity and -Infinity are
 * numbers, as Python writes them. The first error sticks: from then on every function returns false.
 *
 *     for (scan_object(scan); scan_member(scan, &key);)
 *             if (scan_text_is(&key, "time"))
 *                     scan_number(scan, &time);
 *             else
 *                     scan_skip(scan);
 */
#ifndef TUNER_RECORD_SCAN_H
#define TUNER_RECORD_SCAN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/value.h"

enum { SCAN_PAD = 16, SCAN_DEPTH_MAX = 64 };

struct scan {
	const char *at, *start, *end; /* SCAN_PAD bytes of 0 from end on */
	const char *limit;            /* behind a newline; the text up to here has been unpacked */
	void (*more)(struct scan *);  /* called at the limit: sets a later one, and the end once it is known */
	void *source;                 /* for it */
	const char *name;             /* of the file, for messages */
	struct err *err;
	int depth;
	int open_depth; /* up to this depth the closing brackets may be missing */
	bool fresh;     /* behind an opening bracket: no comma is due */
	bool failed;
};

/* A text between its quotes, with its escapes. */
struct scan_text {
	const char *at;
	size_t size;
	bool escaped;
};

struct scan_reals {
	double *at; /* mem_grow() */
	size_t count, room;
};

enum scan_type { SCAN_NOTHING, SCAN_OBJECT, SCAN_ARRAY, SCAN_TEXT, SCAN_NUMBER, SCAN_TRUE, SCAN_FALSE, SCAN_NULL };

#define SCAN_NO_LIMIT ((const char *)UINTPTR_MAX)

struct scan scan_of(const char *text, size_t size, const char *name, struct err *err);
enum scan_type scan_type(struct scan *scan); /* the type of the next value */
bool scan_object(struct scan *scan);
bool scan_member(struct scan *scan, struct scan_text *key); /* false: the object has ended */
bool scan_array(struct scan *scan);
bool scan_item(struct scan *scan); /* a value follows; false: the array has ended */
bool scan_skip(struct scan *scan);
bool scan_number(struct scan *scan, double *out);
/* False, without a change, unless the next value is a whole number of up to 18 digits. */
bool scan_whole(struct scan *scan, int64_t *out);
void scan_push(struct scan_reals *list, double real); /* adds it if it is finite */
/* Adds the finite numbers of a list and skips other values. */
bool scan_reals(struct scan *scan, struct scan_reals *list);
bool scan_text(struct scan *scan, struct scan_text *out);
/* A number or a text, which is copied to the arena. As in Python booleans are 1 and 0, and null is the word None. */
bool scan_value(struct scan *scan, struct arena *arena, struct value *out);
/* True if only white space is left, or if the text may end here without its brackets. */
bool scan_end(struct scan *scan);
/* Sets the error with name and line; always returns false. */
bool scan_fail(struct scan *scan, const char *hint, const char *what, ...) __attribute__((format(printf, 3, 4)));

static inline bool scan_text_is(const struct scan_text *text, const char *word) {
	size_t size = strlen(word);
	return text->size == size && memcmp(text->at, word, size) == 0;
}
/* A copy in the arena with escapes resolved and UTF-8 checked; NULL with the error set. */
char *scan_text_copy(struct scan *scan, const struct scan_text *text, struct arena *arena);

#endif
