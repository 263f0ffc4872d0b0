/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/record/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { NAMES_MOST = 100, ATTEMPTS = 16 };

static int file_make(struct spool *spool, const char *prefix) {
	char host[65] = "", number[8] = "";
	int fd = -1;
	gethostname(host, sizeof host - 1);
	for (int i = 0; i < NAMES_MOST && fd < 0 && (i == 0 || errno == EEXIST); i++) {
		if (i)
			snprintf(number, sizeof number, ".%d", i);
		if (snprintf(spool->path, SPOOL_PATH, "%s.%s.%ld%s", prefix, host, (long)getpid(), number) >= SPOOL_PATH)
			break;
		fd = open(spool->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	}
	return fd;
}

/* A file that grows beyond the limit ends the program by SIGXFSZ. */
static bool is_within_limit(size_t end) {
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= end);
}

/* A signal of the program's may interrupt it. */
static bool block_take(int fd, size_t block) {
	int failed = EINTR;
	if (!is_within_limit((block + 1) * SPOOL_BLOCK))
		return false;
	for (int i = 0; i < ATTEMPTS && failed == EINTR; i++)
		failed = posix_fallocate(fd, (off_t)(block * SPOOL_BLOCK), SPOOL_BLOCK);
	return !failed;
}

static bool is_reserved(const struct spool *spool, size_t block) {
	return __atomic_load_n(&spool->reserved[block / 64], __ATOMIC_RELAXED) >> (block % 64) & 1;
}

static bool blocks_reserve(struct spool *spool, int fd, size_t first, size_t last) {
	bool fine = fd >= 0;
	for (size_t i = first; i <= last && fine; i++)
		if (!is_reserved(spool, i) && (fine = block_take(fd, i)))
			__atomic_fetch_or(&spool->reserved[i / 64], UINT64_C(1) << (i % 64), __ATOMIC_RELAXED);
	return fine;
}

bool spool_reserve(struct spool *spool, size_t from, size_t to) {
	size_t first = from / SPOOL_BLOCK, last = (to - 1) / SPOOL_BLOCK, at = first;
	if (!*spool->path)
		return true;
	if (last >= SPOOL_BLOCKS)
		return false;
	while (at <= last && is_reserved(spool, at))
		at++;
	if (at > last)
		return true;
	int fd = open(spool->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	bool fine = blocks_reserve(spool, fd, at, last);
	if (fd >= 0)
		close(fd);
	return fine;
}

void *spool_open(struct spool *spool, const char *prefix, size_t size) {
	void *memory = MAP_FAILED;
	memset(spool->reserved, 0, sizeof spool->reserved);
	int fd = file_make(spool, prefix);
	if (blocks_reserve(spool, fd, 0, 0))
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED && fd >= 0)
		unlink(spool->path);
	if (fd >= 0)
		close(fd);
	if (memory != MAP_FAILED)
		return memory;
	*spool->path = '\0';
	return NULL;
}
