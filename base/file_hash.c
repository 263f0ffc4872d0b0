/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/file_hash.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { PIECE = 1 << 16 };

static int regular_open(const char *path, int flags) {
	struct stat info;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);
	if (fd < 0 || (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

bool file_hash(const char *path, int flags, uint64_t most, char hash[SHA256_TEXT]) {
	int fd = regular_open(path, flags);
	if (fd < 0)
		return false;
	mem_auto char *piece = mem_alloc(PIECE, 1);
	struct sha256 sha;
	uint64_t size = 0;
	ssize_t got;
	sha256_start(&sha);
	while ((got = read(fd, piece, PIECE)) > 0 && (size += (uint64_t)got) <= most)
		sha256_add(&sha, piece, (size_t)got);
	int failed = got > 0 ? EFBIG : got < 0 ? errno : 0;
	sha256_end(&sha, hash);
	close(fd);
	errno = failed;
	return !failed;
}
