/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiles configurations in workers of their own, into the cache on disk from which the measuring worker loads them.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/js.h"
#include "tuner/spec/cuda/impl.h"
#include "tuner/worker/exchange.h"

static const double COMPILE_SECONDS = 600, GRACE_SECONDS = 0;

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

static int answer_use(void *ctx, const json_t *answer, struct trial_result *result, struct err *err) {
	struct built *built = ctx;
	if (worker_status_read(answer, result, err))
		return -1;
	built->found = js_bool_or(answer, "from_disk", false) || !js_bool_or(answer, "kept", true);
	built->seconds = js_real_or(answer, "compile_s", 0);
	return 0;
}

static int make(void *ctx, struct worker *worker, const char *key, const json_t *config, double seconds,
                struct built *built, struct err *err) {
	const struct cuda_ahead *ahead = ctx;
	struct trial_result result = {0};
	(void)config;
	built->status = TRIAL_CORRECT;
	if (!*key) {
		built->found = true;
		return 0;
	}
	json_t *request = json_pack("{s:s,s:{s:s},s:{s:s},s:i}", "op", "compile", "problem", "text", ahead->problem,
	                            "config", "text", key, "arch", ahead->arch);
	const struct worker_question question = {.request = request,
	                                         .timeout_s = seconds > 0 ? seconds : COMPILE_SECONDS,
	                                         .grace_s = GRACE_SECONDS,
	                                         .use = answer_use,
	                                         .ctx = built};
	int failed = worker_exchange(worker, &question, &result, err);
	if (!failed && result.status != TRIAL_CORRECT) {
		built->status = TRIAL_COMPILE;
		snprintf(built->message, sizeof built->message, "%s", result.message);
	}
	trial_result_clear(&result);
	json_decref(request);
	return failed;
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
