/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/base/sys.h"

static int write_all(int fd, const char *data, size_t size) {
	while (size) {
		ssize_t put = write(fd, data, size);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		data += put;
		size -= (size_t)put;
	}
	return 0;
}

/* A device or a pipe is written as it is: a file renamed over /dev/stdout would help nobody. */
static int write_through(const char *path, const void *data, size_t size) {
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -1;
	int failed = write_all(fd, data, size), why = errno;
	if (close(fd) < 0 && !failed)
		return -1;
	errno = why;
	return failed;
}

static char *folder_of(const char *path) {
	const char *slash = strrchr(path, '/');
	if (!slash)
		return mem_strdup(".");
	return mem_printf("%.*s", slash == path ? 1 : (int)(slash - path), path);
}

/* A name that no other process or thread uses; the caller frees it. */
static int open_beside(const char *folder, char **name) {
	for (unsigned i = 0; i < 1000; i++) {
		*name = mem_printf("%s/.sweetspot-%ld-%u.tmp", folder, (long)getpid(), i);
		int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
		if (fd >= 0 || errno != EEXIST)
			return fd;
		free(*name);
	}
	*name = mem_strdup("");
	errno = EEXIST;
	return -1;
}

/* The rename itself must reach the disk. File systems that can't do this for a folder say EINVAL. */
static int sync_folder(const char *folder) {
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == EACCES ? 0 : -1;
	int failed = fsync(fd) < 0 && errno != EINVAL, why = errno;
	close(fd);
	errno = why;
	return failed ? -1 : 0;
}

static int fill(int fd, const void *data, size_t size, const struct stat *old) {
	if (old && fchmod(fd, old->st_mode & 0777) < 0)
		return -1;
	return write_all(fd, data, size) < 0 || fsync(fd) < 0 ? -1 : 0;
}

/* old: what the path was before, NULL where there was nothing. */
static int replace(const char *path, const void *data, size_t size, const struct stat *old) {
	char *folder = folder_of(path), *name;
	int fd = open_beside(folder, &name), failed = fd < 0, why;
	if (fd >= 0) {
		failed = fill(fd, data, size, old);
		why = errno;
		if (close(fd) < 0 && !failed) {
			failed = -1;
			why = errno;
		}
		errno = why;
		if (!failed)
			failed = rename(name, path);
		why = errno;
		if (failed)
			unlink(name);
		errno = why;
	}
	if (!failed)
		failed = sync_folder(folder);
	why = errno;
	free(folder);
	free(name);
	errno = why;
	return failed ? -1 : 0;
}

int sys_write_file(const char *path, const void *data, size_t size, struct err *err) {
	struct stat st;
	bool exists = stat(path, &st) == 0;
	char *target = exists ? realpath(path, NULL) : NULL; /* a symbolic link stays one */
	int failed = exists && !S_ISREG(st.st_mode) ? write_through(path, data, size)
	                                            : replace(target ? target : path, data, size, exists ? &st : NULL);
	if (failed)
		err_set(err, ERR_FAILED, errno == ENOSPC ? "free some space" : "choose a path that can be written",
		        "cannot write %s: %s", path, strerror(errno));
	free(target);
	return failed ? -1 : 0;
}
