/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiles a configuration for a device that another process drives. */
#include "base/json/js.h"
#include "base/sys.h"
#include "worker/kernel/library.h"
#include "worker/kernel/word.h"
#include "worker/source/source.h"

enum { FILE_LARGEST = 16 << 20 };

struct job {
	struct source_problem problem;
	struct source_config config;
	int64_t arch;
};

static int text_read(const json_t *request, const char *key, const char **text, struct err *err) {
	json_t *object;
	return js_object(request, key, &object, err) || js_string(object, "text", text, err) ? -1 : 0;
}

static int job_read(struct arena *arena, const json_t *request, struct job *job, struct err *err) {
	static const char *const keys[] = {"op", "id", "problem", "config", "arch"};
	const char *problem, *config;
	if (word_check_keys(request, keys, sizeof keys / sizeof *keys, err) != 0 ||
	    text_read(request, "problem", &problem, err) || text_read(request, "config", &config, err) ||
	    js_int(request, "arch", COMPILE_ARCH_LEAST, COMPILE_ARCH_MOST, &job->arch, err) ||
	    source_problem_read(arena, problem, &job->problem, err) || source_config_read(arena, config, &job->config, err))
		return -1;
	return 0;
}

static json_t *job_run(struct gpu_compiler *compiler, const struct job *job, const char *text, struct err *err) {
	mem_auto char *defined = source_defined(&job->config, text);
	const struct gpu_text source = {source_name(&job->problem), defined, job->problem.options};
	struct gpu_ahead ahead;
	struct err why = {.code = ERR_OK};
	bool fine = gpu_compile_ahead(compiler, &source, (int)job->arch, &ahead, &why);
	return compile_answer(fine, &ahead, &why, err);
}

json_t *source_compile_answer(struct gpu_compiler **compiler, const json_t *request, struct err *err) {
	struct arena *arena = arena_new();
	struct job *job = arena_alloc(arena, 1, sizeof *job);
	json_t *answer = NULL;
	mem_auto char *text =
		job_read(arena, request, job, err) ? NULL : sys_read_file(job->problem.file, FILE_LARGEST, NULL, err);
	if (text && !*compiler)
		*compiler = gpu_compiler_new(err);
	if (text && *compiler)
		answer = job_run(*compiler, job, text, err);
	arena_free(arena);
	return answer;
}
