/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
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
