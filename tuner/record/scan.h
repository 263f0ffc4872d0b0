/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pull parser of JSON (RFC 8259) for large files of which a part is wanted: values are read where they stand, nothing
 * is kept, what is not wanted is skipped without a closer look than brackets and strings need. NaN, Infinity and
 * -Infinity are numbers, as Python writes them. The first error sticks: from then on everything gives false.
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
	const char *limit;            /* behind a newline, up to which the text is there already */
	void (*more)(struct scan *);  /* called at the limit: sets a later one, with the end where that is known */
	void *source;                 /* for it */
	const char *name;             /* of the file, for messages */
	struct err *err;
	int depth;
	int open_depth; /* up to this depth the text may end without brackets */
	bool fresh;     /* behind an opening bracket: no comma is due */
	bool failed;
};

/* A text as it stands between its quotes. */
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
enum scan_type scan_type(struct scan *scan); /* of the value that comes next */
bool scan_object(struct scan *scan);
bool scan_member(struct scan *scan, struct scan_text *key); /* false: the object has ended */
bool scan_array(struct scan *scan);
bool scan_item(struct scan *scan); /* a value follows; false: the array has ended */
bool scan_skip(struct scan *scan);
bool scan_number(struct scan *scan, double *out);
/* False, and nothing has happened, where no whole number of up to 18 digits comes next. */
bool scan_whole(struct scan *scan, int64_t *out);
void scan_push(struct scan_reals *list, double real); /* adds it where it is finite */
/* Adds the finite numbers of a list; other values are passed over. */
bool scan_reals(struct scan *scan, struct scan_reals *list);
bool scan_text(struct scan *scan, struct scan_text *out);
/* A number, a text, or as Python has it a word: booleans are 1 and 0, null is None. A text is copied to the
 * arena. */
bool scan_value(struct scan *scan, struct arena *arena, struct value *out);
/* Only white space is left, or the text ends unclosed where it may. */
bool scan_end(struct scan *scan);
/* Sets the error with name and line; always false. */
bool scan_fail(struct scan *scan, const char *hint, const char *what, ...) __attribute__((format(printf, 3, 4)));

static inline bool scan_text_is(const struct scan_text *text, const char *word) {
	size_t size = strlen(word);
	return text->size == size && memcmp(text->at, word, size) == 0;
}
/* Escapes resolved, checked for UTF-8, in the arena; NULL with the error set. */
char *scan_text_copy(struct scan *scan, const struct scan_text *text, struct arena *arena);

#endif
