/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <sys/stat.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/proc/path.h"
#include "base/sys.h"
#include "tuner/build/compile.h"

/* Variables that compilers, linkers, make and cmake obey. */
static const char *const VARIABLES[] = {
	"PATH",
	"CC",
	"CXX",
	"FC",
	"F77",
	"LD",
	"AR",
	"CFLAGS",
	"CXXFLAGS",
	"CPPFLAGS",
	"FFLAGS",
	"FCFLAGS",
	"LDFLAGS",
	"LDLIBS",
	"LIBS",
	"MAKEFLAGS",
	"CPATH",
	"NVCC",
	"CUDACXX",
	"CUDAFLAGS",
	"CUDA_HOME",
	"CUDA_PATH",
	"LIBRARY_PATH",
	"C_INCLUDE_PATH",
	"COMPILER_PATH",
	"GCC_EXEC_PREFIX",
	"CPLUS_INCLUDE_PATH",
	"LD_LIBRARY_PATH",
	"PKG_CONFIG_PATH",
	"CMAKE_PREFIX_PATH",
	"MPICC",
	"MPICXX",
};

void toolchain_hash_text(struct sha256 *sha, const char *text) {
	sha256_add(sha, text ? text : "", text ? strlen(text) + 1 : 1);
}

/* A compiler that was updated makes another program. */
static void file_add(struct sha256 *sha, const char *path) {
	struct stat info;
	char facts[96];
	if (stat(path, &info) || !S_ISREG(info.st_mode))
		return;
	snprintf(facts, sizeof facts, "%lld %lld.%09ld", (long long)info.st_size, (long long)info.st_mtim.tv_sec,
	         info.st_mtim.tv_nsec);
	toolchain_hash_text(sha, path);
	toolchain_hash_text(sha, facts);
}

static bool is_apart(char c) {
	return strchr(" \t\n;|&()<>'\"`$=,", c);
}

static void word_add(struct sha256 *sha, const char *word) {
	mem_auto char *path = *word == '/' ? mem_strdup(word) : strchr(word, '/') ? NULL : program_path(word, NULL, NULL);
	if (path)
		file_add(sha, path);
}

void toolchain_hash_line(struct sha256 *sha, const char *line) {
	mem_auto char *word = mem_alloc(strlen(line) + 1, 1);
	bool writes = false;
	for (size_t i = 0, size = 0; i <= strlen(line); i++) {
		if (line[i] && !is_apart(line[i])) {
			word[size++] = line[i];
			continue;
		}
		word[size] = '\0';
		if (size && !writes)
			word_add(sha, word);
		writes = line[i] == '>' || (writes && size == 0);
		size = 0;
	}
}

/* Code for the processor of this machine (-march=native) need not run on another one with the same home folder. */
static void processor_add(struct sha256 *sha) {
	mem_auto char *text = sys_read_file("/proc/cpuinfo", 1 << 20, NULL, NULL);
	static const char *const keys[] = {"model name", "flags", "Features", "CPU part"};
	for (size_t i = 0; text && i < sizeof keys / sizeof *keys; i++) {
		const char *found = strstr(text, keys[i]);
		if (found)
			sha256_add(sha, found, strcspn(found, "\n"));
	}
}

void toolchain_hash_host(struct sha256 *sha) {
	for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES; i++) {
		toolchain_hash_text(sha, VARIABLES[i]);
		toolchain_hash_text(sha, getenv(VARIABLES[i]));
	}
	processor_add(sha);
}

static const double COMPILE_SECONDS = 600, GRACE_SECONDS = 0, LEAST_SECONDS = 1e-3;

static int answer_use(void *ctx, const json_t *answer, struct trial_result *result, struct err *err) {
	struct built *built = ctx;
	if (worker_status_read(answer, result, err))
		return -1;
	built->found = js_bool_or(answer, "from_disk", false) || !js_bool_or(answer, "kept", true);
	built->seconds = js_real_or(answer, "compile_s", 0);
	return 0;
}

int compile_ask(struct worker *worker, json_t *request, double seconds, struct built *built, struct err *err) {
	struct trial_result result = {0};
	const struct worker_question question = {.request = request,
	                                         .timeout_s = seconds > 0 ? seconds : COMPILE_SECONDS,
	                                         .grace_s = GRACE_SECONDS,
	                                         .use = answer_use,
	                                         .ctx = built};
	built->status = TRIAL_CORRECT;
	int failed = worker_exchange(worker, &question, &result, err);
	if (!failed && result.status != TRIAL_CORRECT) {
		built->status = TRIAL_COMPILE;
		snprintf(built->message, sizeof built->message, "%s", result.message);
	}
	trial_result_clear(&result);
	json_decref(request);
	return failed;
}

/* While helpers build, the worker opens the device and the input. What fails there fails again in the trial. */
static int prepare(struct builder *builder, const struct runner *runner, const struct trial_request *request,
                   struct err *err) {
	struct trial_request first = *request;
	struct trial_result result = {0};
	if (builder_figures(builder).jobs <= 1 || builder_has(builder, request->config))
		return 0;
	first.prepare = true;
	first.samples = 0;
	first.counters = NULL;
	int failed = runner->run(runner->ctx, &first, &result, err);
	trial_result_clear(&result);
	return failed;
}

static void spend(struct trial_request *request, double begun) {
	if (!(request->left_s > 0))
		return;
	request->left_s = fmax(request->left_s - (sys_now() - begun), LEAST_SECONDS);
	request->timeout_s = request->timeout_s > 0 ? fmin(request->timeout_s, request->left_s) : request->left_s;
}

int compile_await(struct builder *builder, const struct runner *runner, struct trial_request *request,
                  struct trial_result *result, struct err *err) {
	double start = sys_now(), begun;
	if (prepare(builder, runner, request, err))
		return -1;
	spend(request, start);
	begun = sys_now();
	const struct built *built = builder_get(builder, request->config, request->left_s, err);
	if (!built)
		return -1;
	spend(request, begun);
	if (built->status == TRIAL_CORRECT)
		return 1;
	trial_result_fail(result, built->status, built->message);
	result->elapsed_s = sys_now() - start;
	return 0;
}

/* The kernels' own CUDA sources. Which parameters become constants of the code only the worker knows, so configurations
 * with the same code are built once each; all but the first are found on disk. */
struct compile_kernel {
	char *kernel;
	json_t *problem;
	int arch;
	struct builder *builder;
	struct runner worker;
};

/* Several threads make at the same time, and the counts of references are not theirs to change: hence the copies. */
static int make(void *ctx, struct worker *worker, const char *key, const json_t *config, double seconds,
                struct built *built, struct err *err) {
	const struct compile_kernel *compile = ctx;
	(void)key;
	json_t *request =
		json_pack("{s:s,s:s,s:o,s:o,s:i}", "op", "compile", "kernel", compile->kernel, "problem",
	              json_deep_copy(compile->problem), "config", json_deep_copy(config), "arch", compile->arch);
	return compile_ask(worker, request, seconds, built, err);
}

struct compile_kernel *compile_kernel_new(const char *kernel, const json_t *problem, struct worker *worker, int arch) {
	struct compile_kernel *compile = mem_alloc(1, sizeof *compile);
	const struct build_work work = {.ctx = compile, .make = make};
	*compile = (struct compile_kernel){.kernel = mem_strdup(kernel),
	                                   .problem = json_deep_copy(problem),
	                                   .arch = arch,
	                                   .worker = worker_runner(worker)};
	compile->builder = builder_new(&work, worker);
	return compile;
}

void compile_kernel_free(struct compile_kernel *compile) {
	if (!compile)
		return;
	builder_free(compile->builder);
	json_decref(compile->problem);
	free(compile->kernel);
	free(compile);
}

struct builder *compile_kernel_builder(struct compile_kernel *compile) {
	return compile->builder;
}

static int run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	const struct compile_kernel *compile = ctx;
	struct trial_request rest = *request;
	double start = sys_now();
	int rc = compile_await(compile->builder, &compile->worker, &rest, result, err);
	if (rc <= 0)
		return rc;
	int failed = compile->worker.run(compile->worker.ctx, &rest, result, err);
	result->elapsed_s = sys_now() - start;
	return failed;
}

struct runner compile_kernel_runner(struct compile_kernel *compile) {
	return (struct runner){.ctx = compile, .run = run};
}
