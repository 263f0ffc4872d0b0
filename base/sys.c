/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/stop.h"
#include "base/hash.h"
#include "base/text.h"

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
	if (fd < 0)
		return err_null(err_set(err, ERR_USAGE, NULL, "cannot open %s: %s", path, strerror(errno)));
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
	return err_null(err_set(err, ERR_USAGE, hint, "HOME is not set, so there is nowhere to keep %s", what));
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

/* A limit that groups have, by version: the reader gets the folder of a group, and answers INFINITY for none. */
struct limit {
	const char *controller;
	double (*read)(const char *folder, bool v2);
};

static bool file_in(const char *folder, const char *name, char *line, size_t size) {
	mem_auto char *path = mem_printf("%s/%s", folder, name);
	return sys_read_line(path, line, size);
}

/* "max", or anything else that is not a number, means unlimited. */
static double memory_in(const char *folder, bool v2) {
	char line[32], *end;
	if (!file_in(folder, v2 ? "memory.max" : "memory.limit_in_bytes", line, sizeof line) || *line < '0' || *line > '9')
		return INFINITY;
	double limit = (double)strtoull(line, &end, 10);
	return *end ? INFINITY : limit;
}

/* "200000 100000" of version 2, "max 100000" for none. Version 1 has two files, and -1 for none. */
static double processors_in(const char *folder, bool v2) {
	char line[64], length[64];
	double quota = 0, period = 0;
	if (v2 && file_in(folder, "cpu.max", line, sizeof line) && sscanf(line, "%lf %lf", &quota, &period) != 2)
		quota = 0;
	if (!v2 && file_in(folder, "cpu.cfs_quota_us", line, sizeof line) &&
	    file_in(folder, "cpu.cfs_period_us", length, sizeof length)) {
		quota = strtod(line, NULL);
		period = strtod(length, NULL);
	}
	return quota > 0 && period > 0 ? quota / period : INFINITY;
}

/* The smallest limit of a group and its ancestors. In a container the group's path may not exist in the visible
 * tree; the walk up ends at the root of that tree, which does. */
static double smallest_above(const char *mount, const char *group, const struct limit *limit, bool v2) {
	char *path = mem_strdup(group), *slash = path;
	double smallest = INFINITY;
	while (slash) {
		mem_auto char *folder = mem_printf("%s%s", mount, path);
		smallest = fmin(smallest, limit->read(folder, v2));
		if ((slash = strrchr(path, '/')))
			*slash = '\0';
	}
	free(path);
	return smallest;
}

static bool has_controller(const char *list, size_t length, const char *name) {
	for (const char *at = list, *end = list + length; at < end;) {
		size_t part = strcspn(at, ",:");
		if (part == strlen(name) && strncmp(at, name, part) == 0)
			return true;
		at += part + 1;
	}
	return false;
}

/* "0::/path" is version 2, "4:memory:/path" version 1. */
static double limit_of_line(const char *root, char *line, const struct limit *limit) {
	char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!group || group[1] != '/')
		return INFINITY;
	bool v2 = group == controllers + 1;
	if (!v2 && !has_controller(controllers + 1, (size_t)(group - controllers - 1), limit->controller))
		return INFINITY;
	group[1 + strcspn(group + 1, "\n")] = '\0';
	mem_auto char *mount = mem_printf("%s/sys/fs/cgroup%s%s", root, v2 ? "" : "/", v2 ? "" : limit->controller);
	return smallest_above(mount, strcmp(group + 1, "/") == 0 ? "" : group + 1, limit, v2);
}

static double limit_of(const char *root, const struct limit *limit) {
	mem_auto char *path = mem_printf("%s/proc/self/cgroup", root), *line = NULL;
	FILE *file = fopen(path, "re");
	double smallest = INFINITY;
	size_t size = 0;
	while (file && getline(&line, &size, file) > 0)
		smallest = fmin(smallest, limit_of_line(root, line, limit));
	if (file)
		fclose(file);
	return smallest;
}

uint64_t sys_cgroup_memory(const char *root) {
	double limit = limit_of(root, &(struct limit){"memory", memory_in});
	return limit < (double)UINT64_MAX ? (uint64_t)limit : UINT64_MAX;
}

double sys_cgroup_processors(const char *root) {
	return limit_of(root, &(struct limit){"cpu", processors_in});
}

uint64_t sys_memory_total(void) {
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t limit = sys_cgroup_memory("");
	if (pages <= 0 || page <= 0)
		return limit == UINT64_MAX ? 0 : limit;
	uint64_t machine = (uint64_t)pages * (uint64_t)page;
	return limit < machine ? limit : machine;
}

/* Relative to the program's folder, which is bin or libexec/sweetspot of an installation, a build folder in the
 * sources, or the sources. */
static const char *const places[] = {"../share/sweetspot", "../../share/sweetspot", "../data", "data"};

static bool program_folder(char *path, size_t size) {
	char *slash = sys_self_path(path, size, NULL) ? NULL : strrchr(path, '/');
	if (slash)
		*slash = '\0';
	return slash;
}

/* Returns the path, or frees it and returns NULL if the folder does not exist. */
static char *folder_or_null(char *path) {
	if (access(path, R_OK | X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

static char *beside_program(const char *name) {
	char program[PATH_MAX], *found = NULL;
	if (!program_folder(program, sizeof program))
		return NULL;
	for (size_t i = 0; !found && i < sizeof places / sizeof *places; i++)
		found = folder_or_null(mem_printf("%s/%s/%s", program, places[i], name));
	return found;
}

char *sys_share_dir(const char *name, struct err *err) {
	const char *given = getenv("SWEETSPOT_DATA");
	char *found = given ? folder_or_null(mem_printf("%s/%s", given, name)) : beside_program(name);
	if (!found && !given)
		found = folder_or_null(mem_printf("%s/%s", SS_PKGDATADIR, name));
	if (!found)
		err_set(err, ERR_FAILED, "install it again, or name the folder share/sweetspot in SWEETSPOT_DATA",
		        "the data folder \"%s\" is missing%s%s", name, given ? " in " : "", given ? given : "");
	return found;
}

const char *sys_site_dir(void) {
	return SS_SYSCONFDIR "/sweetspot";
}

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
	mem_auto char *folder = folder_of(path), *name = NULL;
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
