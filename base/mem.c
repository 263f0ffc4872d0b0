/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CHUNK_FIRST = 4096, CHUNK_LARGEST = 1 << 20, LARGE_PAGE = 1 << 21 };

/* The data of a chunk follows its head, which is aligned for any type. */
struct chunk {
	_Alignas(max_align_t) struct chunk *older;
	size_t size, used;
};

struct deferred {
	struct deferred *older;
	void (*release)(void *what);
	void *what;
};

struct arena {
	struct chunk *newest;
	struct deferred *deferred;
	size_t next_size;
};

/* _exit() instead of exit(), because handlers and buffered output may need the memory that ran out. */
static _Noreturn void out_of_memory(size_t count, size_t size) {
	char text[96];
	int length = snprintf(text, sizeof(text), "sweetspot: error: out of memory (%zu x %zu bytes)\n", count, size);
	if (write(STDERR_FILENO, text, (size_t)length) < 0)
		_exit(EXIT_FAILURE);
	_exit(EXIT_FAILURE);
}

static size_t checked_bytes(size_t count, size_t size) {
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX)
		out_of_memory(count, size);
	return bytes ? bytes : 1;
}

void *mem_alloc(size_t count, size_t size) {
	void *memory = calloc(1, checked_bytes(count, size));
	if (!memory)
		out_of_memory(count, size);
	return memory;
}

void *mem_grow(void *old, size_t count, size_t size) {
	void *memory = realloc(old, checked_bytes(count, size));
	if (!memory)
		out_of_memory(count, size);
	return memory;
}

void *mem_large(size_t bytes) {
	if (bytes < LARGE_PAGE)
		return mem_grow(NULL, bytes, 1);
	void *memory = aligned_alloc(LARGE_PAGE, checked_bytes(bytes / LARGE_PAGE + 1, LARGE_PAGE));
	if (!memory)
		out_of_memory(1, bytes);
#ifdef MADV_HUGEPAGE
	madvise(memory, bytes, MADV_HUGEPAGE); /* Huge pages are only an optimisation; a failure is harmless. */
#endif
	return memory;
}

char *mem_strdup(const char *text) {
	size_t size = strlen(text) + 1;
	return memcpy(mem_alloc(size, 1), text, size);
}

__attribute__((format(printf, 1, 0))) static char *format_text(const char *format, va_list ap) {
	char *text;
	if (vasprintf(&text, format, ap) < 0)
		out_of_memory(1, strlen(format));
	return text;
}

char *mem_vprintf(const char *format, va_list ap) {
	return format_text(format, ap);
}

char *mem_printf(const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	char *text = format_text(format, ap);
	va_end(ap);
	return text;
}

void mem_append(char **text, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	mem_auto char *more = format_text(format, ap);
	va_end(ap);
	size_t size = strlen(*text);
	*text = mem_grow(*text, size + strlen(more) + 1, 1);
	strcpy(*text + size, more);
}

struct arena *arena_new(void) {
	struct arena *arena = mem_alloc(1, sizeof(*arena));
	arena->next_size = CHUNK_FIRST;
	return arena;
}

void arena_free(struct arena *arena) {
	if (!arena)
		return;
	for (struct deferred *deferred = arena->deferred; deferred; deferred = deferred->older)
		deferred->release(deferred->what);
	for (struct chunk *chunk = arena->newest, *older; chunk; chunk = older) {
		older = chunk->older;
		free(chunk);
	}
	free(arena);
}

static struct chunk *chunk_new(struct arena *arena, size_t needed) {
	size_t size = needed > arena->next_size ? needed : arena->next_size;
	if (size > SIZE_MAX - sizeof(struct chunk))
		out_of_memory(1, size);
	struct chunk *chunk = mem_alloc(sizeof(*chunk) + size, 1);
	chunk->size = size;
	if (arena->next_size < CHUNK_LARGEST)
		arena->next_size *= 2;
	return chunk;
}

/* A block over a chunk's size gets a chunk of its own, put behind the newest so that its room is not lost. */
static struct chunk *chunk_for(struct arena *arena, size_t bytes) {
	struct chunk *newest = arena->newest;
	if (newest && newest->size - newest->used >= bytes)
		return newest;
	struct chunk *chunk = chunk_new(arena, bytes);
	if (newest && bytes >= arena->next_size) {
		chunk->older = newest->older;
		newest->older = chunk;
	} else {
		chunk->older = newest;
		arena->newest = chunk;
	}
	return chunk;
}

void *arena_alloc(struct arena *arena, size_t count, size_t size) {
	const size_t align = _Alignof(max_align_t);
	size_t bytes = checked_bytes(count, size);
	bytes = (bytes + align - 1) / align * align;
	struct chunk *chunk = chunk_for(arena, bytes);
	char *memory = (char *)(chunk + 1) + chunk->used;
	chunk->used += bytes;
	return memory;
}

void arena_defer(struct arena *arena, void (*release)(void *what), void *what) {
	struct deferred *deferred = arena_alloc(arena, 1, sizeof *deferred);
	*deferred = (struct deferred){.older = arena->deferred, .release = release, .what = what};
	arena->deferred = deferred;
}

char *arena_strdup(struct arena *arena, const char *text) {
	size_t size = strlen(text) + 1;
	return memcpy(arena_alloc(arena, size, 1), text, size);
}

char *arena_printf(struct arena *arena, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	char *text = format_text(format, ap), *kept = arena_strdup(arena, text);
	va_end(ap);
	free(text);
	return kept;
}
