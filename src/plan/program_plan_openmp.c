/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The OpenMP settings, and the ranks of MPI, as parameters. */
#include "base/text.h"
#include "base/proc/path.h"
#include "base/proc/proc.h"
#include "base/proc/work.h"
#include "base/sys.h"
#include "base/opt.h"
#include "src/plan/params.h"
#include "src/plan/plan_impl.h"
#include "tuner/space/space.h"

const struct setting program_settings[SETTINGS] = {
	{.name = "threads", .summary = "size of the team, as OMP_NUM_THREADS", .min = 1, .max = 1 << 16},
	{.name = "proc_bind",
     .summary = "binding of threads to places, as OMP_PROC_BIND",
     .values = "false,close,spread,primary",
     .words = "false,close,spread,primary"},
	{.name = "places",
     .summary = "kind of places, as OMP_PLACES",
     .values = "threads,cores,ll_caches,numa_domains,sockets",
     .when = "proc_bind != 'false'",
     .words = "threads,cores,ll_caches,numa_domains,sockets"},
	{.name = "schedule",
     .summary = "schedule of schedule(runtime) loops, as OMP_SCHEDULE",
     .values = "default,static,dynamic,guided",
     .when = "threads > 1",
     .words = "default,static,dynamic,guided,auto",
     .needs = NEEDS_SCHEDULE},
	{.name = "chunk",
     .summary = "iterations per chunk, as in OMP_SCHEDULE; 0 if none is given",
     .values = "0,1,4,16,64,256",
     .when = "schedule in ('static', 'dynamic', 'guided')",
     .max = 1 << 30,
     .needs = NEEDS_SCHEDULE},
	{.name = "wait_policy",
     .summary = "behaviour of waiting threads, as OMP_WAIT_POLICY",
     .values = "default,active,passive",
     .when = "threads > 1",
     .words = "default,active,passive"},
	{.name = "spincount",
     .summary = "rounds that waiting threads spin, as GOMP_SPINCOUNT",
     .values = "default,0,1000,30000,1000000",
     .when = "wait_policy == 'default'",
     .words = "default,infinite,infinity",
     .max = INT64_MAX,
     .needs = NEEDS_GOMP},
	{.name = "blocktime",
     .summary = "milliseconds that waiting threads spin, as KMP_BLOCKTIME",
     .values = "default,0,1,10,infinite",
     .when = "wait_policy == 'default'",
     .words = "default,infinite",
     .max = INT32_MAX,
     .needs = NEEDS_LLVM},
};

static const struct setting *program_setting_find(const char *name) {
	for (size_t i = 0; i < SETTINGS; i++)
		if (strcmp(program_settings[i].name, name) == 0)
			return &program_settings[i];
	return NULL;
}

static bool is_word_of(const char *words, const char *word) {
	size_t length = strlen(word);
	for (const char *at = words; at && *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
		if (strcspn(at, ",") == length && strncmp(at, word, length) == 0)
			return true;
	return false;
}

static int value_check(const struct setting *setting, struct value value, struct err *err) {
	char text[64];
	if (value.type == VALUE_WORD
	        ? is_word_of(setting->words, value.as.w)
	        : value.type == VALUE_INT && setting->max && value.as.i >= setting->min && value.as.i <= setting->max)
		return 0;
	value_text(value, text, sizeof text);
	err_set(err, ERR_USAGE, NULL, "%s cannot be \"%s\"", setting->name, text);
	if (setting->max && setting->words)
		return err_hint(err, "it must be a whole number of at least %lld, or one of %s", setting->min, setting->words);
	if (setting->max)
		return err_hint(err, "it must be a whole number from %lld to %lld", setting->min, setting->max);
	return err_hint(err, "the values are %s", setting->words);
}

static int domain_read(struct draft *draft, struct draft_param *param, const char *text, struct err *err) {
	if (domain_parse(text, draft->plan->arena, &param->values, &param->count, err))
		return err_prefix(err, "%s", param->name);
	for (size_t i = 0; i < param->count; i++)
		if (value_check(param->setting, param->values[i], err))
			return -1;
	return 0;
}

static int setting_add(struct draft *draft, const struct setting *setting, struct err *err) {
	const char *set = params_given(draft->args, "set", setting->name),
			   *range = params_given(draft->args, "range", setting->name);
	struct draft_param *param = draft_param_new(draft, setting->name, err);
	const char *text = set ? set : range ? range : setting->values;
	if (!param)
		return -1;
	if (!text) /* only threads, whose values depend on the machine */
		text = params_thread_counts(draft->plan->arena, draft->topo, opt_has(draft->args, "oversubscribe"));
	param->setting = setting;
	param->when = setting->when;
	if (domain_read(draft, param, text, err))
		return -1;
	if (set && param->count != 1)
		return err_set(err, ERR_USAGE, "use --range to try several values", "--set %s takes one value, not %zu",
		               setting->name, param->count);
	param->held = set != NULL;
	param->initial = param->values[0];
	return 0;
}

/* A setting that the user names is always tuned; others only if the program can be affected by them. */
static bool setting_wanted(const struct draft *draft, const struct setting *setting) {
	if (params_given(draft->args, "set", setting->name) || params_given(draft->args, "range", setting->name))
		return true;
	if (setting->needs & NEEDS_SCHEDULE)
		return draft->found.schedule != OPENMP_SCHEDULE_NONE || params_given(draft->args, "set", "schedule") ||
		       params_given(draft->args, "range", "schedule") || params_given(draft->args, "set", "chunk") ||
		       params_given(draft->args, "range", "chunk");
	return !setting->needs || (setting->needs & NEEDS_GOMP && draft->found.runtime == OPENMP_GOMP) ||
	       (setting->needs & NEEDS_LLVM && draft->found.runtime == OPENMP_LLVM);
}

static int names_check(struct draft *draft, const char *option, struct err *err) {
	const char *names[SETTINGS], *value;
	for (size_t i = 0; i < SETTINGS; i++)
		names[i] = program_settings[i].name;
	for (size_t i = 0; i < opt_count(draft->args, option); i++) {
		const char *name = draft_name(draft, option, opt_at(draft->args, option, i), &value, err);
		if (!name)
			return -1;
		if (draft->plan->program.openmp && program_setting_find(name))
			continue;
		return opt_refuse(err, name, names, draft->plan->program.openmp ? SETTINGS : 0, "did you mean %s?",
		                  "it applies to the parameters of --openmp; use --param and --default for your own",
		                  "--%s: unknown parameter \"%.100s\"", option, name);
	}
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

/* --ranks: the program is run by a launcher of MPI, whose number of ranks and binding are parameters beside those of
 * the program. */
enum { BINDS = 2, WORDS_MAX = 16, LINES_MAX = 20 };
static const double BANNER_SECONDS = 10;

/* Those of a job come first, because an mpirun may be there as well that knows nothing of it. Options are those of
 * mpirun(1) of Open MPI 4, Hydra's and Intel's manuals, srun(1), jsrun(1) and flux-run(1). */
static const struct launcher {
	const char *program, *banner; /* banner: in the output of --version */
	const char *job;              /* variable of an allocation without which it starts nothing; NULL: none */
	const char *words, *team;     /* team: words for ranks of several threads */
	bool per_core;                /* it starts no more ranks than there are cores */
	struct bind {
		const char *name, *words, *alone, *team; /* values for ranks of one thread, and of several */
		const char *limit;                       /* value that needs a core for each thread */
	} binds[BINDS];
} launchers[] = {
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

/* The processors of an allocation of several nodes, such as "2(x2),4" for three of them; 0: there is none. */
static int allocated(void) {
	enum { MOST = 1 << 24 };
	const char *text = getenv("SLURM_JOB_CPUS_PER_NODE"), *nodes = getenv("SLURM_JOB_NUM_NODES");
	int sum = 0, used, processors, times;
	if (!text || !nodes || atoi(nodes) < 2)
		return 0;
	for (; sscanf(text, "%6d%n", &processors, &used) == 1 && processors > 0 && sum < MOST; text += *text == ',') {
		text += used;
		times = 1;
		if (sscanf(text, "(x%6d)", &times) == 1)
			text += strcspn(text, ",");
		sum += processors * (times > 0 && times < MOST / processors ? times : 1);
	}
	return sum;
}

/* A configuration may span the nodes of the job in which the search runs. */
static int processors(const struct draft *draft, enum topo_level level) {
	int here = topo_count(draft->topo, level), all = allocated();
	return all ? (int)((long)all * here / topo_count(draft->topo, TOPO_PU)) : here;
}

/* More ranks than that would share processors. */
static int most_ranks(const struct draft *draft) {
	return processors(draft, draft->launcher->per_core ? TOPO_CORE : TOPO_PU);
}

static int ranks_add(struct draft *draft, struct err *err) {
	const char *text = opt_get(draft->args, "ranks", NULL);
	struct draft_param *param = draft_param_new(draft, "ranks", err);
	size_t kept = 0;
	int most = most_ranks(draft);
	if (!param || domain_parse(text, draft->plan->arena, &param->values, &param->count, err))
		return err_prefix(err, "--ranks");
	for (size_t i = 0; i < param->count; i++) {
		if (param->values[i].type != VALUE_INT || param->values[i].as.i < 1)
			return err_set(err, ERR_USAGE, "write --ranks 1..8, --ranks 1..64*2 or --ranks 1,2,4",
			               "--ranks %.100s: the numbers of ranks must be whole and at least 1", text);
		if (param->values[i].as.i <= most)
			param->values[kept++] = param->values[i];
	}
	if (!kept)
		return err_set(err, ERR_USAGE, "try fewer ranks", "--ranks %.100s: there are only %d processors for ranks here",
		               text, most);
	if (kept < param->count)
		draft_note(draft, "more than %d ranks are left out: there are no more processors for them", most);
	param->count = kept;
	param->initial = param->values[0];
	return 0;
}

static int bind_add(struct draft *draft, const struct bind *bind, struct err *err) {
	struct draft_param *param = draft_param_new(draft, bind->name, err);
	const char *values = draft->plan->program.openmp ? bind->team : bind->alone;
	if (!param || domain_parse(values, draft->plan->arena, &param->values, &param->count, err))
		return -1;
	param->initial = param->values[0];
	return 0;
}

static int ranks_params(struct draft *draft, struct err *err) {
	if (!draft->launcher)
		return 0;
	if (ranks_add(draft, err))
		return -1;
	for (size_t i = 0; i < BINDS && draft->launcher->binds[i].name; i++)
		if (bind_add(draft, &draft->launcher->binds[i], err))
			return -1;
	return 0;
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

/* The parameter that is the number of ranks; NULL: there is none. */
static const char *ranks_param(const struct draft *draft) {
	mem_auto char *word = work_ranks(draft->plan->program.argv);
	const char *found = NULL;
	for (size_t i = 0; word && i < draft->count; i++) {
		size_t length = strlen(draft->params[i].name);
		if (*word == '{' && strncmp(word + 1, draft->params[i].name, length) == 0 &&
		    strcmp(word + 1 + length, "}") == 0)
			found = draft->params[i].name;
	}
	return found;
}

int draft_ranks_limit(struct draft *draft, struct space *space, struct err *err) {
	const char *ranks = ranks_param(draft);
	struct arena *arena = draft->plan->arena;
	if (!ranks || !draft->plan->program.openmp)
		return 0;
	const char *all = arena_printf(arena, "%s * threads <= %d", ranks, processors(draft, TOPO_PU));
	if (space_add_constraint(space, all, err))
		return -1;
	for (size_t i = 0; draft->launcher && i < BINDS && draft->launcher->binds[i].name; i++) {
		const struct bind *bind = &draft->launcher->binds[i];
		const char *bound = bind->limit ? arena_printf(arena, "%s != '%s' or %s * threads <= %d", bind->name,
		                                               bind->limit, ranks, processors(draft, TOPO_CORE))
		                                : NULL;
		if (bound && space_add_constraint(space, bound, err))
			return -1;
	}
	return 0;
}

int draft_parallel(struct draft *draft, struct err *err) {
	return decide(draft, err) || launcher_put(draft, err) ? -1 : 0;
}

int draft_openmp(struct draft *draft, struct err *err) {
	if (names_check(draft, "set", err) || names_check(draft, "range", err))
		return -1;
	for (size_t i = 0; i < SETTINGS && draft->plan->program.openmp; i++) {
		const struct setting *setting = &program_settings[i];
		if (setting_wanted(draft, setting)) {
			if (setting_add(draft, setting, err))
				return -1;
		} else if (strcmp(setting->name, "schedule") == 0) {
			draft_note(draft, "OMP_SCHEDULE is not tuned because %s does not contain a schedule(runtime) loop",
			           draft->what);
		}
	}
	return ranks_params(draft, err);
}
