/* SPDX-License-Identifier: BSD-3-Clause */
/* The file that a preloaded library fills through a mapping, so that it survives a crash of the program. Its blocks are
 * reserved before they are touched, because a write into a mapped hole kills the program where the disk is full; and it
 * has no open file between two calls, because the program may look at its files, and close them all. */
#ifndef LIB_RECORD_SPOOL_H
#define LIB_RECORD_SPOOL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SPOOL_PATH = 4096, SPOOL_BLOCK = 32 << 10, SPOOL_BLOCKS = 2048 };

/* All 0 is one without a file. */
struct spool {
	char path[SPOOL_PATH];
	uint64_t reserved[SPOOL_BLOCKS / 64]; /* a bit for each block */
};

/* A new file PREFIX.HOST.PID, since ranks on several nodes may share the folder; or PREFIX.HOST.PID.1 and so on, since
 * a process may become another program. Its bytes are 0. NULL: there is no room, or another reason. */
void *spool_open(struct spool *spool, const char *prefix, size_t size);
/* May these bytes be touched from now on? A file only grows as far as this is called. */
bool spool_reserve(struct spool *spool, size_t from, size_t to);
#endif
