/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "worker/kernel/compile.h"

#include <string.h>

#include "kernels/cuda.h"
#include "base/json/js.h"
#include "worker/kernel/call.h"
#include "worker/kernel/word.h"

struct job {
	struct call call;
	int64_t arch;
};

static int job_read(struct arena *arena, const json_t *request, struct job *job, struct err *err) {
	static const char *const keys[] = {"op", "id", "kernel", "problem", "config", "arch"};
	const char *name;
	if (word_check_keys(request, keys, sizeof keys / sizeof *keys, err) != 0 ||
	    js_string(request, "kernel", &name, err) ||
	    js_int(request, "arch", COMPILE_ARCH_LEAST, COMPILE_ARCH_MOST, &job->arch, err))
		return -1;
	const struct kernel_entry *entry = kernel_find_on(kernel_registry, name, "cuda");
	if (!entry)
		return err_set(err, ERR_USAGE, NULL, "kernel \"%.100s\" does not run on cuda", name);
	return call_read(arena, entry, json_object_get(request, "problem"), json_object_get(request, "config"), &job->call,
	                 err);
}

json_t *compile_answer(bool fine, const struct gpu_ahead *ahead, struct err *why, struct err *err) {
	if (fine) {
		return json_pack("{s:s, s:b, s:b, s:f}", "status", "correct", "kept", ahead->kept, "from_disk",
		                 ahead->from_disk, "compile_s", ahead->seconds);
	}
	if (why->code != ERR_FAILED) {
		*err = *why;
		return NULL;
	}
	word_clean(why->what, sizeof why->what);
	return json_pack("{s:s, s:s}", "status", "compile", "message", why->what);
}

static json_t *job_run(struct gpu_compiler *compiler, const struct job *job, struct err *err) {
	const struct ss_call call = {
		.problem = job->call.problem, .config = job->call.config, .threads = job->call.threads, .seed = 1};
	struct gpu_defines defines;
	struct gpu_ahead ahead;
	struct err why = {.code = ERR_OK};
	const char *source = cuda_program_source(job->call.entry->kernel, &call, &defines);
	bool fine = gpu_compile_ours_ahead(compiler, source, &defines, (int)job->arch, &ahead, &why);
	return compile_answer(fine, &ahead, &why, err);
}

/* A kernel that does not say what its program is compiles it by itself, when it is set up. */
json_t *compile_kernel_answer(struct gpu_compiler **compiler, const json_t *request, struct err *err) {
	struct arena *arena = arena_new();
	struct job job;
	json_t *answer = NULL;
	bool read = job_read(arena, request, &job, err) == 0, known = read && job.call.entry->kernel->program;
	if (known && !*compiler)
		*compiler = gpu_compiler_new(err);
	if (known && *compiler)
		answer = job_run(*compiler, &job, err);
	else if (read && !known)
		answer = compile_answer(true, &(struct gpu_ahead){.kept = false}, NULL, err);
	arena_free(arena);
	return answer;
}
