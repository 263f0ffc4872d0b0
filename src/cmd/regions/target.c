/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/regions/regions_impl.h"

#include <sys/stat.h>
#include <unistd.h>

#include "src/app/app.h"
#include "base/mem.h"
#include "src/plan/openmp.h"
#include "base/proc/path.h"
#include "base/proc/work.h"

static int rights_check(const char *path, struct err *err) {
	struct stat facts;
	bool gains = stat(path, &facts) == 0 && (facts.st_mode & (S_ISUID | S_ISGID)) &&
	             (facts.st_uid != geteuid() || facts.st_gid != getegid());
	return gains ? err_set(err, ERR_USAGE, "run a copy of it without the setuid and setgid bits",
	                       "%s runs with other rights, so the system ignores LD_PRELOAD", path)
	             : 0;
}

/* Unknown where its libraries cannot be listed because one is missing: running it says which. */
static bool may_have_regions(const char *path) {
	struct openmp_program found;
	struct err none = {0};
	return openmp_inspect(path, NULL, &found, &none) == 0 &&
	       (found.runtime != OPENMP_NONE || openmp_file_has(path, "dlopen", NULL) == 1);
}

static bool is_dynamic(const char *path) {
	char loader[256];
	return openmp_file_kind(path, loader, sizeof loader) == OPENMP_FILE_DYNAMIC;
}

/* "mpirun -n 2 ./app", "env A=1 ./app": the first word that is a program with a runtime of OpenMP. NULL: none. */
static char *started_by(char *const *words, size_t count) {
	for (size_t i = 1; i < count; i++) {
		struct err none = {0};
		struct openmp_program found;
		char *path = strchr(words[i], '=') || words[i][0] == '-' ? NULL : program_path(words[i], NULL, &none);
		if (path && is_dynamic(path) && openmp_inspect(path, NULL, &found, &none) == 0 &&
		    (found.runtime == OPENMP_GOMP || found.runtime == OPENMP_LLVM))
			return path;
		free(path);
	}
	return NULL;
}

/* "python3 km.py": two scripts are two programs, although one file loads their runtime. NULL: none. */
static char *script_of(char *const *words) {
	struct work work = work_of_words((const char *const *)words);
	char *path = work.kind == WORK_SCRIPT ? realpath(work.word, NULL) : NULL;
	free(work.word);
	return path;
}

char *regions_subject(const char *path, char *const *words, size_t count) {
	struct openmp_program found;
	struct err none = {0};
	bool own = !is_dynamic(path) || (openmp_inspect(path, NULL, &found, &none) == 0 &&
	                                 (found.runtime == OPENMP_GOMP || found.runtime == OPENMP_LLVM));
	char *inner = own ? NULL : started_by(words, count);
	inner = own || inner ? inner : script_of(words);
	return inner ? inner : mem_strdup(path);
}

static int runtime_check(const struct regions_target *target, struct err *err) {
	char loader[256];
	enum openmp_file kind = openmp_file_kind(target->subject, loader, sizeof loader);
	if (kind == OPENMP_FILE_STATIC && !target->kokkos.library)
		return err_set(err, ERR_USAGE,
		               "link it dynamically (without -static), or tune it as a whole: sweetspot tune --openmp -- ..",
		               "%s is linked statically, so its regions cannot be seen", target->subject);
	/* A script may start what has regions. */
	if (kind == OPENMP_FILE_OTHER || target->kokkos.library || may_have_regions(target->subject))
		return 0;
	return err_set(err, ERR_USAGE, "compile it with -fopenmp; --param tunes programs of any kind",
	               "%s does not load an OpenMP runtime, so it has no parallel regions to see", target->subject);
}

int regions_target_read(struct regions_target *target, struct app *app, const struct opt_args *args,
                        const char *command, struct err *err) {
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
	if (!target->path)
		return -1;
	target->subject = regions_subject(target->path, target->words, target->count);
	if (strcmp(command, "run") == 0)
		target->kokkos = kokkos_tool_find(app_ui(app), (const char *const *)target->words, target->count, NULL, false);
	if (rights_check(target->subject, err) || runtime_check(target, err))
		return -1;
	target->library = app_library_path("libsweetspot-omp.so", err);
	mem_auto char *ranks = work_ranks((const char *const *)target->words);
	if (target->library && ranks) {
		target->mpi = mem_printf("%.*smpi.so", (int)(strlen(target->library) - strlen("omp.so")), target->library);
		if (access(target->mpi, R_OK) != 0) {
			free(target->mpi);
			target->mpi = NULL;
		}
	}
	return target->library ? 0 : -1;
}

void regions_target_clear(struct regions_target *target) {
	free(target->path);
	free(target->subject);
	free(target->library);
	free(target->mpi);
	free(target->kokkos.library);
	free(target->kokkos.file);
}

json_t *regions_target_command(const struct regions_target *target) {
	json_t *words = json_array();
	for (size_t i = 0; i < target->count; i++)
		json_array_append_new(words, json_string(target->words[i]));
	return words;
}
