/* SPDX-License-Identifier: BSD-3-Clause */
/* Included before each file that `make analyze` looks at: the analyzers see one file at a time and cannot know that
 * these never return NULL (base/mem.h). */
#include <stddef.h>
struct arena;
void *mem_alloc(size_t count, size_t size) __attribute__((returns_nonnull));
void *mem_large(size_t bytes) __attribute__((returns_nonnull));
char *mem_printf(const char *format, ...) __attribute__((returns_nonnull));
void *mem_grow(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
char *mem_strdup(const char *text) __attribute__((returns_nonnull));
struct arena *arena_new(void) __attribute__((returns_nonnull));
void *arena_alloc(struct arena *arena, size_t count, size_t size) __attribute__((returns_nonnull));
char *arena_strdup(struct arena *arena, const char *text) __attribute__((returns_nonnull));
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((returns_nonnull));
