/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Open addressing with linear probing, at most half full. */
#include "tuner/space/intern_impl.h"

#include "base/mem.h"

void intern_clear(struct intern *set) {
	free(set->slots);
	free(set->hashes);
	free(set->ends);
	free(set->words);
	*set = (struct intern){0};
}

static uint32_t hash_words(const uint32_t *key, size_t words) {
	uint64_t h = words;
	for (size_t i = 0; i < words; i++) {
		h = (h ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return (uint32_t)(h ^ h >> 32);
}

static size_t key_start(const struct intern *set, uint32_t number) {
	return number ? set->ends[number - 1] : 0;
}

const uint32_t *intern_key(const struct intern *set, uint32_t number) {
	return set->words + key_start(set, number);
}

static bool is_key(const struct intern *set, uint32_t number, uint32_t hash, const uint32_t *key, size_t words) {
	size_t start = key_start(set, number);
	return set->hashes[number] == hash && set->ends[number] - start == words &&
	       (words == 0 || memcmp(set->words + start, key, words * sizeof *key) == 0);
}

static void rehash(struct intern *set) {
	size_t slots = set->slots ? (set->mask + 1) * 2 : 64;
	free(set->slots);
	set->slots = mem_alloc(slots, sizeof *set->slots);
	set->mask = slots - 1;
	for (size_t i = 0; i < set->count; i++) {
		size_t at = set->hashes[i] & set->mask;
		while (set->slots[at])
			at = (at + 1) & set->mask;
		set->slots[at] = (uint32_t)i + 1;
	}
}

static void append(struct intern *set, uint32_t hash, const uint32_t *key, size_t words) {
	if (set->count == set->room) {
		set->room = set->room ? set->room * 2 : 32;
		set->hashes = mem_grow(set->hashes, set->room, sizeof *set->hashes);
		set->ends = mem_grow(set->ends, set->room, sizeof *set->ends);
	}
	if (set->word_count + words > set->word_room) {
		set->word_room = (set->word_count + words) * 2;
		set->words = mem_grow(set->words, set->word_room, sizeof *set->words);
	}
	if (words)
		memcpy(set->words + set->word_count, key, words * sizeof *key);
	set->word_count += words;
	set->hashes[set->count] = hash;
	set->ends[set->count++] = set->word_count;
}

uint32_t intern_find(struct intern *set, const uint32_t *key, size_t words, bool *added) {
	uint32_t hash = hash_words(key, words);
	if (!set->slots || set->count * 2 > set->mask)
		rehash(set);
	size_t at = hash & set->mask;
	for (; set->slots[at]; at = (at + 1) & set->mask)
		if (is_key(set, set->slots[at] - 1, hash, key, words)) {
			*added = false;
			return set->slots[at] - 1;
		}
	append(set, hash, key, words);
	set->slots[at] = (uint32_t)set->count;
	*added = true;
	return (uint32_t)set->count - 1;
}
