/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside proc: a child's output, in bounded memory. */
#ifndef BASE_PROC_BUFFER_H
#define BASE_PROC_BUFFER_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/proc/proc.h"

/* Bytes cut into lines. [start, end) has not been consumed yet. */
struct lines {
	char *data;
	size_t room, start, end, scanned, max;
	bool skipping; /* the rest of a line over max */
};

/* True once enough is buffered for the longest line. */
bool lines_full(const struct lines *lines);
/* One read(2) of what is available; returns what read(2) does. */
ssize_t lines_fill(struct lines *lines, int fd);
/* The next line, PROC_FLOOD if it is too long, or PROC_EOF at the end; false if more must be read first. The end of
 * the bytes also ends a line. */
bool lines_pop(struct lines *lines, bool at_end, enum proc_read *what, char **line, size_t *size);
void lines_drop(struct lines *lines);

/* The last `keep` bytes. */
struct tail {
	char *data;
	size_t keep, used;
};

ssize_t tail_fill(struct tail *tail, int fd);
/* Copies, which the caller frees: as it was written, with 1 for zeros, and as text. */
char *tail_raw(const struct tail *tail);
char *tail_text(const struct tail *tail);

#endif
