/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For LD_PRELOAD: kill -9 while a file that will replace another is written, at the place that $KILL_AT names: "write",
 * when half of it is there, "fsync", "rename", before each, or "folder", when all is done but for the folder's fsync.
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t write(int fd, const void *data, size_t size);
int fsync(int fd);
int rename(const char *from, const char *to);

static int is_at(const char *place) {
	const char *wanted = getenv("KILL_AT");
	return wanted && strcmp(wanted, place) == 0;
}

static void die(void) {
	kill(getpid(), SIGKILL);
}

static int is_temporary(int fd) {
	char link[64], path[PATH_MAX];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t length = readlink(link, path, sizeof path - 1);
	path[length > 0 ? length : 0] = '\0';
	const char *dot = strrchr(path, '.');
	return strstr(path, "/.sweetspot-") && dot && strcmp(dot, ".tmp") == 0;
}

static int is_folder(int fd) {
	struct stat info;
	return fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
}

ssize_t write(int fd, const void *data, size_t size) {
	if (is_at("write") && is_temporary(fd)) {
		(void)!syscall(SYS_write, fd, data, size / 2);
		die();
	}
	return syscall(SYS_write, fd, data, size);
}

int fsync(int fd) {
	if ((is_at("fsync") && is_temporary(fd)) || (is_at("folder") && is_folder(fd)))
		die();
	return (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to) {
	if (is_at("rename"))
		die();
	return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
