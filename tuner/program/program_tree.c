/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/program/program_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char hint_out_of_tree[] =
	"build outside of this folder: a build command with {SOURCE}, such as `cmake {SOURCE} "
	"-DB={B} && make`, starts in an empty folder";

struct copy {
	const char *from, *to;
	const struct program_tree_limit *limit;
	uint64_t bytes, files;
	bool skips;
	struct stat skip;
};

static int plain_copy(int in, int out, uint64_t size) {
	enum { BLOCK = 1 << 16 };
	mem_auto char *block = mem_alloc(BLOCK, 1);
	ssize_t got = 1;
	while (size && (got = read(in, block, size < BLOCK ? (size_t)size : BLOCK)) > 0) {
		for (ssize_t done = 0, put; done < got; done += put)
			if ((put = write(out, block + done, (size_t)(got - done))) < 0)
				return -1;
		size -= (uint64_t)got;
	}
	return got < 0 ? -1 : 0;
}

static int data_copy(int in, int out, uint64_t size) {
	if (ioctl(out, FICLONE, in) == 0)
		return 0;
	for (ssize_t got; size; size -= (uint64_t)got) {
		got = copy_file_range(in, NULL, out, NULL, size < SSIZE_MAX ? (size_t)size : SSIZE_MAX, 0);
		if (got <= 0) /* another file system, or one without support: read and write the rest */
			return plain_copy(in, out, size);
	}
	return 0;
}

static int file_copy(const char *from, const char *to) {
	struct stat info;
	int in = open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int failed = out < 0 || fstat(in, &info) || data_copy(in, out, (uint64_t)info.st_size);
	if (!failed) {
		const struct timespec times[] = {info.st_atim, info.st_mtim};
		failed = fchmod(out, info.st_mode & 0777) || futimens(out, times);
	}
	int why = errno;
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	errno = why;
	return failed ? -1 : 0;
}

/* Does a relative link in a folder `depth` below the top lead out of the tree? Only its text counts; links on the path
 * are not followed. */
static bool leaves_tree(const char *target, int depth) {
	for (const char *part = target; *part && depth >= 0; part += strspn(part, "/")) {
		size_t size = strcspn(part, "/");
		if (size == 2 && memcmp(part, "..", 2) == 0)
			depth--;
		else if (!(size == 1 && *part == '.'))
			depth++;
		part += size;
	}
	return depth < 0;
}

static int link_copy(const FTSENT *entry, const char *to) {
	char target[PATH_MAX];
	ssize_t size = readlink(entry->fts_path, target, sizeof target - 1);
	if (size < 0)
		return -1;
	target[size] = '\0';
	const char *slash = strrchr(entry->fts_path, '/');
	mem_auto char *outside = *target != '/' && leaves_tree(target, entry->fts_level - 1)
	                             ? mem_printf("%.*s/%s", (int)(slash - entry->fts_path), entry->fts_path, target)
	                             : NULL;
	int failed = symlink(outside ? outside : target, to);
	const struct timespec times[] = {entry->fts_statp->st_atim, entry->fts_statp->st_mtim};
	return failed || utimensat(AT_FDCWD, to, times, AT_SYMLINK_NOFOLLOW) ? -1 : 0;
}

static int folder_finish(const struct stat *info, const char *to) {
	const struct timespec times[] = {info->st_atim, info->st_mtim};
	return chmod(to, info->st_mode & 0777) || utimensat(AT_FDCWD, to, times, 0) ? -1 : 0;
}

static int entry_make(const FTSENT *entry, const char *to) {
	switch (entry->fts_info) {
	case FTS_D:
		return mkdir(to, 0700);
	case FTS_DP:
		return folder_finish(entry->fts_statp, to);
	case FTS_F:
		return file_copy(entry->fts_path, to);
	case FTS_SL:
	case FTS_SLNONE:
		return link_copy(entry, to);
	default:
		return 0;
	}
}

static int entry_count(struct copy *copy, const FTSENT *entry, struct err *err) {
	if (entry->fts_info == FTS_DP)
		return 0;
	copy->files++;
	copy->bytes += entry->fts_info == FTS_F ? (uint64_t)entry->fts_statp->st_size : 0;
	if (copy->files > copy->limit->files)
		return err_set(err, ERR_USAGE, hint_out_of_tree, "%s has more than %llu files: too many to copy for each build",
		               copy->from, (unsigned long long)copy->limit->files);
	if (copy->bytes > copy->limit->bytes)
		return err_set(err, ERR_USAGE, hint_out_of_tree, "%s is over %llu MiB: too much to copy for each build",
		               copy->from, (unsigned long long)(copy->limit->bytes >> 20));
	return 0;
}

static bool is_skipped(const struct copy *copy, const FTSENT *entry) {
	if (entry->fts_level > 0 && strcmp(entry->fts_name, ".git") == 0)
		return true;
	return copy->skips && (entry->fts_info == FTS_D || entry->fts_info == FTS_DP) &&
	       entry->fts_statp->st_dev == copy->skip.st_dev && entry->fts_statp->st_ino == copy->skip.st_ino;
}

static int unreadable(const char *path, int why, struct err *err) {
	return err_set(err, ERR_USAGE, hint_out_of_tree, "cannot copy %s: %s", path, strerror(why));
}

static int entry_copy(struct copy *copy, const FTSENT *entry, struct err *err) {
	if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS)
		return unreadable(entry->fts_path, entry->fts_errno, err);
	if (entry_count(copy, entry, err))
		return -1;
	if (entry->fts_info == FTS_F && access(entry->fts_path, R_OK))
		return unreadable(entry->fts_path, errno, err);
	if (!copy->to)
		return 0;
	mem_auto char *to = mem_printf("%s%s", copy->to, entry->fts_path + strlen(copy->from));
	int failed = entry_make(entry, to);
	if (failed && (errno == ENOSPC || errno == EDQUOT))
		err_set(err, ERR_FAILED, "free some space, or set XDG_CACHE_HOME to a larger disk", "cannot write %s: %s", to,
		        strerror(errno));
	else if (failed)
		unreadable(entry->fts_path, errno, err);
	return failed;
}

int program_tree_copy(const char *from, const char *to, const char *skip, const struct program_tree_limit *limit,
                      struct err *err) {
	char *const roots[] = {(char *)from, NULL};
	struct copy copy = {.from = from, .to = to, .limit = limit};
	copy.skips = skip && stat(skip, &copy.skip) == 0;
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	int failed = walk ? 0 : unreadable(from, errno, err);
	for (FTSENT *entry; !failed && (entry = (errno = 0, fts_read(walk)));)
		if (is_skipped(&copy, entry))
			fts_set(walk, entry, FTS_SKIP);
		else
			failed = entry_copy(&copy, entry, err);
	if (!failed && errno)
		failed = unreadable(from, errno, err);
	if (walk)
		fts_close(walk);
	return failed;
}
