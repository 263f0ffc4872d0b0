/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scratch.h"
#include "base/tree.h"
#include "worker/gpu/work.h"

/* It is installed beside the worker; where it was built it is in libtool's folder. */
static const char *library_path(struct arena *arena) {
	static const char *const beside[] = {"libsweetspot-cuda.so", ".libs/libsweetspot-cuda.so"};
	char self[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
	self[size > 0 ? size : 0] = '\0';
	char *slash = strrchr(self, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
		char *path = arena_printf(arena, "%s/%s", self, beside[i]);
		if (access(path, R_OK) == 0)
			return path;
	}
	return NULL;
}

int gpu_watch_open(struct arena *arena, const char *scratch, const char *metrics, struct gpu_watch *watch,
                   struct err *err) {
	const char *library = library_path(arena);
	char reason[COUNTER_REASON] = "", path[PATH_MAX] = "";
	*watch = (struct gpu_watch){.folder = arena_printf(arena, "%s/gpu-XXXXXX", scratch)};
	if (!library)
		return err_set(
			err, ERR_UNAVAILABLE,
			"build with CUDA's headers (12.6 or newer) and with shared libraries, and install the whole package",
			"libsweetspot-cuda.so, which sees a program's kernels, is not beside the worker");
	if (!cupti_path(path, sizeof path, reason))
		return err_set(err, ERR_UNAVAILABLE, "install CUDA's CUPTI (12.6 or newer), or name the toolkit in CUDA_HOME",
		               "a program's kernels cannot be seen: %s", reason);
	if (!mkdtemp(watch->folder))
		return err_set(err, ERR_FAILED, scratch_hint(errno), "cannot make a folder in %s: %s", scratch,
		               strerror(errno));
	watch->variables[0] = arena_printf(arena, "CUDA_INJECTION64_PATH=%s", library);
	watch->variables[1] = arena_printf(arena, "SWEETSPOT_CUDA_RECORD=%s/run", watch->folder);
	watch->variables[2] = arena_printf(arena, "SWEETSPOT_CUDA_CUPTI=%s", path);
	watch->variables[3] = metrics ? arena_printf(arena, "SWEETSPOT_CUDA_METRICS=%s", metrics) : NULL;
	return 0;
}

int gpu_watch_refresh(const struct gpu_watch *watch, struct err *err) {
	tree_remove(watch->folder);
	return mkdir(watch->folder, 0700) == 0 ? 0
	                                       : err_set(err, ERR_FAILED, scratch_hint(errno), "cannot make a fresh %s: %s",
	                                                 watch->folder, strerror(errno));
}
