/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "base/text.h"

struct tree {
	int top;
	uint64_t moved; /* folders that were moved to the top, each under its own number */
	bool progress;
};

static DIR *open_folder(int at, const char *name) {
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(at, name, flags);
	if (fd < 0 && errno == EACCES && fchmodat(at, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) == 0)
		fd = openat(at, name, flags);
	if (fd < 0)
		return NULL;
	fchmod(fd, S_IRWXU);
	DIR *dir = fdopendir(fd);
	if (!dir)
		close(fd);
	return dir;
}

bool tree_is_dots(const char *name) {
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Moves a nested folder to the top, where it will be emptied. */
static void move_up(struct tree *tree, int from, const char *name) {
	char fresh[40];
	do
		snprintf(fresh, sizeof(fresh), "moved-up-%ju", (uintmax_t)tree->moved++);
	while (faccessat(tree->top, fresh, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
	fchmodat(from, name, S_IRWXU, AT_SYMLINK_NOFOLLOW); /* Moving a folder writes into it, because its ".." changes. */
	if (renameat(from, name, tree->top, fresh) == 0)
		tree->progress = true;
}

static void empty_below(struct tree *tree, const char *folder) {
	DIR *dir = open_folder(tree->top, folder);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		if (tree_is_dots(entry->d_name))
			continue;
		if (unlinkat(dirfd(dir), entry->d_name, 0) == 0)
			tree->progress = true;
		else
			move_up(tree, dirfd(dir), entry->d_name);
	}
	if (dir)
		closedir(dir);
	if (unlinkat(tree->top, folder, AT_REMOVEDIR) == 0)
		tree->progress = true;
}

/* One pass over the top; false once it no longer makes progress. */
static bool pass(struct tree *tree, const char *path) {
	DIR *dir = open_folder(AT_FDCWD, path);
	tree->progress = false;
	if (!dir)
		return false;
	tree->top = dirfd(dir);
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (tree_is_dots(entry->d_name))
			continue;
		if (unlinkat(tree->top, entry->d_name, 0) == 0)
			tree->progress = true;
		else
			empty_below(tree, entry->d_name);
	}
	closedir(dir);
	return tree->progress;
}

int tree_remove(const char *path) {
	struct tree tree = {.top = -1};
	while (rmdir(path) < 0) {
		int why = errno;
		if (!pass(&tree, path)) {
			errno = why;
			return -1;
		}
	}
	return 0;
}

bool tree_is_fresh(const char *path) {
	struct stat there;
	if (lstat(path, &there) != 0 || !S_ISDIR(there.st_mode) || there.st_uid != geteuid() ||
	    (there.st_mode & 07777) != S_IRWXU)
		return false;
	DIR *dir = open_folder(AT_FDCWD, path);
	bool fresh = dir;
	errno = 0;
	for (struct dirent *entry; fresh && (entry = readdir(dir));)
		fresh = tree_is_dots(entry->d_name);
	fresh = fresh && errno == 0;
	if (dir)
		closedir(dir);
	return fresh;
}

/* A program's processes normally end with the worker or with its keeper. Where all of them were killed at once, what
 * they ran is known by its TMPDIR, which no other process has. */
static bool environment_has(int pid, const char *variable) {
	char path[64], *word = NULL;
	size_t room = 0;
	bool has = false;
	snprintf(path, sizeof path, "/proc/%d/environ", pid);
	FILE *file = fopen(path, "re");
	while (file && !has && getdelim(&word, &room, '\0', file) > 0)
		has = strcmp(word, variable) == 0;
	free(word);
	if (file)
		fclose(file);
	return has;
}

/* The descriptor keeps the signal from another process that gets the same number. */
static bool kill_if(int pid, const char *variable) {
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	bool killed =
		fd >= 0 && environment_has(pid, variable) && syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == 0;
	if (fd >= 0)
		close(fd);
	return killed;
}

static size_t kill_all(const char *variable) {
	size_t killed = 0;
	DIR *dir = opendir("/proc");
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		int pid = atoi(entry->d_name);
		killed += pid > 1 && pid != getpid() && kill_if(pid, variable);
	}
	if (dir)
		closedir(dir);
	return killed;
}

/* Ends the processes whose TMPDIR is FOLDER/tmp. */
static void scratch_remains_end(const char *folder) {
	enum { TURNS = 100 }; /* a program may start processes meanwhile */
	mem_auto char *variable = mem_printf("TMPDIR=%s/tmp", folder);
	for (int i = 0; i < TURNS && kill_all(variable) > 0; i++)
		continue;
}

static const char *scratch_parent(void) {
	const char *folder = getenv("TMPDIR");
	return folder && folder[0] == '/' ? folder : "/tmp";
}

const char *scratch_hint(int why) {
	return why == ENOSPC || why == EDQUOT ? "make room there, or set TMPDIR to a folder that has some"
	                                      : "set TMPDIR to a writable folder";
}

/* A file system without locks cannot say that another process uses a folder: one that was just made is taken all the
 * same. */
static bool is_taken(int fd, bool fresh) {
	return flock(fd, LOCK_EX | LOCK_NB) == 0 || (fresh && (errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS));
}

/* Is it as mkdtemp makes it, for us? A folder that a user made beside ours has other rights. */
static bool is_ours(const struct stat *folder) {
	return folder->st_uid == geteuid() && (folder->st_mode & 0777) == 0700;
}

/* Takes the lock if nobody else holds it and the folder, which must be ours, still exists. */
static int folder_lock(const char *path, bool fresh) {
	struct stat there;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &there) == 0 && is_ours(&there) && is_taken(fd, fresh) && fstat(fd, &there) == 0 &&
	    there.st_nlink > 0)
		return fd;
	if (fd >= 0) {
		int why = errno;
		close(fd);
		errno = why;
	}
	return -1;
}

/* Another process that tidies up may remove a folder just before it is locked; then try again. */
int scratch_open(struct scratch *scratch, const char *prefix, struct err *err) {
	enum { TRIES = 10 };
	*scratch = (struct scratch){.fd = -1};
	for (int i = 0; i < TRIES; i++) {
		scratch->path = mem_printf("%s/%sXXXXXX", scratch_parent(), prefix);
		if (!mkdtemp(scratch->path)) {
			err_set(err, ERR_FAILED, scratch_hint(errno), "cannot make a folder in %s: %s", scratch_parent(),
			        strerror(errno));
			break;
		}
		scratch->fd = folder_lock(scratch->path, true);
		if (scratch->fd >= 0)
			return 0;
		int why = errno;
		rmdir(scratch->path);
		err_set(err, ERR_FAILED,
		        sys_is_denied(why) ? "does a sandbox forbid flock?" : "set TMPDIR to a folder on another file system",
		        "cannot lock %s: %s", scratch->path, strerror(why));
		free(scratch->path);
		scratch->path = NULL;
	}
	free(scratch->path);
	scratch->path = NULL;
	return -1;
}

int scratch_file(const struct scratch *scratch) {
	mem_auto char *path = mem_printf("%s/output-XXXXXX", scratch->path);
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

void scratch_close(struct scratch *scratch) {
	if (scratch->path) {
		tree_remove(scratch->path);
		free(scratch->path);
	}
	if (scratch->fd >= 0)
		close(scratch->fd);
	*scratch = (struct scratch){.fd = -1};
}

/* The prefix and the six letters that mkdtemp chooses; other programs may use the same prefix. */
static bool is_name(const char *name, const char *prefix) {
	size_t length = strlen(prefix);
	return strncmp(name, prefix, length) == 0 && strlen(name + length) == strlen("XXXXXX");
}

void scratch_tidy(const char *prefix) {
	DIR *dir = opendir(scratch_parent());
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		if (!is_name(entry->d_name, prefix))
			continue;
		mem_auto char *path = mem_printf("%s/%s", scratch_parent(), entry->d_name);
		int fd = folder_lock(path, false);
		if (fd >= 0) {
			scratch_remains_end(path);
			tree_remove(path);
			close(fd);
		}
	}
	if (dir)
		closedir(dir);
}

bool tree_is_folder(const char *path) {
	struct stat what;
	return stat(path, &what) == 0 && S_ISDIR(what.st_mode);
}

static int is_visible(const struct dirent *entry) {
	return *entry->d_name != '.';
}

char **tree_files(const char *folder, const char *end, size_t *count) {
	struct dirent **entries = NULL;
	int all = scandir(folder, &entries, is_visible, alphasort);
	char **paths = all < 0 ? NULL : mem_alloc((size_t)all + 1, sizeof *paths);
	*count = 0;
	for (int i = 0; i < all; i++) {
		if (text_ends_with(entries[i]->d_name, end) && strlen(entries[i]->d_name) > strlen(end))
			paths[(*count)++] = mem_printf("%s/%s", folder, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return paths;
}
