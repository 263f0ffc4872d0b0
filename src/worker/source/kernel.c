/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/source/source.h"

static void source_reset(void *memory, const struct ss_call *call) {
	struct source_state *state = memory;
	const struct source_input *input = state->input;
	for (size_t i = 0; i < input->problem.count; i++) {
		if (input->problem.arguments[i].access == SOURCE_READ_WRITE) {
			gpu_copy(call->gpu, state->at[i], input->vectors[i].device, source_size(&input->problem.arguments[i]));
		}
	}
}

static enum ss_status source_run(void *memory, const struct ss_call *call) {
	struct source_state *state = memory;
	gpu_launch(call->gpu, state->function, &state->config.shape, state->passed);
	return SS_OK;
}

static const struct ss_param text_param[] = {
	{.name = "text", .summary = "a specification, as JSON", .type = SS_TEXT, .initial = "{}", .max = SOURCE_TEXT_MAX},
	{.name = NULL},
};

#define SOURCE_KERNEL(called, kind, reset_hook)                                                                        \
	{                                                                                                                  \
		.abi = SS_KERNEL_ABI, .name = called, .summary = "a function of a specification", .problem = text_param,       \
		.params = text_param, .input_size = sizeof(struct source_input), .state_size = sizeof(struct source_state),    \
		.open = source_open, .setup = source_setup, .reset = reset_hook, .run = source_run, .verify = source_verify,   \
		.teardown = source_teardown, .close = source_close, .device = kind                                             \
	}

static const struct ss_kernel cuda = SOURCE_KERNEL("t1", "cuda", NULL),
							  cuda_reset = SOURCE_KERNEL("t1-reset", "cuda", source_reset),
							  opencl = SOURCE_KERNEL("t1", "opencl", NULL),
							  opencl_reset = SOURCE_KERNEL("t1-reset", "opencl", source_reset),
							  hip = SOURCE_KERNEL("t1", "hip", NULL),
							  hip_reset = SOURCE_KERNEL("t1-reset", "hip", source_reset);
const struct kernel_entry source_entries[] = {{&cuda, "t1"},         {&cuda_reset, "t1"}, {&opencl, "t1"},
                                              {&opencl_reset, "t1"}, {&hip, "t1"},        {&hip_reset, "t1"},
                                              {.kernel = NULL}};
