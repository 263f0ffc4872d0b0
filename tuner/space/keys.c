/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/space/keys.h"

#include <stdlib.h>
#include <string.h>

static int bits_for(uint32_t branches) {
	return branches > 1 ? 32 - __builtin_clz(branches - 1) : 0;
}

/* Columns fill words from the top; none spans two words. */
struct space_keys *keys_new(const struct space *space, const int *order) {
	struct space_keys *keys = mem_alloc(1, sizeof *keys);
	int left = 64;
	keys->words = 1;
	for (size_t depth = 0; depth < space->param_count; depth++) {
		int bits = bits_for(space_branches(space, order[depth]));
		if (bits > left) {
			keys->words++;
			left = 64;
		}
		left -= bits;
		keys->columns[order[depth]] = (struct key_column){keys->words - 1, bits ? left : 0, (UINT64_C(1) << bits) - 1,
		                                                  left < 64 ? UINT64_MAX << left : 0};
	}
	return keys;
}

void keys_free(struct space_keys *keys) {
	if (!keys)
		return;
	free(keys->keys);
	free(keys->slots);
	free(keys);
}

/* The first slot to probe. Keys differ in their high bits and slots use the low ones, so that both must be mixed: the
 * finalizer of MurmurHash3 (Appleby 2011). */
static size_t slot_of(const struct space_keys *keys, const uint64_t *key) {
	uint64_t h = 0;
	for (size_t i = 0; i < keys->words; i++) {
		h ^= key[i];
		h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
		h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
		h ^= h >> 33;
	}
	return (size_t)h & keys->mask;
}

void keys_index(struct space_keys *keys) {
	size_t slots = 2;
	while (slots < keys->count * 2)
		slots *= 2;
	keys->mask = slots - 1;
	keys->slots = mem_alloc(slots, sizeof *keys->slots);
	for (size_t i = 0; i < keys->count; i++) {
		size_t at = slot_of(keys, keys->keys + i * keys->words);
		while (keys->slots[at])
			at = (at + 1) & keys->mask;
		keys->slots[at] = (uint32_t)i + 1;
	}
}

bool keys_find(const struct space_keys *keys, const struct space *space, const int *config, uint64_t *number) {
	uint64_t key[SPACE_PARAMS_MAX] = {0};
	for (int param = 0; param < (int)space->param_count; param++) {
		int level = config[param], count = (int)space->params[param].count;
		if (level >= count || level < SPACE_ABSENT || (level == SPACE_ABSENT && !space->params[param].when))
			return false;
		keys_write(keys, key, param, space_branch(space, param, level));
	}
	for (size_t at = slot_of(keys, key); keys->slots[at]; at = (at + 1) & keys->mask) {
		*number = keys->slots[at] - 1;
		if (memcmp(keys->keys + *number * keys->words, key, keys->words * sizeof *key) == 0)
			return true;
	}
	return false;
}

/* Below: radix sort, least significant digit first (Knuth, The art of computer programming, volume 3, section 5.2.5).
 */
enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static size_t digit_of(const uint64_t *key, int shift) {
	return (size_t)(*key >> shift) & (DIGITS - 1);
}

/* Sets the first position of each digit; false: all keys have the same one, and the pass can be skipped. */
static bool count_digits(const uint64_t *word, size_t count, size_t words, int shift, size_t *position) {
	size_t sum = 0;
	memset(position, 0, DIGITS * sizeof *position);
	for (size_t i = 0; i < count; i++)
		position[digit_of(word + i * words, shift)]++;
	if (position[digit_of(word, shift)] == count)
		return false;
	for (size_t digit = 0; digit < DIGITS; digit++) {
		size_t own = position[digit];
		position[digit] = sum;
		sum += own;
	}
	return true;
}

void keys_sort(uint64_t *keys, size_t count, size_t words) {
	if (count < 2)
		return;
	uint64_t *from = keys, *other = mem_alloc(count * words, sizeof *other), *to = other;
	size_t position[DIGITS];
	for (size_t word = words; word-- > 0;)
		for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
			if (!count_digits(from + word, count, words, shift, position))
				continue;
			for (size_t i = 0; i < count; i++) {
				const uint64_t *key = from + i * words;
				memcpy(to + position[digit_of(key + word, shift)]++ * words, key, words * sizeof *key);
			}
			uint64_t *swap = from;
			from = to;
			to = swap;
		}
	if (from != keys)
		memcpy(keys, from, count * words * sizeof *keys);
	free(other);
}
