/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls the fuzz target that a test is linked with for texts that were changed anywhere, the same ones in each run, so
 * that the suite needs neither clang nor time. The target aborts when an answer breaks a promise. */
#ifndef TESTS_MUTATE_H
#define TESTS_MUTATE_H
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tests/tap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MUTATE_GROWTH = 8, MUTATE_CHANGES = 4 };

/* Changes, doubles, moves or takes out a few bytes. `letters` are those that mean something to the parser. */
static size_t mutate_once(struct rng *rng, char *text, size_t size, const char *letters) {
	size_t at = (size_t)rng_below(rng, size + 1), from = (size_t)rng_below(rng, size + 1);
	size_t length = (size_t)rng_below(rng, MUTATE_GROWTH);
	switch (rng_below(rng, 5)) {
	case 0:
		text[at] = (char)rng_below(rng, 256);
		return at == size ? size + 1 : size;
	case 1:
		text[at] = letters[rng_below(rng, strlen(letters))];
		return at == size ? size + 1 : size;
	case 2:
		if (at + length > size || from + length > size)
			return size;
		memmove(text + at, text + from, length);
		return size;
	case 3:
		memmove(text + at + length, text + at, size - at);
		return size + length;
	default:
		length = length > size - at ? size - at : length;
		memmove(text + at, text + at + length, size - at - length);
		return size - length;
	}
}

__attribute__((unused)) static void mutate_all(const void *seed, size_t size, const char *letters, int rounds) {
	struct rng rng;
	rng_seed(&rng, size);
	for (int i = 0; i < rounds; i++) {
		size_t now = size;
		char *text = mem_alloc(size + MUTATE_CHANGES * MUTATE_GROWTH + 1, 1);
		memcpy(text, seed, size);
		for (size_t c = 1 + rng_below(&rng, MUTATE_CHANGES); c > 0; c--)
			now = mutate_once(&rng, text, now, letters);
		/* of its own size, so that a sanitizer sees a step behind it */
		uint8_t *exact = mem_alloc(now + !now, 1);
		memcpy(exact, text, now);
		LLVMFuzzerTestOneInput(exact, now);
		free(exact);
		free(text);
	}
	ok(true, "%d inputs near \"%.20s\" are answered as promised", rounds, (const char *)seed);
}

#endif
