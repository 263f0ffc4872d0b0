/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/text.h"

static const char PREFIX[] = ".sweetspot-", SUFFIX[] = ".tmp";

/* These return 0 or an error number. */
static int write_all(int fd, const char *data, size_t size) {
	while (size) {
		ssize_t put = write(fd, data, size);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return errno;
		data += put;
		size -= (size_t)put;
	}
	return 0;
}

/* Network file systems report a full disk only here. */
static int close_after(int fd, int failed) {
	return close(fd) < 0 && !failed ? errno : failed;
}

/* A device or a pipe is written directly, because a file renamed over /dev/stdout would not help anybody. */
static int write_through(const char *path, const void *data, size_t size) {
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? errno : close_after(fd, write_all(fd, data, size));
}

static char *folder_of(const char *path) {
	const char *slash = strrchr(path, '/');
	if (!slash)
		return mem_strdup(".");
	return mem_printf("%.*s", slash == path ? 1 : (int)(slash - path), path);
}

/* Processes of other hosts may write to the same folder. */
static uint32_t host_number(void) {
	struct utsname system;
	return (uint32_t)hash_text(uname(&system) == 0 ? system.nodename : "");
}

/* Opens a file whose name no other process or thread uses; -1 and errno. The caller frees the name. */
static int open_inside(const char *folder, char **name) {
	for (unsigned i = 0;; i++) {
		*name = mem_printf("%s/%s%ld-%u-%08x%s", folder, PREFIX, (long)getpid(), i, (unsigned)host_number(), SUFFIX);
		int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
		if (fd >= 0)
			flock(fd, LOCK_EX | LOCK_NB);
		if (fd >= 0 || errno != EEXIST || i == 1000)
			return fd;
		free(*name);
	}
}

/* old: the file to be replaced, or NULL. */
static int fill(int fd, const void *data, size_t size, const struct stat *old) {
	if (old && fchmod(fd, old->st_mode & 0777) < 0)
		return errno;
	int failed = write_all(fd, data, size);
	return !failed && fsync(fd) < 0 ? errno : failed;
}

/* The rename itself must reach the disk. File systems that cannot sync a folder return EINVAL. */
static int sync_folder(const char *folder) {
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == EACCES ? 0 : errno;
	return close_after(fd, fsync(fd) < 0 && errno != EINVAL ? errno : 0);
}

/* Is the process that made it on this host, and gone? */
static bool is_orphan(const char *name) {
	long pid;
	unsigned number, host;
	return sscanf(name + sizeof PREFIX - 1, "%ld-%u-%8x", &pid, &number, &host) == 3 && host == host_number() &&
	       pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

/* The writer locks its file until it ends. If the writer may still live, a young file stays even if nobody holds its
 * lock, because a file system may lack locks. */
static bool is_leftover(const char *path, bool orphan) {
	enum { YOUNG_SECONDS = 60 };
	struct stat info;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool left = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
	            (orphan || info.st_mtime < time(NULL) - YOUNG_SECONDS) && flock(fd, LOCK_EX | LOCK_NB) == 0;
	if (fd >= 0)
		close(fd);
	return left;
}

/* Removes temporary files of processes that were killed. */
static void tidy(const char *folder) {
	DIR *dir = opendir(folder);
	for (const struct dirent *entry; dir && (entry = readdir(dir));) {
		if (strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) != 0 || !text_ends_with(entry->d_name, SUFFIX))
			continue;
		mem_auto char *path = mem_printf("%s/%s", folder, entry->d_name);
		if (is_leftover(path, is_orphan(entry->d_name)))
			unlink(path);
	}
	if (dir)
		closedir(dir);
}

static int replace(const char *path, const void *data, size_t size, const struct stat *old) {
	char *folder = folder_of(path), *name;
	tidy(folder);
	int fd = open_inside(folder, &name), failed = errno;
	if (fd >= 0) {
		int lock = fcntl(fd, F_DUPFD_CLOEXEC, 0); /* keeps it until the rename */
		failed = close_after(fd, fill(fd, data, size, old));
		if (!failed && rename(name, path) < 0)
			failed = errno;
		if (lock >= 0)
			close(lock);
		if (failed)
			unlink(name);
		else
			failed = sync_folder(folder);
	}
	free(folder);
	free(name);
	return failed;
}

int sys_write_file(const char *path, const void *data, size_t size, struct err *err) {
	struct stat st;
	bool exists = stat(path, &st) == 0;
	mem_auto char *target = exists ? realpath(path, NULL) : NULL; /* keep a symbolic link a link */
	int failed = exists && !S_ISREG(st.st_mode) ? write_through(path, data, size)
	                                            : replace(target ? target : path, data, size, exists ? &st : NULL);
	if (!failed)
		return 0;
	return err_set(err, ERR_FAILED, failed == ENOSPC ? "free some space" : "choose a writable path",
	               "cannot write %s: %s", path, strerror(failed));
}
