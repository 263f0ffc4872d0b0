/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The diagram of a space that one table lists in full, as a recorded space is. The rows are sorted and merged from the
 * last parameter to the first, in time linear in their number. */
#ifndef TUNER_SPACE_SPACE_INDEX_IMPL_H
#define TUNER_SPACE_SPACE_INDEX_IMPL_H
#include "tuner/space/impl.h"

/* Drops duplicate rows, and rows that violate a condition or an active constraint. DIAGRAM_ENTANGLED: too large. */
struct diagram *space_table_diagram(const struct space *space, const struct space_table *table, const bool *off,
                                    enum diagram_status *status);

/* Configurations as keys of a few words, sorted by their numbers and found again by hashing. A listed space is then
 * read with one access to memory instead of one per parameter. */
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

void keys_free(struct space_keys *keys);

static inline uint32_t keys_branch(const struct space_keys *keys, uint64_t number, int param) {
	const struct key_column *c = &keys->columns[param];
	return (uint32_t)(keys->keys[number * keys->words + c->word] >> c->shift & c->mask);
}

/* The key must be zero at first. */
static inline void keys_write(const struct space_keys *keys, uint64_t *key, int param, uint32_t branch) {
	key[keys->columns[param].word] |= (uint64_t)branch << keys->columns[param].shift;
}
#endif
