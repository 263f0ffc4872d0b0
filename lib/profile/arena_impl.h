/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside libsweetspot: memory that is freed all at once. */
#ifndef LIB_PROFILE_ARENA_IMPL_H
#define LIB_PROFILE_ARENA_IMPL_H
#include <stddef.h>

struct ssp_arena;

struct ssp_arena *ssp_arena_new(void);
void ssp_arena_free(struct ssp_arena *arena);
/* Zeroed; NULL without memory. */
void *ssp_arena_alloc(struct ssp_arena *arena, size_t count, size_t size);
char *ssp_arena_text(struct ssp_arena *arena, const char *text);

#endif
