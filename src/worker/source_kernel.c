/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/fail.h"
#include "kernels/registry.h"
#include "src/base/sys.h"
#include "src/worker/device.h"
#include "src/worker/source.h"

enum { GUARD = 4096, GUARD_BYTE = 0xA5, FILE_LARGEST = 16 << 20 };

struct vector {
	unsigned char *host; /* as it is before a run */
	gpu_ptr device;      /* the same, of what is not WriteOnly */
	unsigned char *want; /* what is right */
	bool known;          /* want is there */
};

struct input {
	struct arena *arena;
	struct source_problem problem;
	struct vector vectors[SOURCE_ARGUMENTS_MAX];
	char *text; /* of the source */
	struct gpu *gpu;
};

struct state {
	struct arena *arena;
	struct input *input;
	struct source_config config;
	const struct gpu_function *function;
	gpu_ptr own[SOURCE_ARGUMENTS_MAX], at[SOURCE_ARGUMENTS_MAX]; /* own: to free */
	void *passed[SOURCE_ARGUMENTS_MAX + 1];
};

static enum ss_status say(const struct ss_call *call, enum ss_status status, const struct err *err) {
	return kernel_fail(call, status, "%.240s", err->what);
}

/* ---- the input ---- */

static gpu_ptr vector_new(struct gpu *gpu, size_t size) {
	gpu_ptr memory = gpu_alloc(gpu, size + GUARD);
	if (memory) {
		gpu_fill8(gpu, memory + size, GUARD_BYTE, GUARD);
	}
	return memory;
}

static enum ss_status vector_open(struct input *input, size_t i, const struct ss_call *call) {
	const struct source_argument *a = &input->problem.arguments[i];
	struct vector *v = &input->vectors[i];
	size_t size = source_size(a);
	v->host = malloc(size);
	v->want = a->output ? malloc(size) : NULL;
	if (!v->host || (a->output && !v->want)) {
		return kernel_fail(call, SS_NOMEM, "no memory for %zu bytes of %.60s", size, a->name);
	}
	enum ss_status status = SS_OK;
	if (a->file) {
		status = source_load(call, a->file, v->host, size);
	} else {
		source_fill(a, i, call->seed, v->host);
	}
	if (status == SS_OK && a->output && a->reference) {
		status = source_load(call, a->reference, v->want, size);
		v->known = status == SS_OK;
	}
	if (status == SS_OK && a->memory != SOURCE_SCALAR && a->access != SOURCE_WRITE_ONLY) {
		v->device = vector_new(call->gpu, size);
		gpu_upload(call->gpu, v->device, v->host, size);
	}
	return status;
}

static enum ss_status source_open(void *memory, const struct ss_call *call) {
	struct input *input = memory;
	struct err err = {.code = ERR_OK};
	enum ss_status status = SS_OK;
	input->arena = arena_new();
	input->gpu = call->gpu;
	if (source_problem_read(input->arena, call->problem[0].w, &input->problem, &err) != 0) {
		input->problem.count = 0;
		return say(call, SS_INVALID, &err);
	}
	input->text = sys_read_file(input->problem.file, FILE_LARGEST, &(size_t){0}, &err);
	if (!input->text) {
		return say(call, SS_INVALID, &err);
	}
	for (size_t i = 0; i < input->problem.count && status == SS_OK; i++) {
		status = vector_open(input, i, call);
	}
	return status == SS_OK ? device_status(call) : status;
}

static void source_close(void *memory) {
	struct input *input = memory;
	for (size_t i = 0; i < SOURCE_ARGUMENTS_MAX; i++) {
		free(input->vectors[i].host);
		free(input->vectors[i].want);
		if (input->vectors[i].device) {
			gpu_free(input->gpu, input->vectors[i].device);
		}
	}
	free(input->text);
	arena_free(input->arena);
}

/* ---- a configuration ---- */

static enum ss_status reference_check(const struct state *state, const struct ss_call *call) {
	const struct input *input = state->input;
	for (size_t i = 0; i < input->problem.count; i++) {
		if (input->problem.arguments[i].output && !input->vectors[i].known && !state->config.reference) {
			return kernel_fail(call, SS_FAILED, "no reference: run a configuration with it first");
		}
	}
	return SS_OK;
}

static const struct gpu_module *module_make(const struct state *state, const struct ss_call *call) {
	const struct source_problem *problem = &state->input->problem;
	const char *options[2 * SOURCE_OPTIONS_MAX + 1], *slash = strrchr(problem->file, '/');
	size_t count = 0;
	for (size_t i = 0; problem->options[i]; i++) {
		options[count++] = problem->options[i];
	}
	for (size_t i = 0; state->config.defines[i]; i++) {
		options[count++] = state->config.defines[i];
	}
	options[count] = NULL;
	return gpu_module_text(call->gpu, slash ? slash + 1 : problem->file, state->input->text, options, NULL);
}

static bool fits(const struct source_argument *a, size_t size) {
	return size == (a->memory == SOURCE_SCALAR ? a->bytes : sizeof(gpu_ptr));
}

/* As many parameters as there are arguments: all are passed. Fewer: those in constant memory are not. Where the driver
 * can't tell, all of them: what is one too many in the end does no harm. */
static enum ss_status arguments_bind(struct state *state, const bool *symbols, const struct ss_call *call) {
	const struct source_problem *problem = &state->input->problem;
	size_t sizes[SOURCE_ARGUMENTS_MAX + 1], constants = 0, passed = 0;
	int count = gpu_function_parameters(call->gpu, state->function, sizes, SOURCE_ARGUMENTS_MAX + 1);
	for (size_t i = 0; i < problem->count; i++) {
		constants += symbols[i];
	}
	bool all = count < 0 || (size_t)count == problem->count;
	if (!all && (size_t)count != problem->count - constants) {
		return kernel_fail(call, SS_COMPILE, "%.60s takes %s%d parameters, but %zu arguments are given", problem->function,
		                   count > SOURCE_ARGUMENTS_MAX ? "over " : "",
		                   count > SOURCE_ARGUMENTS_MAX ? SOURCE_ARGUMENTS_MAX : count, problem->count);
	}
	for (size_t i = 0; i < problem->count; i++) {
		const struct source_argument *a = &problem->arguments[i];
		if (!all && symbols[i]) {
			continue;
		}
		if (count >= 0 && !fits(a, sizes[passed])) {
			return kernel_fail(call, SS_COMPILE, "parameter %zu of %.60s has %zu bytes, but argument %.60s %zu", passed + 1,
			                   problem->function, sizes[passed], a->name,
			                   a->memory == SOURCE_SCALAR ? a->bytes : sizeof(gpu_ptr));
		}
		state->passed[passed++] = a->memory == SOURCE_SCALAR ? (void *)state->input->vectors[i].host : &state->at[i];
	}
	return SS_OK;
}

static enum ss_status constant_set(struct state *state, const struct gpu_module *module, size_t i, bool *found,
                                   const struct ss_call *call) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	size_t room;
	gpu_ptr at = gpu_module_symbol(call->gpu, module, a->name, &room);
	*found = at != 0;
	if (at && room < source_size(a)) {
		return kernel_fail(call, SS_INVALID, "__constant__ %.60s has room for %zu bytes, not %zu", a->name, room,
		                   source_size(a));
	}
	if (at) {
		gpu_upload(call->gpu, at, state->input->vectors[i].host, source_size(a));
	}
	return SS_OK;
}

static void memory_make(struct state *state, size_t i, struct gpu *gpu) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	const struct vector *v = &state->input->vectors[i];
	if (a->memory == SOURCE_SCALAR) {
		return;
	}
	state->at[i] = v->device;
	if (a->access == SOURCE_READ_ONLY) {
		return;
	}
	state->at[i] = state->own[i] = vector_new(gpu, source_size(a));
	if (v->device) {
		gpu_copy(gpu, state->own[i], v->device, source_size(a));
	} else {
		gpu_upload(gpu, state->own[i], v->host, source_size(a));
	}
}

static enum ss_status source_setup(void *memory, void *input, const struct ss_call *call) {
	struct state *state = memory;
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
		status = device_status(call);
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
	return status == SS_OK ? device_status(call) : status;
}

static void source_reset(void *memory, const struct ss_call *call) {
	struct state *state = memory;
	const struct input *input = state->input;
	for (size_t i = 0; i < input->problem.count; i++) {
		if (input->problem.arguments[i].access == SOURCE_READ_WRITE) {
			gpu_copy(call->gpu, state->at[i], input->vectors[i].device, source_size(&input->problem.arguments[i]));
		}
	}
}

static enum ss_status source_run(void *memory, const struct ss_call *call) {
	struct state *state = memory;
	gpu_launch(call->gpu, state->function, &state->config.shape, state->passed);
	return SS_OK;
}

static void source_teardown(void *memory) {
	struct state *state = memory;
	for (size_t i = 0; i < SOURCE_ARGUMENTS_MAX; i++) {
		if (state->own[i]) {
			gpu_free(state->input->gpu, state->own[i]);
		}
	}
	arena_free(state->arena);
}

/* ---- is it right? ---- */

/* What is changed where nothing may be changed is put right again: others use it, too. */
static enum ss_status read_only_check(const struct state *state, size_t i, const unsigned char *is,
                                      const struct ss_call *call) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	const unsigned char *was = state->input->vectors[i].host;
	if (memcmp(is, was, source_size(a)) == 0) {
		return SS_OK;
	}
	gpu_upload(call->gpu, state->at[i], was, source_size(a));
	return kernel_wrong(call, "it changes what is ReadOnly: %.60s", a->name);
}

static enum ss_status output_check(const struct state *state, size_t i, const unsigned char *is,
                                   const struct ss_call *call) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	struct vector *v = &state->input->vectors[i];
	bool keep = state->config.reference && !a->reference;
	enum ss_status status = keep ? source_finite(call, a, is) : source_compare(call, a, is, v->want);
	if (status == SS_OK && keep) {
		memcpy(v->want, is, source_size(a));
		v->known = true;
	}
	return status;
}

static enum ss_status guard_check(const struct state *state, size_t i, const struct ss_call *call) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	unsigned char guard[GUARD];
	gpu_download(call->gpu, guard, state->at[i] + source_size(a), GUARD);
	enum ss_status status = device_status(call);
	for (size_t k = 0; k < GUARD && status == SS_OK; k++) {
		if (guard[k] != GUARD_BYTE) {
			gpu_fill8(call->gpu, state->at[i] + source_size(a), GUARD_BYTE, GUARD);
			status = kernel_wrong(call, "it writes past the end of %.60s", a->name);
		}
	}
	return status;
}

static enum ss_status vector_check(const struct state *state, size_t i, unsigned char *is, const struct ss_call *call) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	enum ss_status status = guard_check(state, i, call);
	if (status != SS_OK || (a->access != SOURCE_READ_ONLY && !a->output)) {
		return status;
	}
	gpu_download(call->gpu, is, state->at[i], source_size(a));
	status = device_status(call);
	if (status != SS_OK) {
		return status;
	}
	return (a->output ? output_check : read_only_check)(state, i, is, call);
}

static enum ss_status source_verify(void *memory, const struct ss_call *call) {
	const struct state *state = memory;
	const struct source_problem *problem = &state->input->problem;
	size_t largest = 1;
	for (size_t i = 0; i < problem->count; i++) {
		largest = source_size(&problem->arguments[i]) > largest ? source_size(&problem->arguments[i]) : largest;
	}
	unsigned char *is = malloc(largest);
	enum ss_status status = is ? device_status(call) : SS_NOMEM;
	for (size_t i = 0; i < problem->count && status == SS_OK; i++) {
		if (problem->arguments[i].memory != SOURCE_SCALAR) {
			status = vector_check(state, i, is, call);
		}
	}
	free(is);
	return status;
}

static const struct ss_param text_param[] = {
	{.name = "text", .summary = "what a specification says, as JSON", .type = SS_TEXT, .max = SOURCE_TEXT_MAX},
	{.name = NULL},
};

#define SOURCE_KERNEL(called, reset_hook)                                                                              \
	{                                                                                                                  \
		.abi = SS_KERNEL_ABI, .name = called, .summary = "a CUDA function of a specification", .problem = text_param,  \
		.params = text_param, .input_size = sizeof(struct input), .state_size = sizeof(struct state),                  \
		.open = source_open, .setup = source_setup, .reset = reset_hook, .run = source_run, .verify = source_verify,   \
		.teardown = source_teardown, .close = source_close, .device = "cuda"                                           \
	}

static const struct ss_kernel plain = SOURCE_KERNEL("t1", NULL), with_reset = SOURCE_KERNEL("t1-reset", source_reset);
const struct kernel_entry source_entries[] = {{&plain, "t1"}, {&with_reset, "t1"}, {.kernel = NULL}};
