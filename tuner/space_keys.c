/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Radix sort, least significant digit first (Knuth, The Art of Computer Programming 3, 5.2.5). */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "tuner/space_table.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static size_t digit_of(const uint64_t *key, int shift) {
	return (size_t)(*key >> shift) & (DIGITS - 1);
}

/* Fills the first place of every digit; false where all keys have the same one. */
static bool count_digits(const uint64_t *word, size_t count, size_t words, int shift, size_t *place) {
	size_t sum = 0;
	memset(place, 0, DIGITS * sizeof *place);
	for (size_t i = 0; i < count; i++)
		place[digit_of(word + i * words, shift)]++;
	if (place[digit_of(word, shift)] == count)
		return false;
	for (size_t digit = 0; digit < DIGITS; digit++) {
		size_t own = place[digit];
		place[digit] = sum;
		sum += own;
	}
	return true;
}

void space_keys_sort(uint64_t *keys, size_t count, size_t words) {
	if (count < 2)
		return;
	uint64_t *from = keys, *other = mem_alloc(count * words, sizeof *other), *to = other;
	size_t place[DIGITS];
	for (size_t word = words; word-- > 0;)
		for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
			if (!count_digits(from + word, count, words, shift, place))
				continue;
			for (size_t i = 0; i < count; i++) {
				const uint64_t *key = from + i * words;
				memcpy(to + place[digit_of(key + word, shift)]++ * words, key, words * sizeof *key);
			}
			uint64_t *swap = from;
			from = to;
			to = swap;
		}
	if (from != keys)
		memcpy(keys, from, count * words * sizeof *keys);
	free(other);
}
