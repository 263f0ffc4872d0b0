/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <string.h>

#include "base/json/js.h"
#include "tuner/worker/impl.h"

static const double ANSWER_SECONDS = 120; /* a driver needs long to initialise eight GPUs */
enum { PARTS_MAX = 16, DEVICES_MAX = 1000 };

static int answer_use(void *ctx, const json_t *answer, struct trial_result *result, struct err *err) {
	json_t *array;
	const char *device = ctx, *name;
	result->status = TRIAL_CORRECT;
	if (js_array(answer, "parts", PARTS_MAX, &array, err) || js_array(answer, "devices", DEVICES_MAX, &array, err))
		return -1;
	return device ? js_string(json_object_get(answer, "device"), "name", &name, err) : 0;
}

json_t *worker_devices(struct worker *worker, const char *device, struct err *err) {
	json_t *request = json_pack("{s:s}", "op", "devices"), *answer = NULL;
	const struct worker_question question = {
		.request = request, .timeout_s = ANSWER_SECONDS, .use = answer_use, .ctx = (void *)device};
	struct trial_result result = {0};
	if (device)
		json_object_set_new(request, "device", json_string(device));
	if (worker_exchange(worker, &question, &result, err) == 0) {
		if (result.status == TRIAL_CORRECT)
			answer = json_incref(result.reply);
		else
			err_set(err, ERR_UNAVAILABLE, "`sweetspot doctor` checks each part of CUDA and OpenCL",
			        "the worker can't use the GPU: %.200s", result.message);
	}
	json_decref(request);
	trial_result_clear(&result);
	return answer;
}

const char *worker_device_kind(const json_t *gpu) {
	const char *platform = json_string_value(json_object_get(gpu, "platform"));
	return !platform ? "cuda" : strcmp(platform, "HIP") == 0 ? "hip" : "opencl";
}
