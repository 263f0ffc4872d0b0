/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of the scanner. */
#ifndef TUNER_RECORD_SCAN_IMPL_H
#define TUNER_RECORD_SCAN_IMPL_H
#include <stdint.h>

#include "tuner/record/scan.h"

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
bool scan_pass_text(struct scan *scan, bool *escaped);
bool scan_unexpected(struct scan *scan, const char *wanted);

#endif
