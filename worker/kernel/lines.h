/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines from a file descriptor, of bounded length. */
#ifndef WORKER_KERNEL_LINES_H
#define WORKER_KERNEL_LINES_H
#include <stddef.h>

struct lines;

enum lines_got {
	LINES_LINE,
	LINES_LONG, /* longer than the limit; skipped to its end */
	LINES_END   /* end of input, or an error */
};

struct lines *lines_new(int fd, size_t limit); /* limit: bytes in a line, without its newline */
void lines_free(struct lines *lines);
/* The next line without its newline, valid until the next call; an unfinished line at the end of input counts. */
enum lines_got lines_next(struct lines *lines, const char **line, size_t *size);
#endif
