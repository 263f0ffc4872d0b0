/* SPDX-License-Identifier: BSD-3-Clause */
/* A compiled configuration, with its own copy of the memory that it writes. */
#include <config.h>

#include <string.h>

#include "src/worker/kernel/device.h"
#include "src/worker/source/source.h"

static enum ss_status say(const struct ss_call *call, enum ss_status status, const struct err *err) {
	return source_fail(call, status, "%.240s", err->what);
}

static enum ss_status reference_check(const struct source_state *state, const struct ss_call *call) {
	const struct source_input *input = state->input;
	for (size_t i = 0; i < input->problem.count; i++) {
		if (input->problem.arguments[i].output && !input->vectors[i].known && !state->config.reference) {
			return source_fail(call, SS_FAILED, "no reference yet: first run a configuration with it");
		}
	}
	return SS_OK;
}

void source_options(const struct source_problem *problem, const struct source_config *config,
                    const char *options[2 * SOURCE_OPTIONS_MAX + 1]) {
	size_t count = 0;
	for (size_t i = 0; problem->options[i]; i++) {
		options[count++] = problem->options[i];
	}
	for (size_t i = 0; config->defines[i]; i++) {
		options[count++] = config->defines[i];
	}
	options[count] = NULL;
}

const char *source_name(const struct source_problem *problem) {
	const char *slash = strrchr(problem->file, '/');
	return slash ? slash + 1 : problem->file;
}

static const struct gpu_module *module_make(const struct source_state *state, const struct ss_call *call) {
	const struct source_problem *problem = &state->input->problem;
	const char *options[2 * SOURCE_OPTIONS_MAX + 1];
	source_options(problem, &state->config, options);
	return gpu_module_text(call->gpu, source_name(problem), state->input->text, options, NULL);
}

/* A size of 0 is not known. */
static bool fits(const struct source_argument *a, size_t size) {
	return size == 0 || size == (a->memory == SOURCE_SCALAR ? a->bytes : sizeof(gpu_ptr));
}

static void argument_add(struct source_state *state, struct gpu_passed *passed, size_t at, size_t i) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	bool scalar = a->memory == SOURCE_SCALAR;
	state->passed[at] = scalar ? (void *)state->input->vectors[i].host : &state->at[i];
	passed[at] =
		(struct gpu_passed){scalar ? GPU_PASSED_VALUE : GPU_PASSED_MEMORY, scalar ? a->bytes : sizeof(gpu_ptr)};
}

/* OpenCL has no dynamic local memory but that of a parameter, which is the last one. */
static bool takes_local(const struct source_state *state, int count, const struct ss_call *call) {
	return gpu_facts(call->gpu)->kind == GPU_OPENCL && state->config.shape.shared &&
	       count == (int)state->input->problem.count + 1;
}

/* Passes all arguments if there are as many parameters; with fewer, those in constant memory are not passed. If the
 * driver cannot tell the count, all are passed, because surplus arguments at the end are harmless. */
static enum ss_status arguments_bind(struct source_state *state, const bool *symbols, const struct ss_call *call) {
	const struct source_problem *problem = &state->input->problem;
	size_t sizes[SOURCE_ARGUMENTS_MAX + 1], constants = 0, passed = 0;
	struct gpu_passed kinds[SOURCE_ARGUMENTS_MAX + 1];
	int count = gpu_function_parameters(call->gpu, state->function, sizes, SOURCE_ARGUMENTS_MAX + 1);
	for (size_t i = 0; i < problem->count; i++) {
		constants += symbols[i];
	}
	bool local = takes_local(state, count, call), all = count < 0 || local || (size_t)count == problem->count;
	if (!all && (size_t)count != problem->count - constants) {
		return source_fail(call, SS_COMPILE, "parameters of %.60s: %s%d, arguments given: %zu", problem->function,
		                   count > SOURCE_ARGUMENTS_MAX ? "over " : "",
		                   count > SOURCE_ARGUMENTS_MAX ? SOURCE_ARGUMENTS_MAX : count, problem->count);
	}
	for (size_t i = 0; i < problem->count; i++) {
		const struct source_argument *a = &problem->arguments[i];
		if (!all && symbols[i]) {
			continue;
		}
		if (count >= 0 && !fits(a, sizes[passed])) {
			return source_fail(call, SS_COMPILE, "parameter %zu of %.60s has %zu bytes, but argument %.60s %zu",
			                   passed + 1, problem->function, sizes[passed], a->name,
			                   a->memory == SOURCE_SCALAR ? a->bytes : sizeof(gpu_ptr));
		}
		argument_add(state, kinds, passed++, i);
	}
	if (local) {
		kinds[passed++] = (struct gpu_passed){GPU_PASSED_LOCAL, state->config.shape.shared};
	}
	gpu_function_pass(call->gpu, state->function, kinds, passed);
	return SS_OK;
}

static enum ss_status constant_set(struct source_state *state, const struct gpu_module *module, size_t i, bool *found,
                                   const struct ss_call *call) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	size_t room;
	gpu_ptr at = gpu_module_symbol(call->gpu, module, a->name, &room);
	*found = at != 0;
	if (at && room < source_size(a)) {
		return source_fail(call, SS_INVALID, "__constant__ %.60s has room for %zu bytes, not %zu", a->name, room,
		                   source_size(a));
	}
	if (at) {
		gpu_upload(call->gpu, at, state->input->vectors[i].host, source_size(a));
	}
	return SS_OK;
}

static void memory_make(struct source_state *state, size_t i, struct gpu *gpu) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	const struct source_vector *v = &state->input->vectors[i];
	if (a->memory == SOURCE_SCALAR) {
		return;
	}
	state->at[i] = v->device;
	if (a->access == SOURCE_READ_ONLY) {
		return;
	}
	state->at[i] = state->own[i] = source_vector_new(gpu, source_size(a));
	if (v->device) {
		gpu_copy(gpu, state->own[i], v->device, source_size(a));
	} else {
		gpu_upload(gpu, state->own[i], v->host, source_size(a));
	}
}

enum ss_status source_setup(void *memory, void *input, const struct ss_call *call) {
	struct source_state *state = memory;
	struct err err = {.code = ERR_OK};
	bool symbols[SOURCE_ARGUMENTS_MAX] = {false};
	state->arena = arena_new();
	state->input = input;
	if (source_config_read(state->arena, call->config[0].w, &state->config, &err) != 0) {
		return say(call, SS_INVALID, &err);
	}
	const struct source_problem *problem = &state->input->problem;
	enum ss_status status = reference_check(state, call);
	const struct gpu_module *module = status == SS_OK ? module_make(state, call) : NULL;
	state->function = gpu_function(call->gpu, module, gpu_module_entry(module, problem->function));
	if (status == SS_OK) {
		status = cuda_status(call);
	}
	for (size_t i = 0; i < problem->count && status == SS_OK; i++) {
		memory_make(state, i, call->gpu);
		if (problem->arguments[i].memory == SOURCE_CONSTANT) {
			status = constant_set(state, module, i, &symbols[i], call);
		}
	}
	if (status == SS_OK) {
		status = arguments_bind(state, symbols, call);
	}
	return status == SS_OK ? cuda_status(call) : status;
}

void source_teardown(void *memory) {
	struct source_state *state = memory;
	for (size_t i = 0; i < SOURCE_ARGUMENTS_MAX; i++) {
		if (state->own[i]) {
			gpu_free(state->input->gpu, state->own[i]);
		}
	}
	arena_free(state->arena);
}
