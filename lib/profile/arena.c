/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/profile/arena_impl.h"

enum { BLOCK = 16 << 10 };

struct block {
	struct block *next;
	size_t used, size;
	alignas(max_align_t) char bytes[];
};

struct ssp_arena {
	struct block *blocks;
};

struct ssp_arena *ssp_arena_new(void) {
	return calloc(1, sizeof(struct ssp_arena));
}

void ssp_arena_free(struct ssp_arena *arena) {
	struct block *block = arena ? arena->blocks : NULL;
	while (block) {
		struct block *next = block->next;
		free(block);
		block = next;
	}
	free(arena);
}

static struct block *block_add(struct ssp_arena *arena, size_t size) {
	size_t room = size > BLOCK ? size : BLOCK;
	struct block *block = room <= SIZE_MAX - sizeof *block ? calloc(1, sizeof *block + room) : NULL;
	if (!block)
		return NULL;
	block->size = room;
	block->next = arena->blocks;
	arena->blocks = block;
	return block;
}

void *ssp_arena_alloc(struct ssp_arena *arena, size_t count, size_t size) {
	size_t bytes, unit = alignof(max_align_t);
	if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + unit) / unit * unit; /* at least one unit */
	struct block *block = arena->blocks;
	if (!block || block->size - block->used < bytes)
		block = block_add(arena, bytes);
	if (!block)
		return NULL;
	void *taken = block->bytes + block->used;
	block->used += bytes;
	return taken;
}

char *ssp_arena_text(struct ssp_arena *arena, const char *text) {
	size_t size = strlen(text) + 1;
	char *copy = ssp_arena_alloc(arena, size, 1);
	return copy ? memcpy(copy, text, size) : NULL;
}
