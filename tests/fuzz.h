/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps after a parser may take a thousand times as long as the parser. In a long run a fuzz target checks them for
 * one input in `count` only. The input's own bytes decide, so that the same input always takes the same way. Tests, and
 * a target that is given files instead of folders, check all of it. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);

static bool fuzz_is_long; /* set by libFuzzer's start, and so never in a test */

int LLVMFuzzerInitialize(int *argc, char ***argv) {
	struct stat what;
	fuzz_is_long = true;
	for (int i = 1; i < *argc; i++)
		if ((*argv)[i][0] != '-' && stat((*argv)[i], &what) == 0 && S_ISREG(what.st_mode))
			fuzz_is_long = false;
	return 0;
}

/* Splitmix64's mixing of eight bytes at a time. */
static inline uint64_t fuzz_hash(const uint8_t *data, size_t size) {
	uint64_t hash = size;
	for (size_t at = 0; at < size; at += 8) {
		uint64_t word = 0;
		memcpy(&word, data + at, size - at < 8 ? size - at : 8);
		hash = (hash ^ word) * 0xbf58476d1ce4e5b9;
		hash ^= hash >> 29;
	}
	return hash ^ hash >> 32;
}

static inline bool fuzz_one_in(uint64_t count, const uint8_t *data, size_t size) {
	return !fuzz_is_long || fuzz_hash(data, size) % count == 0;
}
#endif
