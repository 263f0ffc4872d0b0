/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers distinct keys 0, 1, 2, .. in order of appearance. A key is a sequence of 32-bit words. */
#ifndef TUNER_SPACE_INTERN_IMPL_H
#define TUNER_SPACE_INTERN_IMPL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern {
	uint32_t *slots; /* number + 1, or 0; mask + 1 of them */
	uint32_t *hashes;
	size_t *ends; /* end of each key, in words */
	uint32_t *words;
	size_t mask, count, room, word_count, word_room;
};

void intern_clear(struct intern *set);
uint32_t intern_find(struct intern *set, const uint32_t *key, size_t words, bool *added);
#endif
