/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/regions/target.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/app/app.h"
#include "src/base/mem.h"
#include "src/plan/openmp.h"
#include "src/plan/openmp_file.h"
#include "tuner/program/path.h"

/* It is installed beside the worker; where it was built it is in libtool's folder. */
char *regions_library_path(struct err *err) {
	static const char *const beside[] = {"/libsweetspot-omp.so", "/.libs/libsweetspot-omp.so"};
	char *worker = app_worker_path(err), *found = NULL;
	if (!worker)
		return NULL;
	char *real = realpath(worker, NULL), *folder = real ? real : worker, *slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; i < 2 && !found; i++) {
		char *path = mem_printf("%s%s", slash ? folder : ".", beside[i]);
		found = access(path, R_OK) == 0 ? realpath(path, NULL) : NULL;
		free(path);
	}
	if (!found)
		err_set(err, ERR_UNAVAILABLE, "build with shared libraries (--enable-shared) and install the whole package",
		        "libsweetspot-omp.so is not beside the worker in %s", slash ? folder : ".");
	free(real);
	free(worker);
	return found;
}

static int rights_check(const char *path, struct err *err) {
	struct stat facts;
	bool gains = stat(path, &facts) == 0 && (facts.st_mode & (S_ISUID | S_ISGID)) &&
	             (facts.st_uid != geteuid() || facts.st_gid != getegid());
	return gains ? err_set(err, ERR_USAGE, "run a copy of it without the setuid and setgid bits",
	                       "%s runs with other rights, so the system ignores LD_PRELOAD", path)
	             : 0;
}

static int runtime_check(const char *path, struct err *err) {
	char loader[256];
	struct openmp_program found;
	enum openmp_file kind = openmp_file_kind(path, loader, sizeof loader);
	if (kind == OPENMP_FILE_STATIC)
		return err_set(err, ERR_USAGE,
		               "link it dynamically (without -static), or tune it as a whole: sweetspot tune --openmp -- ..",
		               "%s is linked statically, so its regions cannot be seen", path);
	if (kind == OPENMP_FILE_OTHER) /* a script may start what has regions */
		return 0;
	if (openmp_inspect(path, NULL, &found, err))
		return -1;
	if (found.runtime == OPENMP_GOMP || found.runtime == OPENMP_LLVM || openmp_file_has(path, "dlopen", NULL) == 1)
		return 0;
	return err_set(err, ERR_USAGE, "compile it with -fopenmp; --param tunes programs of any kind",
	               "%s does not load an OpenMP runtime, so it has no parallel regions to see", path);
}

int regions_target_read(struct regions_target *target, const struct opt_args *args, const char *command,
                        struct err *err) {
	*target = (struct regions_target){.words = opt_rest(args, &target->count)};
	target->words = opt_rest(args, &target->count);
	if (!opt_dashes(args) || target->count == 0) {
		err_set(err, ERR_USAGE, NULL, "--regions needs a program after two dashes");
		return err_hint(err, "sweetspot %s --regions -- ./app in.dat", command);
	}
	if (opt_words(args)) {
		err_set(err, ERR_USAGE, NULL, "--regions is for programs: %s is not expected before the dashes",
		        opt_word(args, 0));
		return err_hint(err, "sweetspot %s --regions -- ./app in.dat", command);
	}
	target->path = program_path(target->words[0], NULL, err);
	if (!target->path || rights_check(target->path, err) || runtime_check(target->path, err))
		return -1;
	target->library = regions_library_path(err);
	return target->library ? 0 : -1;
}

void regions_target_clear(struct regions_target *target) {
	free(target->path);
	free(target->library);
}
