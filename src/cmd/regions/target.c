/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/regions/regions_impl.h"

#include <sys/stat.h>
#include <unistd.h>

#include "src/app/app.h"
#include "src/plan/openmp.h"
#include "base/proc/path.h"
#include "base/proc/work.h"
#include "base/json/js.h"
#include "src/app/lock.h"
#include "src/plan/program_plan.h"

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
	return openmp_inspect(path, NULL, &found, NULL) == 0 &&
	       (found.runtime != OPENMP_NONE || openmp_file_has(path, "dlopen", NULL) == 1);
}

static bool is_dynamic(const char *path) {
	char loader[256];
	return openmp_file_kind(path, loader, sizeof loader) == OPENMP_FILE_DYNAMIC;
}

/* "mpirun -n 2 ./app", "env A=1 ./app": the first word that is a program with a runtime of OpenMP. NULL: none. */
static char *started_by(char *const *words, size_t count) {
	for (size_t i = 1; i < count; i++) {
		struct openmp_program found;
		char *path = strchr(words[i], '=') || words[i][0] == '-' ? NULL : program_path(words[i], NULL, NULL);
		if (path && is_dynamic(path) && openmp_inspect(path, NULL, &found, NULL) == 0 &&
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
	bool own = !is_dynamic(path) || (openmp_inspect(path, NULL, &found, NULL) == 0 &&
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

/* Options of `tune` and `run` that make sense with --regions; any other would be ignored without a word. */
int regions_options_check(const struct opt_args *args, const struct opt *const *tables, struct err *err) {
	static const char *const allowed[] = {
		"regions",  "openmp", "force",    "budget",      "seed", "store",         "timeout",
		"verify",   "cwd",    "input",    "before-each", "json", "expect-output", "expect-files",
		"counters", "quiet",  "no-store", "verbose",     NULL};
	const char *other = opt_other(args, tables, allowed);
	bool both = opt_has(args, "regions") && opt_has(args, "openmp");
	double budget_s = 1;
	if (other || both)
		return err_set(err, ERR_USAGE, "tune the regions first, then the rest",
		               "--%s cannot be combined with --regions", other ? other : "openmp");
	if (opt_has(args, "budget") && opt_seconds(opt_get(args, "budget", NULL), "budget", &budget_s, err))
		return -1;
	return budget_s > 0 ? 0
	                    : err_set(err, ERR_USAGE, "give it time (--budget 60s)", "a budget of 0 allows no measurement");
}

static const double TIMEOUT_SECONDS = 3600;

static void progress(void *ctx, const char *phase, int done, int all) {
	if (all)
		ui_progress(ctx, "regions  %s, run %d of about %d", phase, done, all);
	else
		ui_progress(ctx, "regions  %s, run %d", phase, done);
}

/* The options of a program that make sense here; counters and table are left out. */
int regions_options_read(struct app *app, const struct opt_args *args, const struct regions_target *target,
                         struct regions_options *options, struct err *err) {
	*options = (struct regions_options){.worker = app_worker(app, err),
	                                    .library = target->library,
	                                    .timeout_s = TIMEOUT_SECONDS,
	                                    .interrupt = app_interrupt(app),
	                                    .force = opt_has(args, "force"),
	                                    .progress = progress,
	                                    .progress_ctx = app_ui(app)};
	return options->worker
	           ? program_run_read(args, &options->program, &options->seed, &options->budget_s, &options->timeout_s, err)
	           : -1;
}

json_t *regions_command_look(struct app *app, const struct program_spec *program, double seconds) {
	struct regions_target target = {.words = (char *const *)program->argv};
	struct err why = {0};
	char loader[256];
	while (target.words[target.count])
		target.count++;
	target.path = program_path(target.words[0], program->cwd ? program->cwd : program->folder, &why);
	target.subject = target.path ? regions_subject(target.path, target.words, target.count) : NULL;
	target.library = target.subject ? app_library_path("libsweetspot-omp.so", &why) : NULL;
	const struct regions_options options = {.program = *program,
	                                        .worker = app_worker(app, &why),
	                                        .library = target.library,
	                                        .timeout_s = seconds,
	                                        .interrupt = app_interrupt(app)};
	bool seen =
		options.worker && target.library && !rights_check(target.subject, &why) && !runtime_check(&target, &why);
	json_t *profile = seen ? regions_profile(&options, &why) : NULL;
	if (seen && !profile && why.code == ERR_NOTHING &&
	    openmp_file_kind(target.subject, loader, sizeof loader) == OPENMP_FILE_DYNAMIC)
		profile = json_pack("{s:[]}", "regions");
	regions_target_clear(&target);
	return profile;
}

enum { CALLS_LEAST = 100, REGIONS_LEAST = 2 };
static const double SHARE_LEAST = 0.01, TOGETHER_LEAST = 0.5;

/* Any other option asks for something that regions cannot give. */
static bool is_plain(const struct opt_args *args, const struct opt *const *tables) {
	static const char *const allowed[] = {"openmp",  "budget",        "seed",         "json",        "store",
	                                      "timeout", "expect-output", "expect-files", "verify",      "cwd",
	                                      "input",   "quiet",         "verbose",      "before-each", NULL};
	return !opt_other(args, tables, allowed) && opt_dashes(args) && opt_words(args) == 0;
}

/* Nothing would tuned_show whether smaller teams do all of the work. */
static bool is_blind(const json_t *profile, const struct opt_args *args) {
	return js_bool_or(profile, "asks", false) && !js_bool_or(profile, "shows", true) && !opt_has(args, "verify") &&
	       !opt_has(args, "expect-output") && !opt_has(args, "expect-files");
}

/* Several regions that matter, because a single one gains nothing over one setting for the whole program; those whose
 * team the program chooses itself would keep it. */
static bool repeats(const json_t *profile, size_t *regions, long long *calls) {
	double together = 0;
	*regions = 0;
	*calls = 0;
	js_each (region, json_object_get(profile, "regions")) {
		double share = js_real_or(region, "share", 0);
		if (share < SHARE_LEAST || js_int_or(region, "calls", 0) < CALLS_LEAST || js_bool_or(region, "fixed", false))
			continue;
		together += share;
		*calls += js_int_or(region, "calls", 0);
		++*regions;
	}
	return *regions >= REGIONS_LEAST && together >= TOGETHER_LEAST;
}

bool regions_command_suits(struct app *app, const struct opt_args *args, const struct opt *const *tables) {
	struct regions_target target;
	struct regions_options options;
	struct err none = {0};
	js_auto json_t *profile = NULL;
	size_t regions;
	long long calls;
	bool suits = false;
	if (!is_plain(args, tables))
		return false;
	if (regions_target_read(&target, app, args, "tune", &none) == 0 &&
	    regions_options_read(app, args, &target, &options, &none) == 0) {
		int lock = lock_take(app_ui(app), app_interrupt(app), &none);
		if (lock >= 0) {
			profile = regions_profile(&options, &none);
			lock_release(lock);
		}
		ui_progress_end(app_ui(app));
		suits = profile && repeats(profile, &regions, &calls) && !is_blind(profile, args);
	}
	if (suits)
		ui_inform(
			app_ui(app),
			"%zu regions are called %lld times in one run: each is tuned separately, within a few runs (--no-regions "
			"tunes the program as a whole)",
			regions, calls);
	regions_target_clear(&target);
	return suits;
}
