/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiles configurations in workers of their own, into the cache on disk from which the measuring worker loads them.
 */
#include <config.h>

#include <stdlib.h>

#include "src/base/json/js.h"
#include "tuner/build/compile.h"
#include "tuner/spec/cuda/impl.h"

struct cuda_ahead {
	const struct cuda_kernel *kernel;
	char *problem; /* the worker's */
	int arch;
	struct builder *builder;
};

/* The worker's text of a configuration is all that decides what is compiled. Where there is none, because it has no
 * valid grid or block, nothing is compiled. */
static char *key_of(void *ctx, const json_t *config) {
	const struct cuda_ahead *ahead = ctx;
	struct err why = {0};
	json_t *json = cuda_config_json(ahead->kernel, config, false, &why);
	char *text = json ? js_canonical(json) : mem_strdup("");
	json_decref(json);
	return text;
}

static int make(void *ctx, struct worker *worker, const char *key, const json_t *config, double seconds,
                struct built *built, struct err *err) {
	const struct cuda_ahead *ahead = ctx;
	(void)config;
	if (!*key) {
		built->status = TRIAL_CORRECT;
		built->found = true;
		return 0;
	}
	json_t *request = json_pack("{s:s,s:{s:s},s:{s:s},s:i}", "op", "compile", "problem", "text", ahead->problem,
	                            "config", "text", key, "arch", ahead->arch);
	return compile_ask(worker, request, seconds, built, err);
}

struct cuda_ahead *cuda_ahead_new(const struct cuda_kernel *kernel, const json_t *problem, struct worker *worker,
                                  int arch) {
	struct cuda_ahead *ahead = mem_alloc(1, sizeof *ahead);
	const struct build_work work = {.ctx = ahead, .key = key_of, .make = make};
	*ahead =
		(struct cuda_ahead){.kernel = kernel, .problem = mem_strdup(js_string_or(problem, "text", "")), .arch = arch};
	ahead->builder = builder_new(&work, worker);
	return ahead;
}

void cuda_ahead_free(struct cuda_ahead *ahead) {
	if (!ahead)
		return;
	builder_free(ahead->builder);
	free(ahead->problem);
	free(ahead);
}

struct builder *cuda_ahead_builder(struct cuda_ahead *ahead) {
	return ahead->builder;
}
