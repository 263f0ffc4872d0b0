/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the scanner's files share. */
#ifndef TUNER_RECORD_SCAN_IMPL_H
#define TUNER_RECORD_SCAN_IMPL_H
#include <stdint.h>

#include "tuner/record/scan.h"

#define SCAN_BYTES(byte) (UINT64_C(0x0101010101010101) * (byte))

static inline uint64_t scan_load(const char *at) {
	uint64_t word;
	memcpy(&word, at, sizeof word);
	return word;
}

static inline char scan_peek(struct scan *scan) {
	while (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\t' || *scan->at == '\r')
		scan->at++;
	return *scan->at;
}

/* Of the eight bytes those that are ", \ or no character of a text: the lowest set bit of the answer marks the first.
 * (Mycroft's test for bytes that are zero or below a bound; bits above the first may be wrong.) */
static inline uint64_t scan_stops(uint64_t word) {
	uint64_t quote = word ^ SCAN_BYTES('"'), slash = word ^ SCAN_BYTES('\\');
	uint64_t low = (word - SCAN_BYTES(0x20)) & ~word;
	return (((quote - SCAN_BYTES(1)) & ~quote) | ((slash - SCAN_BYTES(1)) & ~slash) | low) & SCAN_BYTES(0x80);
}

/* From behind the opening quote to behind the closing one. */
bool scan_pass_text(struct scan *scan, bool *escaped);
bool scan_unexpected(struct scan *scan, const char *wanted);

#endif
