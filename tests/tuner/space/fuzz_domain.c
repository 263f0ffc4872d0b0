/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as the values of a parameter are either refused with a message, or a list without duplicates whose texts
 * lead back to it. `make fuzz` runs this as a target of libFuzzer. */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/space/space.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most); /* libFuzzer's */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

enum { FEW = 200, MANY = 5000 /* would be sorted once more */, DIGITS = 2, SELDOM = 30, RARELY = 1000 };

static void require(bool condition) {
	if (!condition)
		abort();
}

static void check_text(struct value value) {
	char text[64];
	if (value.type == VALUE_WORD) {
		require(*value.as.w != '\0');
		return;
	}
	require(value_text(value, text, sizeof text) < (int)sizeof text && value_equal(value_parse(text), value));
}

/* A list of a million values takes 10,000 times as long as a short one, so that numbers are mostly small, and steps are
 * mostly large. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
	size_t mutated = LLVMFuzzerMutate(data, size, most), used = 0, digits = 0, room = DIGITS + (seed % SELDOM == 0);
	for (size_t i = 0; i < mutated; i++) {
		bool exponent = digits > 0 && (data[i] == 'e' || data[i] == 'E');
		bool fraction = data[i] == '.' && (used == 0 || data[used - 1] != '.');
		digits = isdigit(data[i]) ? digits + 1 : fraction ? room - 1 : 0;
		if (seed % RARELY == 0 || (digits <= room && !exponent))
			data[used++] = data[i];
	}
	return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct arena *arena = arena_new();
	struct err err = {0};
	struct value *values = NULL;
	size_t count = 0;
	char *text = arena_alloc(arena, size + 1, 1);
	memcpy(text, data, size);
	if (domain_parse(text, arena, &values, &count, &err) == 0) {
		require(count > 0 && count <= DOMAIN_MAX && (count > MANY || !domain_duplicate(values, count)));
		for (size_t i = 0; i < count && i < FEW; i++)
			check_text(values[i]);
	} else {
		require(err.code == ERR_USAGE && *err.what);
	}
	arena_free(arena);
	return 0;
}
