/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "worker/program/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/proc/spawn.h"
#include "base/sys.h"
#include "base/tree.h"

enum { PLACE_FILE_LEAST = 1 << 20 };
static const double PLACE_FREE_SHARE = 0.9;

/* One endless file must not fill the disk. */
static uint64_t file_limit(const char *cwd) {
	struct statvfs room;
	if (statvfs(cwd ? cwd : ".", &room) != 0) {
		return 0;
	}
	double bytes = PLACE_FREE_SHARE * (double)room.f_bavail * (double)room.f_frsize;
	return bytes < PLACE_FILE_LEAST ? PLACE_FILE_LEAST : bytes < 0x1p62 ? (uint64_t)bytes : 0;
}

int program_site_open(struct arena *arena, struct program_request *request, int watch, struct program_site *site,
                      struct err *err) {
	*site = (struct program_site){.place = {.cwd = request->cwd, .watch = watch, .nothing = -1}};
	if (scratch_open(&site->scratch, SCRATCH_RUN, err) != 0) {
		return -1;
	}
	site->place.nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (site->place.nothing < 0) {
		return err_set(err, ERR_FAILED, NULL, "cannot open /dev/null: %s", strerror(errno));
	}
	site->folder = arena_printf(arena, "%s/tmp", site->scratch.path);
	request->set[0] = arena_printf(arena, "TMPDIR=%s", site->folder);
	site->place.environment = proc_environment(request->unset, request->set);
	site->place.file_limit = request->file_limit ? request->file_limit : file_limit(request->cwd);
	return 0;
}

/* Most programs leave the folder empty, and to make it anew takes up to ten milliseconds on a file system that passes
 * on which blocks are free. */
int program_site_refresh(const struct program_site *site, struct err *err) {
	if (tree_is_fresh(site->folder)) {
		return 0;
	}
	if (tree_remove(site->folder) && errno != ENOENT) {
		return err_set(err, ERR_FAILED, sys_is_denied(errno) ? "does a sandbox forbid rmdir?" : NULL,
		               "cannot remove %s: %s", site->folder, strerror(errno));
	}
	return mkdir(site->folder, 0700) == 0 ? 0
	                                      : err_set(err, ERR_FAILED, scratch_hint(errno), "cannot make a fresh %s: %s",
	                                                site->folder, strerror(errno));
}

char **program_site_environment(struct arena *arena, const struct program_request *request,
                                const char *const *variables) {
	size_t count = 0, more = 0;
	while (request->set[count]) {
		count++;
	}
	while (variables[more]) {
		more++;
	}
	const char **set = arena_alloc(arena, count + more + 1, sizeof *set);
	memcpy(set, request->set, count * sizeof *set);
	memcpy(set + count, variables, more * sizeof *set);
	return proc_environment(request->unset, set);
}

void program_site_close(struct program_site *site) {
	free(site->place.environment);
	if (site->place.nothing >= 0) {
		close(site->place.nothing);
	}
	scratch_close(&site->scratch);
}

/* Opening a pipe without a writer must not block us, but the program may wait for one. */
int program_site_input(const struct program_site *site, const char *path, struct err *err) {
	struct stat what;
	int at = AT_FDCWD, fd = -1;
	if (site->place.cwd) {
		at = open(site->place.cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	if (at >= 0 || at == AT_FDCWD) {
		fd = openat(at, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	}
	int why = errno;
	if (fd >= 0 && fstat(fd, &what) == 0 && S_ISDIR(what.st_mode)) {
		close(fd);
		fd = -1;
		why = EISDIR;
	}
	if (fd >= 0) {
		fcntl(fd, F_SETFL, 0);
	} else {
		err_set(err, ERR_FAILED, NULL, "cannot read the input %.200s: %s", path, strerror(why));
	}
	if (at >= 0) {
		close(at);
	}
	return fd;
}
