/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One problem of fw on a GPU, and one configuration of it, by name. */
#ifndef TESTS_GPU_FW_RIG_H
#define TESTS_GPU_FW_RIG_H
#include <stdlib.h>

#include "gpu/open.h"
#include "kernels/fw/cuda/fw_cuda_impl.h"
#include "tests/tap.h"

extern const struct ss_kernel kernel_fw_cuda;

enum { RIG_PARAMS = 16 };

struct rig {
	struct gpu *gpu;
	struct fw_cuda_input input;
	struct fw_cuda state;
	struct ss_value problem[RIG_PARAMS], config[RIG_PARAMS];
	char message[256];
};

static struct ss_value rig_value(const struct ss_param *param, const char *text) {
	struct ss_value value = {.w = text, .i = strtoll(text, NULL, 10)};
	if (param->type == SS_WORD) {
		size_t size = strlen(text);
		const char *word = param->values;
		for (value.i = 0; strncmp(word, text, size) != 0 || (word[size] && word[size] != ','); value.i++)
			word = strchr(word, ',') + 1; /* an unknown word is a fault of the test, and ends it here */
	}
	return value;
}

/* "a=1 b=two": sets these, and leaves the others. */
static void rig_words(const struct ss_param *params, struct ss_value *values, const char *words) {
	static char text[RIG_PARAMS][32];
	char copy[256], *rest = copy;
	snprintf(copy, sizeof copy, "%s", words);
	for (char *word; (word = strtok_r(rest, " ", &rest));) {
		char *equals = strchr(word, '=');
		*equals = '\0';
		for (int i = 0; params[i].name; i++)
			if (strcmp(params[i].name, word) == 0) {
				snprintf(text[i], sizeof text[i], "%s", equals + 1);
				values[i] = rig_value(&params[i], text[i]);
			}
	}
}

static void rig_initial(const struct ss_param *params, struct ss_value *values) {
	for (int i = 0; params[i].name; i++)
		values[i] = rig_value(&params[i], params[i].initial);
}

static struct ss_call rig_call(struct rig *rig) {
	rig->message[0] = '\0';
	return (struct ss_call){.problem = rig->problem,
	                        .config = rig->config,
	                        .threads = 2,
	                        .seed = 7,
	                        .message = rig->message,
	                        .message_size = sizeof rig->message,
	                        .gpu = rig->gpu};
}

static enum ss_status rig_open(struct rig *rig, const char *problem) {
	rig_initial(kernel_fw_cuda.problem, rig->problem);
	rig_words(kernel_fw_cuda.problem, rig->problem, problem);
	struct ss_call call = rig_call(rig);
	return kernel_fw_cuda.open(&rig->input, &call);
}

static void rig_close(struct rig *rig) {
	kernel_fw_cuda.close(&rig->input);
}

static enum ss_status rig_setup(struct rig *rig, const char *config) {
	rig_initial(kernel_fw_cuda.params, rig->config);
	rig_words(kernel_fw_cuda.params, rig->config, config);
	struct ss_call call = rig_call(rig);
	return kernel_fw_cuda.setup(&rig->state, &rig->input, &call);
}

static enum ss_status rig_run(struct rig *rig) {
	struct ss_call call = rig_call(rig);
	kernel_fw_cuda.reset(&rig->state, &call);
	return kernel_fw_cuda.run(&rig->state, &call);
}

static enum ss_status rig_verify(struct rig *rig) {
	struct ss_call call = rig_call(rig);
	return kernel_fw_cuda.verify(&rig->state, &call);
}

static void rig_teardown(struct rig *rig) {
	kernel_fw_cuda.teardown(&rig->state);
	memset(&rig->state, 0, sizeof rig->state);
}

/* Runs twice, because leftovers of a run must not matter. */
static enum ss_status rig_status(struct rig *rig, const char *config) {
	enum ss_status status = rig_setup(rig, config);
	for (int i = 0; i < 2 && status == SS_OK; i++)
		status = rig_run(rig);
	if (status == SS_OK)
		status = rig_verify(rig);
	rig_teardown(rig);
	return status;
}

static void rig_right(struct rig *rig, const char *problem, const char *config) {
	enum ss_status status = rig_open(rig, problem);
	if (status == SS_OK)
		status = rig_status(rig, config);
	ok(status == SS_OK, "%s: %s", problem, config);
	if (status != SS_OK)
		printf("# status %d: %s\n", (int)status, rig->message);
	rig_close(rig);
}

#endif
