/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/build/compile.h"

#include <math.h>
#include <stdio.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "tuner/worker/client_describe.h"

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

int compile_await(struct builder *builder, const struct trial_request *request, struct trial_request *rest,
                  struct trial_result *result, struct err *err) {
	double start = sys_now();
	const struct built *built = builder_get(builder, request->config, request->left_s, err);
	if (!built)
		return -1;
	double spent = sys_now() - start;
	*rest = *request;
	if (request->left_s > 0) {
		rest->left_s = fmax(request->left_s - spent, LEAST_SECONDS);
		rest->timeout_s = request->timeout_s > 0 ? fmin(request->timeout_s, rest->left_s) : rest->left_s;
	}
	if (built->status == TRIAL_CORRECT)
		return 1;
	trial_result_fail(result, built->status, built->message);
	result->elapsed_s = spent;
	return 0;
}
