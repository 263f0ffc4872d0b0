/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/stop.h"

static double seconds(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double sys_now(void) {
	return seconds(CLOCK_MONOTONIC);
}

double sys_wall(void) {
	return seconds(CLOCK_REALTIME);
}

bool sys_is_denied(int why) {
	return why == EPERM || why == ENOSYS;
}

bool sys_read_line(const char *path, char *line, size_t size) {
	FILE *file = size > 1 && size <= INT_MAX ? fopen(path, "re") : NULL;
	if (!file)
		return false;
	bool got = fgets(line, (int)size, file) != NULL;
	fclose(file);
	if (got)
		line[strcspn(line, "\n")] = '\0';
	return got;
}

/* The wait has pauses, because a signal may come right before it. A pipe without a writer is waited for. Where a
 * sandbox denies the call, read(2) has to wait. */
static bool wait_readable(int fd) {
	enum { SLICE_MS = 100 };
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	for (int found; (found = poll(&ready, 1, SLICE_MS)) <= 0;) {
		if (stop_asked()) {
			errno = EINTR;
			return false;
		}
		if (found < 0 && errno != EINTR)
			break;
	}
	return true;
}

static ssize_t read_some(int fd, char *data, size_t size) {
	ssize_t got;
	do {
		if (!wait_readable(fd))
			return -1;
		got = read(fd, data, size);
	} while (got < 0 && (errno == EINTR || errno == EAGAIN));
	return got;
}

/* Initial size: the file's, plus one byte to notice its end. */
static size_t first_room(int fd, size_t limit) {
	struct stat st;
	size_t least = 4096;
	bool known = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size <= limit;
	return known && (size_t)st.st_size + 2 > least ? (size_t)st.st_size + 2 : least;
}

char *sys_read_fd(int fd, const char *where, size_t limit, size_t *size, struct err *err) {
	size_t used = 0, room = first_room(fd, limit);
	char *data = mem_large(room);
	for (ssize_t got;; used += (size_t)got) {
		if (used > limit) {
			err_set(err, ERR_USAGE, NULL, "%s is larger than %zu bytes", where, limit);
			break;
		}
		if (room - used < 2)
			data = mem_grow(data, room *= 2, 1);
		got = read_some(fd, data + used, room - used - 1);
		if (got < 0 && errno == EINTR) {
			stop_fail(err, "while a file was read");
			break;
		}
		if (got < 0) {
			err_set(err, errno == EISDIR ? ERR_USAGE : ERR_FAILED, NULL, "cannot read %s: %s", where, strerror(errno));
			break;
		}
		if (got == 0) {
			data[used] = '\0';
			if (size)
				*size = used;
			return data;
		}
	}
	free(data);
	return NULL;
}

char *sys_read_file(const char *path, size_t limit, size_t *size, struct err *err) {
	int fd;
	do
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	while (fd < 0 && errno == EINTR);
	if (fd < 0) {
		err_set(err, ERR_USAGE, NULL, "cannot open %s: %s", path, strerror(errno));
		return NULL;
	}
	char *data = sys_read_fd(fd, path, limit, size, err);
	close(fd);
	return data;
}

bool sys_is_plain_file(const char *path) {
	struct stat what;
	return stat(path, &what) == 0 && S_ISREG(what.st_mode);
}

int sys_self_path(char *path, size_t size, struct err *err) {
	ssize_t length = readlink("/proc/self/exe", path, size);
	if (length > 0 && (size_t)length < size) {
		path[length] = '\0';
		return 0;
	}
	*path = '\0';
	return err_set(err, ERR_FAILED, "is /proc mounted?", "cannot find this program's own file: %s",
	               strerror(length < 0 ? errno : ENAMETOOLONG));
}

/* Another process may make the same folder at the same time. */
static int make_dir(const char *path, mode_t mode, struct err *err) {
	struct stat st;
	if (mkdir(path, mode) == 0)
		return 0;
	int why = errno;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return 0;
	return err_set(err, ERR_FAILED, "choose another folder, or make its parent writable",
	               "cannot make the folder %s: %s", path, strerror(why));
}

int sys_make_dirs(const char *path, struct err *err) {
	mem_auto char *prefix = mem_strdup(path);
	int failed = 0;
	for (char *slash = prefix; !failed && *slash && (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		failed = make_dir(prefix, 0777, err);
		*slash = '/';
	}
	return failed ? -1 : make_dir(path, 0777, err);
}

/* The specification (XDG Base Directory) says to ignore relative paths. */
static char *user_dir(const char *variable, const char *fallback, const char *what, struct err *err) {
	const char *xdg = getenv(variable), *home = getenv("HOME");
	char hint[80];
	if (xdg && xdg[0] == '/')
		return mem_printf("%s/sweetspot", xdg);
	if (home && home[0] == '/')
		return mem_printf("%s/%s/sweetspot", home, fallback);
	snprintf(hint, sizeof hint, "set HOME or %s", variable);
	err_set(err, ERR_USAGE, hint, "HOME is not set, so there is nowhere to keep %s", what);
	return NULL;
}

char *sys_data_dir(struct err *err) {
	return user_dir("XDG_DATA_HOME", ".local/share", "data", err);
}

char *sys_cache_dir(struct err *err) {
	return user_dir("XDG_CACHE_HOME", ".cache", "the cache", err);
}

char *sys_config_dir(struct err *err) {
	return user_dir("XDG_CONFIG_HOME", ".config", "settings", err);
}
