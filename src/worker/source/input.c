/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments before a run: made once, shared by all configurations. */
#include <config.h>

#include <stdlib.h>

#include "src/base/sys.h"
#include "src/worker/kernel/device.h"
#include "src/worker/source/source.h"

enum { GUARD_BYTE = 0xA5, FILE_LARGEST = 16 << 20 };

static enum ss_status say(const struct ss_call *call, enum ss_status status, const struct err *err) {
	return source_fail(call, status, "%.240s", err->what);
}

void source_guard_set(struct gpu *gpu, gpu_ptr guard) {
	gpu_fill8(gpu, guard, GUARD_BYTE, SOURCE_GUARD);
}

bool source_guard_holds(const unsigned char guard[SOURCE_GUARD]) {
	size_t i = 0;
	while (i < SOURCE_GUARD && guard[i] == GUARD_BYTE) {
		i++;
	}
	return i == SOURCE_GUARD;
}

gpu_ptr source_vector_new(struct gpu *gpu, size_t size) {
	gpu_ptr memory = gpu_alloc(gpu, size + SOURCE_GUARD);
	if (memory) {
		source_guard_set(gpu, memory + size);
	}
	return memory;
}

static enum ss_status vector_open(struct source_input *input, size_t i, const struct ss_call *call) {
	const struct source_argument *a = &input->problem.arguments[i];
	struct source_vector *v = &input->vectors[i];
	size_t size = source_size(a);
	v->host = malloc(size);
	v->want = a->output ? malloc(size) : NULL;
	if (!v->host || (a->output && !v->want)) {
		return source_fail(call, SS_NOMEM, "cannot allocate %zu bytes for %.60s", size, a->name);
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
		v->device = source_vector_new(call->gpu, size);
		gpu_upload(call->gpu, v->device, v->host, size);
	}
	return status;
}

enum ss_status source_open(void *memory, const struct ss_call *call) {
	struct source_input *input = memory;
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
	return status == SS_OK ? cuda_status(call) : status;
}

void source_close(void *memory) {
	struct source_input *input = memory;
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
