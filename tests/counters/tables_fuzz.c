/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mutated tables do no harm. */
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tests/counters/folder.h"
#include "tests/tap.h"

enum { ROUNDS = 1500 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Texts that parsers trip over. */
static const char *const pieces[] = {"\"",         "{",
                                     "}",          "[",
                                     "]",          ",",
                                     ":",          "null",
                                     "1e999",      "-1",
                                     "\"a\"",      "\"b\"",
                                     "\\u0000",    "\"seconds\"",
                                     "\xff",       "((((",
                                     "** a",       "/ 0",
                                     "min(a)",     "\"auto\"",
                                     "\"rusage\"", "\"cachegrind:x\"",
                                     "a a",        "or"};

static size_t mutate(struct rng *rng, uint8_t *text, size_t size, size_t room) {
	for (uint64_t n = 1 + rng_below(rng, 4); n > 0; n--) {
		size_t at = 1 + rng_below(rng, size - 1);
		size_t span = rng_below(rng, 3) ? 1 + rng_below(rng, 12) : 0;
		const char *piece = rng_below(rng, 2) ? pieces[rng_below(rng, sizeof pieces / sizeof *pieces)] : "";
		size_t length = strlen(piece);
		span = span < size - at ? span : size - at;
		if (size - span + length > room || size - span < 8)
			continue;
		memmove(text + at + length, text + at + span, size - at - span);
		memcpy(text + at, piece, length);
		size = size - span + length;
		if (rng_below(rng, 4) == 0)
			text[1 + rng_below(rng, size - 1)] = (uint8_t)rng_below(rng, 256);
	}
	return size;
}

int main(void) {
	struct rng rng;
	rng_seed(&rng, 20);
	for (int kind = 0; kind < FOLDER_RIGHT; kind++) {
		enum { ROOM = 4096 };
		uint8_t *text = mem_alloc(ROOM, 1);
		for (int i = 0; i < ROUNDS / FOLDER_RIGHT; i++) {
			size_t size = 1 + strlen(folder_right[kind][1]);
			text[0] = (uint8_t)kind;
			memcpy(text + 1, folder_right[kind][1], size - 1);
			LLVMFuzzerTestOneInput(text, i == 0 ? size : mutate(&rng, text, size, ROOM));
		}
		ok(true, "%d mutations of %s were refused or usable", ROUNDS / FOLDER_RIGHT, folder_right[kind][0]);
		free(text);
	}
	return tap_done();
}
