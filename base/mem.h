/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory. mem_* never return NULL: without memory the process ends with a clear message (the store is transactional,
 * so nothing measured is lost). An arena frees all its allocations at once; data of a session or a trial lives in
 * one. */
#ifndef BASE_MEM_H
#define BASE_MEM_H
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void *mem_alloc(size_t count, size_t size) __attribute__((malloc)); /* zeroed; checks count * size for overflow */
void *mem_grow(void *old, size_t count, size_t size);               /* realloc; the new part is not zeroed */
/* Room for one more item behind `count`: `x = mem_room(x, count, &room, sizeof *x);` */
static inline void *mem_room(void *old, size_t count, size_t *room, size_t size) {
	if (count < *room)
		return old;
	*room = *room ? 2 * *room : 16;
	return mem_grow(old, *room, size);
}
/* Not zeroed: memory that will be written from one end to the other. Large blocks use large pages where the system
 * has them, because a page fault on first touch takes longer than filling the page. */
void *mem_large(size_t bytes) __attribute__((malloc));
char *mem_vprintf(const char *format, va_list ap) __attribute__((format(printf, 1, 0), malloc));
char *mem_strdup(const char *text) __attribute__((malloc));
char *mem_printf(const char *format, ...) __attribute__((format(printf, 1, 2), malloc));

/* Puts more text behind *text, which moves. */
void mem_append(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `mem_auto char *text = mem_printf(..);`: freed where its block ends, in whatever way, after the value of a return. */
#define mem_auto __attribute__((cleanup(mem_auto_free)))
static inline void mem_auto_free(void *variable) {
	void *memory;
	memcpy(&memory, variable, sizeof memory);
	free(memory);
}

struct arena;
struct arena *arena_new(void);
void arena_free(struct arena *arena);                              /* accepts NULL */
void *arena_alloc(struct arena *arena, size_t count, size_t size); /* zeroed, aligned for any type */
/* Calls release(what) when the arena is freed, the last registration first: for resources that cannot live in the
 * arena. */
void arena_defer(struct arena *arena, void (*release)(void *what), void *what);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
#endif
