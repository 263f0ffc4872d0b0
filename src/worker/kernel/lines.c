/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/kernel/lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/mem.h"

struct lines {
	int fd;
	size_t limit;
	char *buffer;
	size_t capacity, used, taken; /* the last line took `taken` bytes at the start */
	bool end;
};

struct lines *lines_new(int fd, size_t limit) {
	struct lines *lines = mem_alloc(1, sizeof *lines);
	lines->fd = fd;
	lines->limit = limit;
	lines->capacity = 4096;
	lines->buffer = mem_alloc(lines->capacity, 1);
	return lines;
}

void lines_free(struct lines *lines) {
	if (lines) {
		free(lines->buffer);
		free(lines);
	}
}

static void lines_fill(struct lines *lines) {
	ssize_t got;
	if (lines->used == lines->capacity) {
		lines->capacity *= 2;
		lines->buffer = mem_grow(lines->buffer, lines->capacity, 1);
	}
	do {
		got = read(lines->fd, lines->buffer + lines->used, lines->capacity - lines->used);
	} while (got < 0 && errno == EINTR);
	lines->end = got <= 0;
	lines->used += got > 0 ? (size_t)got : 0;
}

static void lines_shift(struct lines *lines) {
	lines->used -= lines->taken;
	memmove(lines->buffer, lines->buffer + lines->taken, lines->used);
	lines->taken = 0;
}

enum lines_got lines_next(struct lines *lines, const char **line, size_t *size) {
	bool too_long = false;
	size_t seen = 0;
	lines_shift(lines);
	for (;;) {
		char *newline = memchr(lines->buffer + seen, '\n', lines->used - seen);
		*line = lines->buffer;
		*size = newline ? (size_t)(newline - lines->buffer) : lines->used;
		too_long = too_long || *size > lines->limit;
		if (newline || lines->end) {
			lines->taken = *size + (newline ? 1 : 0);
			break;
		}
		seen = lines->used;
		if (too_long) {
			lines->used = seen = 0;
		}
		lines_fill(lines);
	}
	if (too_long) {
		return LINES_LONG;
	}
	return lines->taken > 0 ? LINES_LINE : LINES_END;
}
