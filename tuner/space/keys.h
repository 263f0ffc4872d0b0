/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Configurations as keys of a few words, sorted by their numbers and found again by hashing. A listed space is then
 * read with one access to memory instead of one per parameter. */
#ifndef TUNER_SPACE_KEYS_H
#define TUNER_SPACE_KEYS_H
#include "tuner/space/impl.h"

/* The bits of a parameter's branch in a key. */
struct key_column {
	size_t word;
	int shift;
	uint64_t mask, so_far; /* mask of the branch, unshifted; mask of all columns of the word up to this one */
};

struct space_keys {
	struct key_column columns[SPACE_PARAMS_MAX]; /* indexed by parameter */
	uint64_t *keys;
	size_t words, count;
	uint32_t *slots; /* number + 1, or 0; open addressing, at most half full */
	size_t mask;
};

/* The first parameter of the order is the most significant. */
struct space_keys *keys_new(const struct space *space, const int *order);
void keys_free(struct space_keys *keys);
/* Builds the hash table. The keys must be sorted and distinct. */
void keys_index(struct space_keys *keys);
bool keys_find(const struct space_keys *keys, const struct space *space, const int *config, uint64_t *number);
/* Sorts keys of `words` words each, of which the first is the most significant. */
void keys_sort(uint64_t *keys, size_t count, size_t words);

static inline uint32_t keys_branch(const struct space_keys *keys, uint64_t number, int param) {
	const struct key_column *c = &keys->columns[param];
	return (uint32_t)(keys->keys[number * keys->words + c->word] >> c->shift & c->mask);
}

/* The key must be zero at first. */
static inline void keys_write(const struct space_keys *keys, uint64_t *key, int param, uint32_t branch) {
	key[keys->columns[param].word] |= (uint64_t)branch << keys->columns[param].shift;
}

#endif
