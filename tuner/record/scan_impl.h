/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of the scanner. */
#ifndef TUNER_RECORD_SCAN_IMPL_H
#define TUNER_RECORD_SCAN_IMPL_H

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"

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

#define SCAN_BYTES(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Eight bytes, the first one lowest. */
static inline uint64_t scan_load(const char *at) {
	uint64_t word;
	memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

static inline const char *scan_first(const char *at, uint64_t marks) {
	return at + __builtin_ctzll(marks) / 8;
}

static inline bool scan_is_digit(char c) {
	return (unsigned char)(c - '0') < 10;
}

static inline bool scan_is_blank(char c) {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Moves to the next token. A token of JSON never holds a newline, so that this is, with scan_skip(), the only place to
 * wait for text that is still being unpacked. Indented files are mostly blanks, which are skipped eight at a time. */
static inline char scan_peek(struct scan *scan) {
	for (;;) {
		if (__builtin_expect(scan->at >= scan->limit, 0))
			scan->more(scan);
		if (!scan_is_blank(*scan->at))
			return *scan->at;
		scan->at++;
		while (scan_load(scan->at) == SCAN_BYTES(' ') && scan->at + 8 <= scan->limit)
			scan->at += 8;
	}
}

/* Sets the high bit of each byte that is 0, and perhaps of bytes behind the first of these (Mycroft 1987). */
static inline uint64_t scan_zeros(uint64_t word) {
	return (word - SCAN_BYTES(1)) & ~word & SCAN_BYTES(0x80);
}

/* The same for ", \ and bytes that a text must not hold. */
static inline uint64_t scan_stops(uint64_t word) {
	uint64_t control = (word - SCAN_BYTES(0x20)) & ~word & SCAN_BYTES(0x80);
	return scan_zeros(word ^ SCAN_BYTES('"')) | scan_zeros(word ^ SCAN_BYTES('\\')) | control;
}

/* The same for ", brackets and the end. Brackets with the bits 0x26 set are 0x7f; so are Y, y, _ and 0x7f. */
static inline uint64_t scan_brackets(uint64_t word) {
	return scan_zeros((word | SCAN_BYTES(0x26)) ^ SCAN_BYTES(0x7f)) | scan_zeros(word ^ SCAN_BYTES('"')) |
	       scan_zeros(word);
}

/* From behind the opening quote to behind the closing one. */
bool scan_unexpected(struct scan *scan, const char *wanted);
#endif
