/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every kernel's code for a GPU compiles in the configurations of its grid, without a GPU. Each source is compiled for
 * each architecture, each value of each constant for those that get different code from kernels/sweetspot.cuh
 * (below 8.0, below 9.0, and the newest) or have code of their own, and each program once, except for sources with many
 * programs. One program of a source is optimised as for a run; for the others the front end and the assembler decide,
 * which takes a small part of the time. SWEETSPOT_GRID=all compiles each program for each architecture as for a run.
 * NVRTC's report of registers and spills is written to compile_grid.tsv. The layer keeps the compiled code on disk. */
#include <glob.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sys.h"
#include "tests/gpu/compile_only.h"
#include "tests/gpu/device.h"
#include "tests/gpu/grid.h"
#include "tests/tap.h"

enum { PROGRAMS_MAX = 4096, KEY = 2048, PROCESSES = 2, ENUMERATED = 2000000, MANY = 24 };
static const int archs[] = {75, 80, 90, 100, 120};
enum { ARCHS = sizeof archs / sizeof *archs };

struct program {
	char source[128], key[KEY];
	struct gpu_defines defines;
};
struct programs {
	struct program *all;
	size_t count;
	uint32_t slots[4 * PROGRAMS_MAX]; /* places by the hash of their keys, from 1 on */
};

static bool programs_add(struct programs *programs, const struct ss_program *program) {
	char key[KEY];
	size_t used = (size_t)snprintf(key, sizeof key, "%s", program->source);
	for (size_t i = 0; i < program->count && used < sizeof key; i++)
		used += (size_t)snprintf(key + used, sizeof key - used, " %s=%lld", program->names[i], program->values[i]);
	uint32_t slot = (uint32_t)(hash_text(key) % (4 * PROGRAMS_MAX));
	for (; programs->slots[slot]; slot = (slot + 1) % (4 * PROGRAMS_MAX))
		if (strcmp(programs->all[programs->slots[slot] - 1].key, key) == 0)
			return true;
	if (used >= sizeof key || programs->count == PROGRAMS_MAX)
		return false;
	struct program *added = &programs->all[programs->count++];
	programs->slots[slot] = (uint32_t)programs->count;
	snprintf(added->source, sizeof added->source, "%s", program->source);
	memcpy(added->key, key, sizeof key);
	added->defines.count = 0;
	for (size_t i = 0; i < program->count; i++)
		gpu_define(&added->defines, program->names[i], program->values[i]);
	return true;
}

/* All configurations on one problem; if there are very many, that many at random. The kernel refuses those without a
 * source. */
static bool collect_problem(struct live *live, struct programs *programs, uint64_t *configs) {
	struct err err = {0};
	struct rng rng;
	struct grid *grid = grid_new(live->kernel, live->problem, NULL, &err);
	bool fine = grid;
	if (!grid)
		printf("# %s: %s\n", live->kernel->name, err.what);
	uint64_t valid = grid ? space_valid(grid->space) : 0, tried = valid < ENUMERATED ? valid : ENUMERATED;
	rng_seed(&rng, 1);
	for (uint64_t i = 0; fine && i < tried; i++) {
		struct ss_program program = {.source = NULL};
		grid_config(grid, tried == valid ? i : rng_below(&rng, valid), live->state[0].config);
		struct ss_call call = live_call(live, 0);
		live->kernel->program(&call, &program);
		fine = !program.source || programs_add(programs, &program);
	}
	*configs += valid;
	grid_free(grid);
	return fine;
}

/* Every combination of the words of the problem, from part `part` on. */
static bool collect(struct live *live, int part, struct programs *programs, uint64_t *configs) {
	const struct ss_param *problem = &live->kernel->problem[part];
	struct values *values = calloc(1, sizeof *values);
	bool fine = true;
	if (!problem->name) {
		fine = collect_problem(live, programs, configs);
	} else if (problem->type != SS_WORD || !values_parse(problem, values)) {
		fine = collect(live, part + 1, programs, configs);
	} else {
		for (int i = 0; i < values->count && fine; i++) {
			live->problem[part] = live_value(problem, values->value[i].w);
			fine = collect(live, part + 1, programs, configs);
		}
	}
	free(values);
	return fine;
}

/* Problems that other code is chosen for; and what kernels compile beside the program of a configuration. */
static const struct { const char *kernel, *part, *value; } others[] = {{"kmeans", "coords", "2"}};
static const struct {
	const char *kernel;
	struct ss_program program;
} besides[] = {
	{"fw", {.source = "fw/cuda/matrix.cu"}},
	{"kmeans", {.source = "kmeans/cuda/means.cu", .names = {"TYPE"}, .values = {32}, .count = 1}},
	{"kmeans", {.source = "kmeans/cuda/means.cu", .names = {"TYPE"}, .values = {64}, .count = 1}},
};

static bool collect_all(struct live *live, struct programs *programs, uint64_t *configs) {
	bool fine = collect(live, 0, programs, configs);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		if (strcmp(others[i].kernel, live->kernel->name) != 0)
			continue;
		live_problem(live, others[i].part, others[i].value);
		fine &= collect(live, 0, programs, configs);
	}
	for (size_t i = 0; i < sizeof besides / sizeof *besides; i++)
		if (strcmp(besides[i].kernel, live->kernel->name) == 0)
			fine &= programs_add(programs, &besides[i].program);
	return fine;
}

struct task { /* one program for one architecture; what became of it is shared with the process that did it */
	uint32_t program;
	int arch, functions, registers, spills, done;
	bool barely_optimised;
	char message[200];
};

static void compile_task(const struct program *program, struct task *task, FILE *table) {
	struct err err = {0};
	size_t count = 0;
	struct gpu_compiled *functions =
		gpu_compile_only(program->source, &program->defines, task->arch, task->barely_optimised, &count, &err);
	for (size_t i = 0; functions && i < count && !task->barely_optimised; i++) {
		const struct gpu_function_facts *f = &functions[i].facts;
		task->registers = f->registers > task->registers ? f->registers : task->registers;
		task->spills += f->spill_bytes;
		fprintf(table, "sm_%d\t%s\t%s\t%d\t%d\t%d\t%d\n", task->arch, program->key, functions[i].name, f->registers,
		        f->shared_bytes, f->local_bytes, f->spill_bytes);
	}
	task->functions = functions ? (int)count : 0;
	if (!functions)
		snprintf(task->message, sizeof task->message, "%.*s", (int)sizeof task->message - 1, err.what);
	task->done = 1;
	free(functions);
}

/* Every PROCESSES-th task from `first` on; the table of each process is a file of its own, for they write at once. */
static void compile_share(const struct programs *programs, struct task *tasks, size_t count, size_t first,
                          const char *path) {
	FILE *table = fopen(path, "w");
	for (size_t i = first; table && i < count; i += PROCESSES)
		compile_task(&programs->all[tasks[i].program], &tasks[i], table);
	_exit(!table || fclose(table) != 0);
}

static bool append(FILE *to, const char *path) {
	char bytes[65536];
	size_t got = 0;
	FILE *from = fopen(path, "r");
	while (from && (got = fread(bytes, 1, sizeof bytes, from)) > 0)
		fwrite(bytes, 1, got, to);
	if (from)
		fclose(from);
	unlink(path);
	return from;
}

static bool compile_all(const struct programs *programs, struct task *tasks, size_t count, FILE *table) {
	pid_t children[PROCESSES];
	char paths[PROCESSES][64];
	bool fine = true;
	fflush(stdout);
	fflush(table);
	for (size_t p = 0; p < PROCESSES; p++) {
		snprintf(paths[p], sizeof paths[p], "tests/gpu/compile_grid.%zu", p);
		children[p] = fork();
		if (children[p] == 0)
			compile_share(programs, tasks, count, p, paths[p]);
	}
	for (size_t p = 0; p < PROCESSES; p++) {
		int status = -1;
		fine &= children[p] > 0 && waitpid(children[p], &status, 0) == children[p] && status == 0;
		fine &= append(table, paths[p]);
	}
	return fine;
}

static void report(const struct ss_kernel *kernel, const struct programs *programs, const struct task *tasks,
                   size_t count, double seconds) {
	int registers = 0, spilling = 0, failed = 0;
	for (size_t i = 0; i < count; i++) {
		bool fine = tasks[i].done && tasks[i].functions > 0;
		if (!fine && failed++ < 5)
			printf("# sm_%d %s: %s\n", tasks[i].arch, programs->all[tasks[i].program].key, tasks[i].message);
		registers = tasks[i].registers > registers ? tasks[i].registers : registers;
		spilling += tasks[i].spills > 0;
	}
	ok(failed == 0, "%s: %d of %zu do not compile", kernel->name, failed, count);
	printf("# %s: %zu programs, %zu compilations for %d architectures, at most %d registers, %d spill, %.1f s\n",
	       kernel->name, programs->count, count, ARCHS, registers, spilling, seconds);
}

static size_t of_source(const struct programs *programs, const char *source) {
	size_t count = 0;
	for (size_t i = 0; i < programs->count; i++)
		count += strcmp(programs->all[i].source, source) == 0;
	return count;
}

static bool defined(const struct program *program, const char *define) {
	for (size_t i = 0; i < program->defines.count; i++)
		if (strcmp(program->defines.text[i], define) == 0)
			return true;
	return false;
}

/* Whether one of the tasks compiles the source with this define for this architecture; NULL stands for the source. */
static bool tasks_have(const struct programs *programs, const struct task *tasks, size_t count, const struct task *like,
                       const char *define) {
	for (size_t i = 0; i < count; i++) {
		const struct program *program = &programs->all[tasks[i].program];
		if (tasks[i].arch == like->arch && strcmp(program->source, programs->all[like->program].source) == 0 &&
		    (!define || defined(program, define)))
			return true;
	}
	return false;
}

/* Most sources have the same code for 9.0 and 10.0 as for 12.0; that of wgmma is only for 9.0a, and a trap elsewhere.
 */
static bool code_is_shared(const char *source, int arch) {
	bool wgmma = strcmp(source, "gemm/cuda/wgmma.cu") == 0;
	return wgmma ? arch != 90 : arch == 90 || arch == 100;
}

static bool tasks_cover(const struct programs *programs, const struct task *tasks, size_t count,
                        const struct task *like) {
	const struct program *program = &programs->all[like->program];
	bool covered = tasks_have(programs, tasks, count, like, NULL);
	if (code_is_shared(program->source, like->arch))
		return covered;
	for (size_t i = 0; i < program->defines.count && covered; i++)
		covered = tasks_have(programs, tasks, count, like, program->defines.text[i]);
	return covered;
}

static bool tasks_compile(const struct task *tasks, size_t count, uint32_t program) {
	for (size_t i = 0; i < count; i++)
		if (tasks[i].program == program)
			return true;
	return false;
}

/* Whether a task before this one compiles its source. */
static bool source_begun(const struct programs *programs, const struct task *tasks, size_t task) {
	for (size_t i = 0; i < task; i++)
		if (strcmp(programs->all[tasks[i].program].source, programs->all[tasks[task].program].source) == 0)
			return true;
	return false;
}

/* Fills the tasks, which have room for all pairs of a program and an architecture, and returns their number. The pairs
 * are visited at random, because neighbours differ in one value only and would cover little. */
static size_t tasks_make(const struct programs *programs, struct task *tasks) {
	const char *grid = getenv("SWEETSPOT_GRID");
	bool all = grid && strcmp(grid, "all") == 0;
	size_t pairs = 0, count = 0;
	struct rng rng;
	for (uint32_t i = 0; i < programs->count; i++)
		for (uint32_t a = 0; a < ARCHS; a++)
			tasks[pairs++] = (struct task){.program = i, .arch = archs[(i + a) % ARCHS]};
	if (all)
		return pairs;
	rng_seed(&rng, 1);
	rng_shuffle(&rng, tasks, pairs, sizeof *tasks);
	for (size_t i = 0; i < pairs; i++)
		if (!tasks_cover(programs, tasks, count, &tasks[i]))
			tasks[count++] = tasks[i];
	for (uint32_t i = 0; i < programs->count; i++)
		if (of_source(programs, programs->all[i].source) <= MANY && !tasks_compile(tasks, count, i))
			tasks[count++] = (struct task){.program = i, .arch = archs[i % ARCHS]};
	for (size_t i = 0; i < count; i++)
		tasks[i].barely_optimised = source_begun(programs, tasks, i);
	return count;
}

static void check_kernel(const struct ss_kernel *kernel, FILE *table) {
	struct programs *programs = mem_alloc(1, sizeof *programs);
	struct live *live = live_new(kernel);
	uint64_t configs = 0;
	double start = sys_now();
	programs->all = mem_alloc(PROGRAMS_MAX, sizeof *programs->all);
	bool fine = collect_all(live, programs, &configs);
	ok(fine && programs->count > 0, "%s: %llu configurations are %zu programs", kernel->name,
	   (unsigned long long)configs, programs->count);
	size_t room = (programs->count * ARCHS + 1) * sizeof(struct task);
	struct task *tasks = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	size_t count = tasks != MAP_FAILED ? tasks_make(programs, tasks) : 0;
	if (ok(tasks != MAP_FAILED && compile_all(programs, tasks, count, table), "%s: all processes end well",
	       kernel->name))
		report(kernel, programs, tasks, count, sys_now() - start);
	if (tasks != MAP_FAILED)
		munmap(tasks, room);
	free(programs->all);
	free(programs);
	free(live->input);
	for (int s = 0; s < LIVE_STATES; s++)
		free(live->state[s].memory);
	free(live);
}

static bool has_nvrtc(char *why, size_t size) {
	struct gpu_part parts[GPU_PARTS];
	for (int part = 0; part < GPU_PARTS; part++)
		gpu_part(part, &parts[part]);
	for (int i = 0; i < GPU_PARTS; i++) {
		if (strcmp(parts[i].name, "NVRTC") != 0)
			continue;
		bool emulated = parts[i].usable && strncmp(parts[i].version, "99.", 3) == 0;
		snprintf(why, size, "%s", emulated ? "NVRTC is the emulator's" : parts[i].reason);
		return parts[i].usable && !emulated;
	}
	return false;
}

/* No file is left out: each is named in the table. */
static void check_files(const char *table) {
	const char *sources = getenv("SRCDIR");
	char *pattern = mem_printf("%s/kernels/*/cuda/*.cu", sources ? sources : ".");
	size_t size = 0;
	char *text = sys_read_file(table, 64 << 20, &size, NULL);
	glob_t files = {0};
	ok(text && glob(pattern, 0, NULL, &files) == 0, "the sources are there");
	for (size_t i = 0; text && i < files.gl_pathc; i++) {
		const char *name = files.gl_pathv[i] + strlen(sources ? sources : ".") + strlen("/kernels/");
		char *cell = mem_printf("\t%s", name);
		ok(strstr(text, cell), "%s is compiled", name);
		free(cell);
	}
	globfree(&files);
	free(text);
	free(pattern);
}

int main(int argc, char **argv) {
	char why[200] = "";
	int kernels = 0;
	device_sources();
	if (!has_nvrtc(why, sizeof why)) {
		tap_skip("kernels compile for GPUs", why);
		return tap_done();
	}
	double start = sys_now();
	FILE *table = fopen("tests/gpu/compile_grid.tsv", "w");
	if (!ok(table, "a table to write"))
		return tap_done();
	fprintf(table, "arch\tprogram\tfunction\tregisters\tshared\tlocal\tspills\n");
	for (const struct kernel_entry *entry = kernel_registry; entry->kernel; entry++) {
		bool wanted = argc < 2 || strcmp(entry->kernel->name, argv[1]) == 0;
		if (wanted && strcmp(kernel_device(entry->kernel), "cuda") == 0 && ++kernels)
			check_kernel(entry->kernel, table);
	}
	ok(fclose(table) == 0, "the table is whole");
	if (argc < 2)
		check_files("tests/gpu/compile_grid.tsv");
	ok(kernels > 0, "%d kernels for a GPU in %.1f s", kernels, sys_now() - start);
	return tap_done();
}
