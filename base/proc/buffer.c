/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "base/proc/buffer.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

enum { CHUNK = 16 * 1024 };

bool lines_full(const struct lines *lines) {
	return lines->end - lines->start > lines->max;
}

void lines_drop(struct lines *lines) {
	lines->start = lines->end = lines->scanned = 0;
}

/* Room for a chunk, plus the NUL behind the last line. */
static void make_room(struct lines *lines) {
	if (lines->start == lines->end)
		lines_drop(lines);
	if (lines->start && lines->room - lines->end <= CHUNK) {
		memmove(lines->data, lines->data + lines->start, lines->end - lines->start);
		lines->end -= lines->start;
		lines->scanned -= lines->start;
		lines->start = 0;
	}
	if (lines->room - lines->end <= CHUNK) {
		lines->room = 2 * lines->room + 2 * CHUNK;
		lines->data = mem_grow(lines->data, lines->room, 1);
	}
}

ssize_t lines_fill(struct lines *lines, int fd) {
	make_room(lines);
	ssize_t got = read(fd, lines->data + lines->end, CHUNK);
	if (got > 0)
		lines->end += (size_t)got;
	return got;
}

static void pass_newline(struct lines *lines, const char *newline) {
	lines->start = lines->scanned = (size_t)(newline - lines->data) + 1;
	lines->skipping = false;
}

static enum proc_read take_until(struct lines *lines, char *newline, char **line, size_t *size) {
	*line = lines->data + lines->start;
	*size = (size_t)(newline - *line);
	pass_newline(lines, newline);
	*newline = '\0';
	return *size > lines->max ? PROC_FLOOD : PROC_LINE;
}

/* The text after the last newline. */
static enum proc_read take_rest(struct lines *lines, char **line, size_t *size) {
	*line = lines->data + lines->start;
	*size = lines->end - lines->start;
	lines->data[lines->end] = '\0';
	lines_drop(lines);
	return PROC_LINE;
}

static char *find_newline(struct lines *lines) {
	size_t fresh = lines->end - lines->scanned;
	char *newline = fresh ? memchr(lines->data + lines->scanned, '\n', fresh) : NULL;
	lines->scanned = lines->end;
	return newline;
}

bool lines_pop(struct lines *lines, bool at_end, enum proc_read *what, char **line, size_t *size) {
	char *newline = find_newline(lines);
	if (lines->skipping && newline) {
		pass_newline(lines, newline);
		newline = find_newline(lines);
	}
	if (lines->skipping)
		lines_drop(lines);
	if (newline) {
		*what = take_until(lines, newline, line, size);
		return true;
	}
	if (lines_full(lines)) {
		lines_drop(lines);
		lines->skipping = true;
		*what = PROC_FLOOD;
		return true;
	}
	if (at_end)
		*what = lines->end > lines->start ? take_rest(lines, line, size) : PROC_EOF;
	return at_end;
}

static void tail_add(struct tail *tail, const char *data, size_t size) {
	if (size > tail->keep) {
		data += size - tail->keep;
		size = tail->keep;
	}
	if (tail->used + size > 2 * tail->keep) {
		size_t stays = tail->keep - size;
		memmove(tail->data, tail->data + tail->used - stays, stays);
		tail->used = stays;
	}
	memcpy(tail->data + tail->used, data, size);
	tail->used += size;
}

ssize_t tail_fill(struct tail *tail, int fd) {
	char chunk[CHUNK];
	ssize_t got = read(fd, chunk, sizeof(chunk));
	if (got <= 0)
		return got;
	if (!tail->data)
		tail->data = mem_alloc(2, tail->keep);
	tail_add(tail, chunk, (size_t)got);
	return got;
}

static char *tail_copy(const struct tail *tail, char zero) {
	size_t size = tail->used < tail->keep ? tail->used : tail->keep;
	char *text = mem_alloc(size + 1, 1);
	for (size_t i = 0; i < size; i++) {
		char c = tail->data[tail->used - size + i];
		text[i] = c ? c : zero;
	}
	return text;
}

char *tail_raw(const struct tail *tail) {
	return tail_copy(tail, '\1');
}

char *tail_text(const struct tail *tail) {
	char *text = tail_copy(tail, '?');
	text_clean(text, true);
	return text;
}
