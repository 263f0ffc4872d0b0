/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --ranks: the program is run by a launcher of MPI, whose number of ranks and binding are parameters beside those of
 * the program. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/proc/path.h"
#include "base/proc/proc.h"
#include "base/proc/work.h"
#include "base/sys.h"
#include "src/plan/program_plan_impl.h"
#include "tuner/space/domain.h"

enum { BINDS = 2, WORDS_MAX = 16, LINES_MAX = 20 };
static const double BANNER_SECONDS = 10;

/* Options are those of mpirun(1) of Open MPI 4, Hydra's and Intel's manuals, srun(1), jsrun(1) and flux-run(1). */
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
	{"mpirun",
     "Open MPI",
     NULL,
     "-np {ranks}",
     "--map-by slot:PE={threads}",
     true,
     {{"bind_to", "--bind-to {bind_to}", "none,core,numa,socket", "none,core", "core"}}},
	{"mpirun", "Intel", NULL, "-np {ranks}", "", false, {{"I_MPI_PIN_DOMAIN", "", "unset,core,socket", "unset,omp", NULL}}},
	{"mpirun", "", NULL, "-np {ranks}", "", false, {{"bind_to", "-bind-to {bind_to}", "none,core,numa", "none,numa", NULL}}},
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
};

static bool is_here(const char *program) {
	char *path = program_path(program, NULL, NULL);
	free(path);
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
	err_set(err, ERR_USAGE,
	        "install Open MPI or MPICH, or load its module; inside a job srun, jsrun and flux serve, too",
	        "--ranks needs a launcher of MPI, but there is no mpirun here");
	return NULL;
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

/* What a rank may get at most: more ranks than that share processors. */
static int most_ranks(const struct draft *draft) {
	return topo_count(draft->topo, draft->launcher->per_core ? TOPO_CORE : TOPO_PU);
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

int draft_ranks(struct draft *draft, struct err *err) {
	if (!draft->launcher)
		return 0;
	if (ranks_add(draft, err))
		return -1;
	for (size_t i = 0; i < BINDS && draft->launcher->binds[i].name; i++)
		if (bind_add(draft, &draft->launcher->binds[i], err))
			return -1;
	return 0;
}

int draft_launcher(struct draft *draft, struct err *err) {
	const struct program_spec *spec = &draft->plan->program;
	if (!opt_has(draft->args, "ranks"))
		return 0;
	if (spec->shell)
		return err_set(err, ERR_USAGE, "write the program and its arguments as words", "--ranks is not for --shell");
	char *own = work_ranks(spec->argv);
	bool launched = own;
	free(own);
	if (launched)
		return err_set(err, ERR_USAGE, "leave the launcher out, or write -np {R} with --param R=1,2,4 instead of --ranks",
		               "the command has a launcher of its own");
	if (!(draft->launcher = launcher_find(err)))
		return -1;
	command_wrap(draft);
	return 0;
}

/* The parameter that is the number of ranks; NULL: there is none. */
static const char *ranks_param(const struct draft *draft) {
	char *word = work_ranks(draft->plan->program.argv);
	const char *found = NULL;
	for (size_t i = 0; word && i < draft->count; i++) {
		size_t length = strlen(draft->params[i].name);
		if (*word == '{' && strncmp(word + 1, draft->params[i].name, length) == 0 && strcmp(word + 1 + length, "}") == 0)
			found = draft->params[i].name;
	}
	free(word);
	return found;
}

int draft_ranks_limit(struct draft *draft, struct space *space, struct err *err) {
	const char *ranks = ranks_param(draft);
	struct arena *arena = draft->plan->arena;
	if (!ranks || !draft->plan->program.openmp)
		return 0;
	const char *all =
		arena_printf(arena, "%s * threads <= %d", ranks, topo_count(draft->topo, TOPO_PU));
	if (space_add_constraint(space, all, err))
		return -1;
	for (size_t i = 0; draft->launcher && i < BINDS && draft->launcher->binds[i].name; i++) {
		const struct bind *bind = &draft->launcher->binds[i];
		const char *bound = bind->limit ? arena_printf(arena, "%s != '%s' or %s * threads <= %d", bind->name, bind->limit,
		                                               ranks, topo_count(draft->topo, TOPO_CORE))
		                                : NULL;
		if (bound && space_add_constraint(space, bound, err))
			return -1;
	}
	return 0;
}
