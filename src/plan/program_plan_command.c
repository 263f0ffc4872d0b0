/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the program itself: its command, the commands around it, its folder, and its identity in the store. */
#include <unistd.h>

#include "src/plan/plan_impl.h"
#include "base/proc/path.h"
#include "base/proc/proc.h"
#include "base/proc/work.h"
#include "base/sys.h"

static bool is_utf8(const char *text) {
	size_t left = strlen(text), step = 1;
	for (; left > 0 && step > 0; left -= step, text += step)
		step = text_utf8(text, left);
	return left == 0;
}

static int words_read(struct draft *draft, struct err *err) {
	size_t count;
	char *const *rest = opt_rest(draft->args, &count);
	if (!opt_dashes(draft->args) || count == 0)
		return err_set(err, ERR_USAGE, "write it after two dashes: sweetspot tune --openmp -- ./app in.dat",
		               "no program is given");
	if (!rest[0][strspn(rest[0], " \t\n")])
		return err_set(err, ERR_USAGE, NULL, "the name of the program is empty");
	for (size_t i = 0; i < count; i++)
		if (!is_utf8(rest[i]))
			return err_set(err, ERR_USAGE, "the store accepts only UTF-8", "word %zu of the command is not UTF-8",
			               i + 1);
	draft->plan->program.argv = (const char *const *)rest;
	return 0;
}

int program_expect_read(const struct opt_args *args, struct program_spec *spec, struct err *err) {
	const char *given = opt_get(args, "expect-output", ""), *output = given ? given : "same",
			   *files = opt_get(args, "expect-files", NULL);
	spec->expect_same = strcmp(output, "same") == 0;
	spec->expect_any = strcmp(output, "any") == 0;
	spec->expect_files = files != NULL;
	if (opt_has(args, "expect-output") && !spec->expect_same && !spec->expect_any)
		return err_set(err, ERR_USAGE, "it is same or any; use --verify CMD for other checks",
		               "--expect-output cannot be %.100s", output);
	if (files && *files && strcmp(files, "same") != 0)
		return err_set(err, ERR_USAGE, "the only valid value is same; use --verify CMD for other checks",
		               "--expect-files cannot be %.100s", files);
	return 0;
}

int program_run_read(const struct opt_args *args, struct program_spec *spec, uint64_t *seed, double *budget_s,
                     double *timeout_s, struct err *err) {
	const char *budget = opt_get(args, "budget", NULL);
	long long number;
	size_t count;
	*spec = (struct program_spec){.argv = (const char *const *)opt_rest(args, &count),
	                              .cwd = opt_get(args, "cwd", NULL),
	                              .input = opt_get(args, "input", NULL),
	                              .before_each = opt_get(args, "before-each", NULL),
	                              .verify = opt_get(args, "verify", NULL)};
	if (program_expect_read(args, spec, err) || opt_int(args, "seed", 0, INT64_MAX, 1, &number, err) ||
	    (budget && opt_seconds(budget, "budget", budget_s, err)) || opt_limit(args, "timeout", timeout_s, err))
		return -1;
	*seed = (uint64_t)number;
	return 0;
}

/* Options that are texts, and their fields. */
static int texts_read(const struct opt_args *args, struct program_spec *spec, struct err *err) {
	static const struct {
		const char *option;
		size_t offset;
	} texts[] = {
		{"cwd", offsetof(struct program_spec, cwd)},
		{"input", offsetof(struct program_spec, input)},
		{"build", offsetof(struct program_spec, build)},
		{"before-each", offsetof(struct program_spec, before_each)},
		{"verify", offsetof(struct program_spec, verify)},
		{"metric", offsetof(struct program_spec, metric)},
		{"setup", offsetof(struct program_spec, setup)},
		{"teardown", offsetof(struct program_spec, teardown)},
		{"ready", offsetof(struct program_spec, ready)},
		{"energy-command", offsetof(struct program_spec, energy_command)},
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		const char *text = opt_get(args, texts[i].option, NULL);
		if (text && !*text)
			return err_set(err, ERR_USAGE, "omit the option if there is none", "--%s is empty", texts[i].option);
		if (text && !is_utf8(text))
			return err_set(err, ERR_USAGE, "the store accepts only UTF-8", "--%s is not UTF-8", texts[i].option);
		*(const char **)((char *)spec + texts[i].offset) = text;
	}
	return 0;
}

static int options_read(struct draft *draft, struct err *err) {
	struct program_spec *spec = &draft->plan->program;
	size_t count = opt_count(draft->args, "template");
	const char **templates = arena_alloc(draft->plan->arena, count + 1, sizeof *templates);
	if (opt_count(draft->args, "size"))
		return err_set(err, ERR_USAGE, "write it into the command, or tune it with --param",
		               "--size is for kernels; the problem of a program is part of its command");
	for (size_t i = 0; i < count; i++)
		templates[i] = opt_at(draft->args, "template", i);
	spec->templates = templates;
	spec->shell = opt_has(draft->args, "shell");
	spec->maximize = opt_has(draft->args, "maximize");
	return program_expect_read(draft->args, spec, err) || texts_read(draft->args, spec, err) ? -1 : 0;
}

/* Tells whether the text contains "{NAME}" with a name that will be replaced. */
static bool has_placeholder(const struct draft *draft, const char *text) {
	if (strstr(text, "{BUILD}") || strstr(text, "{SOURCE}"))
		return true;
	for (size_t i = 0; i < opt_count(draft->args, "param"); i++) {
		const char *param = opt_at(draft->args, "param", i);
		mem_auto char *braced = mem_printf("{%.*s}", (int)strcspn(param, "="), param);
		if (strstr(text, braced))
			return true;
	}
	return false;
}

static const char *compiler_of(const char *path) {
	static const struct {
		const char *suffix, *compiler;
	} languages[] = {{".c", "cc"},  {".cc", "c++"},       {".cpp", "c++"},      {".cxx", "c++"},
	                 {".C", "c++"}, {".f90", "gfortran"}, {".F90", "gfortran"}, {".f", "gfortran"}};
	const char *dot = strrchr(path, '.');
	for (size_t i = 0; dot && i < sizeof languages / sizeof *languages; i++)
		if (strcmp(dot, languages[i].suffix) == 0)
			return languages[i].compiler;
	return NULL;
}

bool program_is_source(const char *path) {
	return compiler_of(path) && access(path, F_OK) == 0 && access(path, X_OK) != 0;
}

int program_source_refuse(const char *path, struct err *err) {
	const char *name = text_base_name(path);
	int stem = (int)(strrchr(name, '.') - name);
	err_set(err, ERR_USAGE, NULL, "%.200s is a source, which must be compiled before it can run", path);
	return err_hint(err, "sweetspot tune --param O=1,2,3 --build '%s -O{O} -o %.*s %.200s' -- ./%.*s",
	                compiler_of(path), stem, name, path, stem, name);
}

/* "N=2 ./app", which only a shell understands. */
static int assignment_check(const char *word, struct err *err) {
	size_t name = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
	if (name == 0 || word[name] != '=' || access(word, F_OK) == 0)
		return 0;
	err_set(err, ERR_USAGE, NULL, "%.200s is not a program but sets a variable", word);
	return err_hint(err, "write env before it: env %.200s PROGRAM; or tune it: --param %.*s=A,B -- PROGRAM", word,
	                (int)name, word);
}

/* A line for a shell, in one word or with its operators as words, which a program would take as arguments. */
static int shell_check(struct draft *draft, struct err *err) {
	static const char *const operators[] = {"|", "||", "&&", ";", ">", ">>", "<", "2>&1"};
	const char *const *argv = draft->plan->program.argv;
	if (!argv[1] && strpbrk(argv[0], " |<>;&") && access(argv[0], F_OK) != 0) {
		err_set(err, ERR_USAGE, NULL, "there is no program \"%.300s\"", argv[0]);
		return err_hint(
			err, "write a program and its arguments as separate words, or a command for a shell after --shell --");
	}
	for (size_t i = 0; argv[i]; i++)
		for (size_t o = 0; o < sizeof operators / sizeof *operators; o++)
			if (strcmp(argv[i], operators[o]) == 0)
				draft_note(
					draft,
					"the program receives '%s' as an argument; for a shell, write --shell -- 'COMMAND | COMMAND'",
					argv[i]);
	return 0;
}

static void what_set(struct draft *draft, const char *word) {
	char *what = arena_strdup(draft->plan->arena, word);
	text_clean(what, false);
	draft->what = what;
}

/* A script must run to show what it starts. */
static bool wants_runtime(const struct draft *draft) {
	const struct program_spec *spec = &draft->plan->program;
	bool tunes = opt_has(draft->args, "openmp") || opt_count(draft->args, "param") == 0;
	for (const char *const *word = spec->argv; *word && tunes; word++)
		tunes = !has_placeholder(draft, *word);
	return tunes && !spec->build && !spec->before_each;
}

/* Looks for OpenMP in the program that does the work. This is impossible for a shell command, for a program whose name
 * contains a parameter, and for one that is not built yet. */
static int look_inside(struct draft *draft, struct err *err) {
	const struct program_spec *spec = &draft->plan->program;
	const struct openmp_program unknown = {.runtime = OPENMP_UNKNOWN, .schedule = OPENMP_SCHEDULE_UNKNOWN};
	draft->found = unknown;
	what_set(draft, spec->argv[0]);
	if (spec->shell)
		return 0;
	if (assignment_check(spec->argv[0], err) || shell_check(draft, err))
		return -1;
	if (!spec->build && program_is_source(spec->argv[0]))
		return program_source_refuse(spec->argv[0], err);
	if (has_placeholder(draft, spec->argv[0]))
		return 0;
	struct work work = work_of_words(spec->argv);
	bool passed = strcmp(work.word, spec->argv[0]) != 0;
	int failed = 0;
	if (work.kind != WORK_CODE)
		what_set(draft, work.word);
	if (work.kind == WORK_PROGRAM && !has_placeholder(draft, work.word))
		failed = openmp_inspect(work.word, spec->cwd, &draft->found, spec->build || passed ? NULL : err);
	free(work.word);
	if (failed && (spec->build || passed)) { /* it may be on other nodes only */
		draft->found = unknown;
		failed = 0;
	}
	if (!failed && draft->found.runtime == OPENMP_UNKNOWN && wants_runtime(draft))
		openmp_watch(spec->argv, spec->cwd, spec->input, &draft->found);
	return failed;
}

int program_plan_name(const struct opt_args *args, const char **name, struct err *err) {
	const char *given = *name = opt_get(args, "name", NULL);
	static const char hint[] = "--name NAME names the results, for example --name solver";
	if (!given)
		return 0;
	mem_auto char *shown = mem_strdup(given);
	text_clean(shown, false);
	bool plain = strcmp(shown, given) == 0;
	if (!*given || !plain || strlen(given) > WORK_NAME_MAX || strspn(given, "#0123456789") == strlen(given))
		return err_set(err, ERR_USAGE, hint, "--name needs text of at most %d bytes that is not a number",
		               WORK_NAME_MAX);
	if (work_passes(given))
		return err_set(err, ERR_USAGE, hint, "%s cannot name results, because it runs other programs", given);
	return 0;
}

static int name_make(struct draft *draft, struct err *err) {
	const struct program_spec *spec = &draft->plan->program;
	const char *given;
	if (program_plan_name(draft->args, &given, err))
		return -1;
	mem_auto char *line = program_join(spec->argv, !spec->shell), *name = work_name(line);
	draft->plan->name = arena_strdup(draft->plan->arena, given ? given : name);
	return 0;
}

static bool loads_runtime(const struct draft *draft) {
	return draft->found.runtime == OPENMP_GOMP || draft->found.runtime == OPENMP_LLVM;
}

static const char *runtime_name(const struct draft *draft) {
	return draft->found.runtime == OPENMP_GOMP ? "libgomp" : "LLVM's OpenMP runtime";
}

static int decide(struct draft *draft, struct err *err) {
	bool *openmp = &draft->plan->program.openmp;
	*openmp = opt_has(draft->args, "openmp");
	if (*openmp && draft->found.runtime == OPENMP_NONE)
		draft_note(
			draft,
			"%s does not load an OpenMP runtime, so OpenMP variables will hardly matter; --param NAME=A,B,.. tunes "
			"{NAME} in the command",
			draft->what);
	if (*openmp || opt_count(draft->args, "param"))
		return 0;
	if (!loads_runtime(draft) && opt_has(draft->args, "ranks"))
		return 0;
	if (!loads_runtime(draft))
		return err_set(err, ERR_USAGE,
		               "--openmp tunes its environment, --param NAME=A,B,.. tunes {NAME} in the command",
		               "nothing to tune: give --openmp or --param");
	*openmp = true;
	draft_note(draft, "%s loads %s, so its OpenMP settings are tuned as with --openmp", draft->what,
	           runtime_name(draft));
	return 0;
}

enum { WORDS_MAX = 16, LINES_MAX = 20 };
static const double BANNER_SECONDS = 10;

/* Those of a job come first, because an mpirun may be there as well that knows nothing of it. Options are those of
 * mpirun(1) of Open MPI 4, Hydra's and Intel's manuals, srun(1), jsrun(1) and flux-run(1). */
static const struct launcher launchers[] = {
	{"srun",
     "slurm",
     "SLURM_JOB_ID",
     "--ntasks={ranks}",
     "--cpus-per-task={threads}",
     false,
     {{"cpu_bind", "--cpu-bind={cpu_bind}", "none,cores,threads,sockets", "none,cores,threads", NULL},
      {"distribution", "--distribution={distribution}", "block,cyclic", "block,cyclic", NULL}}},
	{"jsrun",
     "",
     "LSB_JOBID",
     "-n {ranks} -a 1",
     "-c {threads}",
     false,
     {{"bind", "-b {bind}", "none,rs", "none,rs", NULL}}},
	{"flux",
     "",
     "FLUX_URI",
     "run -n {ranks}",
     "-c {threads}",
     false,
     {{"cpu_affinity", "-o cpu-affinity={cpu_affinity}", "off,on,per-task", "off,per-task", NULL}}},
	{"mpirun",
     "Open MPI",
     NULL,
     "-np {ranks}",
     "--map-by slot:PE={threads}",
     true,
     {{"bind_to", "--bind-to {bind_to}", "none,core,numa,socket", "none,core", "core"}}},
	{"mpirun",
     "Intel",
     NULL,
     "-np {ranks}",
     "",
     false,
     {{"I_MPI_PIN_DOMAIN", "", "unset,core,socket", "unset,omp", NULL}}},
	{"mpirun",
     "",
     NULL,
     "-np {ranks}",
     "",
     false,
     {{"bind_to", "-bind-to {bind_to}", "none,core,numa", "none,numa", NULL}}},
};

static bool is_here(const char *program) {
	mem_auto char *path = program_path(program, NULL, NULL);
	return path;
}

static bool says(const char *program, const char *banner) {
	const char *const argv[] = {program, "--version", NULL};
	const struct proc_spec spec = {.argv = argv, .line_max = 4096};
	struct proc *proc = *banner ? proc_start(&spec, NULL) : NULL;
	double end = sys_now() + BANNER_SECONDS;
	bool found = !*banner;
	char *line;
	size_t size;
	for (int i = 0; proc && i < LINES_MAX && !found; i++) {
		if (proc_read(proc, end - sys_now(), NULL, &line, &size) != PROC_LINE)
			break;
		found = strstr(line, banner);
	}
	if (proc)
		proc_stop(proc, 0);
	return found;
}

static const struct launcher *launcher_find(struct err *err) {
	for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
		const struct launcher *launcher = &launchers[i];
		if ((!launcher->job || getenv(launcher->job)) && is_here(launcher->program) &&
		    says(launcher->program, launcher->banner))
			return launcher;
	}
	return err_null(err_set(
		err, ERR_USAGE, "install Open MPI or MPICH, or load its module; inside a job srun, jsrun and flux serve, too",
		"--ranks needs a launcher of MPI, such as mpirun, which is not installed here"));
}

/* Adds the words of a text, cut at blanks. */
static size_t words_add(struct draft *draft, const char **argv, size_t count, const char *text) {
	for (size_t size; *(text += strspn(text, " ")); text += size) {
		size = strcspn(text, " ");
		argv[count++] = arena_printf(draft->plan->arena, "%.*s", (int)size, text);
	}
	return count;
}

static void command_wrap(struct draft *draft) {
	const struct launcher *launcher = draft->launcher;
	const char *const *inner = draft->plan->program.argv;
	size_t length = 0, count = 0;
	while (inner[length])
		length++;
	const char **argv = arena_alloc(draft->plan->arena, length + WORDS_MAX + 1, sizeof *argv);
	argv[count++] = launcher->program;
	count = words_add(draft, argv, count, launcher->words);
	if (draft->plan->program.openmp)
		count = words_add(draft, argv, count, launcher->team);
	for (size_t i = 0; i < BINDS && launcher->binds[i].name; i++)
		count = words_add(draft, argv, count, launcher->binds[i].words);
	memcpy(argv + count, inner, length * sizeof *argv);
	draft->plan->program.argv = argv;
}

/* Every implementation's library is called libmpi..; a program may also have it inside, or open it later. */
static bool knows_mpi(void *program, const char *path) {
	if (strncmp(text_base_name(path), "libmpi", strlen("libmpi")) == 0)
		return true;
	return strcmp(path, program) == 0 &&
	       (openmp_file_has(path, "MPI_Init", NULL) != 0 || openmp_file_has(path, "libmpi", NULL) != 0);
}

/* A launcher would start copies of a program without MPI, which do the same work and overwrite each other's files. */
static int mpi_check(const struct draft *draft, struct err *err) {
	const struct program_spec *spec = &draft->plan->program;
	struct work work = work_of_words(spec->argv);
	mem_auto char *word = work.word;
	mem_auto char *path = work.kind == WORK_PROGRAM && !spec->build ? program_path(word, spec->cwd, NULL) : NULL;
	char loader[4096];
	if (!path || openmp_file_kind(path, loader, sizeof loader) == OPENMP_FILE_OTHER ||
	    openmp_files_any(path, spec->cwd, knows_mpi, path))
		return 0;
	err_set(err, ERR_USAGE, NULL,
	        "--ranks: %s does not load a library of MPI, so each rank would be a copy of the whole run", draft->what);
	return err_hint(err,
	                "tune its own option: --param N=1,2,4 -- %s .. {N}; if it does use MPI, write the launcher: -- "
	                "mpirun -np {N} %s",
	                word, word);
}

static int launcher_put(struct draft *draft, struct err *err) {
	const struct program_spec *spec = &draft->plan->program;
	if (!opt_has(draft->args, "ranks"))
		return 0;
	if (spec->shell)
		return err_set(err, ERR_USAGE, "write the program and its arguments as words", "--ranks is not for --shell");
	mem_auto char *own = work_ranks(spec->argv);
	if (own)
		return err_set(err, ERR_USAGE,
		               "leave the launcher out, or write -np {R} with --param R=1,2,4 instead of --ranks",
		               "the command has a launcher of its own");
	if (mpi_check(draft, err) || !(draft->launcher = launcher_find(err)))
		return -1;
	command_wrap(draft);
	return 0;
}

static int draft_parallel(struct draft *draft, struct err *err) {
	return decide(draft, err) || launcher_put(draft, err) ? -1 : 0;
}

int draft_command(struct draft *draft, struct err *err) {
	const struct program_spec *spec = &draft->plan->program;
	if (words_read(draft, err) || options_read(draft, err) || program_places_check(spec->cwd, spec->input, err) ||
	    look_inside(draft, err) || draft_parallel(draft, err))
		return -1;
	char *source = arena_alloc(draft->plan->arena, SHA256_TEXT, 1);
	program_source(spec, source);
	draft->plan->source = source;
	draft->plan->problem = program_problem(spec);
	return name_make(draft, err);
}

struct draft_param *draft_param_new(struct draft *draft, const char *name, struct err *err) {
	if (draft->count == SPACE_PARAMS_MAX)
		return err_null(
			err_set(err, ERR_USAGE, "tune fewer at a time", "there are more than %d parameters", SPACE_PARAMS_MAX));
	struct draft_param *param = &draft->params[draft->count++];
	param->name = name;
	return param;
}

char *draft_name(struct draft *draft, const char *option, const char *text, const char **value, struct err *err) {
	const char *equals = strchr(text, '=');
	bool may_be_empty = strcmp(option, "default") == 0;
	if (!equals || equals == text || (!equals[1] && !may_be_empty)) {
		err_set(err, ERR_USAGE, NULL, "--%s %.200s does not give a value", option, text);
		return err_null(err_hint(err, "write --%s NAME=%s", option,
		                         strcmp(option, "param") == 0 ? "A,B,C, or a range: NAME=1..8" : "VALUE"));
	}
	*value = equals + 1;
	return arena_printf(draft->plan->arena, "%.*s", (int)(equals - text), text);
}
