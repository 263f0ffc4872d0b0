/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any object as a worker's answer, perhaps from another node: its description of kernels, its samples and its status
 * are either refused with a message or as documented. `make fuzz` runs this as a target of libFuzzer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "tuner/worker/worker.h"
#include "tuner/worker/kernel_desc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
	if (!condition)
		abort();
}

static void check_param(const struct kernel_param *param) {
	require(*param->name && param->summary && param->initial);
	require(param->min <= param->max && isfinite(param->min) && isfinite(param->max));
}

static void check_kernels(const json_t *answer) {
	struct err err = {0};
	struct kernel_list *list = kernel_list_new(answer, NULL, &err);
	require(list || (err.code == ERR_FAILED && *err.what));
	for (size_t i = 0; list && i < kernel_list_count(list); i++) {
		const struct kernel_desc *kernel = kernel_list_at(list, i);
		require(*kernel->name && kernel->device);
		for (size_t k = 0; k < kernel->param_count; k++)
			check_param(&kernel->params[k]);
		for (size_t k = 0; k < kernel->problem_count; k++)
			check_param(&kernel->problem[k]);
	}
	if (list)
		json_decref(kernel_list_json(list, NULL));
	kernel_list_free(list);
}

static void check_trial(const json_t *answer) {
	struct trial_result result = {.value = NAN};
	struct err err = {0};
	if (worker_status_read(answer, &result, &err) == 0)
		require(*trial_status_word(result.status) && memchr(result.message, '\0', sizeof result.message));
	if (worker_samples_read(answer, "samples", &result, &err) == 0) {
		require(result.sample_count > 0 && result.least > 0);
		for (size_t i = 0; i < result.sample_count; i++)
			require(isfinite(result.samples[i]) && result.samples[i] >= result.least);
	}
	trial_result_clear(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct err err = {0};
	bool slow;
	json_t *answer = js_parse((const char *)data, size, "the worker's answer", &err);
	if (json_is_object(answer)) {
		check_kernels(answer);
		check_trial(answer);
		worker_counters_usable(answer, &slow);
	}
	json_decref(answer);
	return 0;
}
