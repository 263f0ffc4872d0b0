/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/program/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/base/sys.h"
#include "src/base/tree.h"

static const char PREFIX[] = "run-";

struct program_folder {
	char *base, *path;
	int lock;
};

static char *base_path(struct err *err) {
	char *cache = sys_cache_dir(err), *path = cache ? mem_printf("%s/build", cache) : NULL;
	free(cache);
	return path;
}

static int lock_open(const char *folder, int flags) {
	char *path = mem_printf("%s/lock", folder);
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
	free(path);
	return fd;
}

/* True for a folder of ours whose lock nobody holds. Folders are created and locked under the lock of the base, so that
 * one without a lock file is broken. */
static bool is_leftover(const char *path) {
	struct stat info;
	if (lstat(path, &info) || !S_ISDIR(info.st_mode) || info.st_uid != geteuid())
		return false;
	int lock = lock_open(path, 0);
	if (lock < 0)
		return errno == ENOENT;
	bool is_free = flock(lock, LOCK_EX | LOCK_NB) == 0;
	close(lock);
	return is_free;
}

static void leftovers_remove(const char *base) {
	DIR *dir = opendir(base);
	for (const struct dirent *entry; dir && (entry = readdir(dir));) {
		if (strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) != 0)
			continue;
		char *path = mem_printf("%s/%s", base, entry->d_name);
		if (is_leftover(path))
			tree_remove(path);
		free(path);
	}
	if (dir)
		closedir(dir);
}

static int folder_make(struct program_folder *folder, struct err *err) {
	folder->path = mem_printf("%s/%sXXXXXX", folder->base, PREFIX);
	if (!mkdtemp(folder->path)) {
		int why = errno;
		free(folder->path);
		folder->path = NULL;
		return err_set(err, ERR_FAILED, "set XDG_CACHE_HOME to a writable folder",
		               "cannot create a build folder in %s: %s", folder->base, strerror(why));
	}
	folder->lock = lock_open(folder->path, O_CREAT | O_EXCL);
	if (folder->lock < 0)
		return err_set(err, ERR_FAILED, NULL, "cannot create a lock in %s: %s", folder->path, strerror(errno));
	flock(folder->lock,
	      LOCK_EX | LOCK_NB); /* without lock support no other run can tell that the folder is unused, either */
	return 0;
}

struct program_folder *program_folder_new(const char *base, struct err *err) {
	struct program_folder *folder = mem_alloc(1, sizeof *folder);
	folder->lock = -1;
	folder->base = base ? mem_strdup(base) : base_path(err);
	int failed = !folder->base || sys_make_dirs(folder->base, err);
	int lock = failed ? -1 : lock_open(folder->base, O_CREAT);
	if (lock >= 0 && flock(lock, LOCK_EX) == 0)
		leftovers_remove(folder->base);
	if (!failed)
		failed = folder_make(folder, err);
	if (lock >= 0)
		close(lock);
	if (!failed)
		return folder;
	program_folder_free(folder);
	return NULL;
}

void program_folder_free(struct program_folder *folder) {
	if (!folder)
		return;
	if (folder->path)
		tree_remove(folder->path);
	if (folder->lock >= 0)
		close(folder->lock);
	free(folder->path);
	free(folder->base);
	free(folder);
}

const char *program_folder_path(const struct program_folder *folder) {
	return folder->path;
}

const char *program_folder_base(const struct program_folder *folder) {
	return folder->base;
}
