/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "kernels/fw/cuda/fw_cuda.h"

static gpu_ptr copy_new(struct gpu *gpu, const void *from, size_t size) {
	gpu_ptr to = gpu_alloc(gpu, size);
	gpu_upload(gpu, to, from, size);
	return to;
}

static void memory_new(const struct fw_cuda *s, struct fw_band *b) {
	const struct fw_cuda_input *input = s->input;
	size_t block = (size_t)s->shape.block, n = (size_t)s->n, row = block * fw_cuda_row_bytes(s);
	b->matrix = gpu_alloc(b->gpu, fw_cuda_band_bytes(s, b));
	for (int i = 0; i < 2; i++) {
		b->rows[i] = s->gpus > 1 ? gpu_alloc(b->gpu, row) : 0;
		b->across[i] = s->shape.variant == FW_REGISTER && i <= s->lookahead
		                   ? gpu_alloc(b->gpu, (size_t)b->count * block * block * sizeof(int32_t))
		                   : 0;
	}
	b->into = copy_new(b->gpu, input->into, (n + 1) * sizeof *input->into);
	b->edges = copy_new(b->gpu, input->edges, (size_t)(input->into[n] + 1) * sizeof *input->edges);
	b->findings = gpu_alloc(b->gpu, 64);
}

static void code_get(const struct fw_cuda *s, struct fw_band *b, const struct ss_kernel *kernel,
                     const struct ss_call *call) {
	struct ss_call here = *call;
	here.gpu = b->gpu;
	const struct gpu_module *code = cuda_program(kernel, &here);
	const struct gpu_module *matrix = gpu_module(b->gpu, "fw/cuda/matrix.cu", &(struct gpu_defines){.count = 0});
	b->close = gpu_function(b->gpu, code, "fw_close");
	b->panels = gpu_function(b->gpu, code, "fw_panels");
	b->relax = gpu_function(b->gpu, code, "fw_relax");
	b->fill = gpu_function(b->gpu, matrix, s->shape.lanes == 2 ? "fw_fill16" : "fw_fill32");
	b->check = gpu_function(b->gpu, matrix, s->shape.lanes == 2 ? "fw_check16" : "fw_check32");
}

static void streams_new(const struct fw_cuda *s, struct fw_band *b) {
	b->urgent = s->lookahead ? gpu_stream_new(b->gpu, true) : NULL;
	b->sender = s->gpus > 1 ? gpu_stream_new(b->gpu, true) : NULL;
	b->done = gpu_mark_new(b->gpu);
	b->closed = gpu_mark_new(b->gpu);
	b->ready = gpu_mark_new(b->gpu);
	for (int i = 0; i < s->gpus; i++)
		b->sent[i] = gpu_mark_new(b->gpu);
}

void fw_cuda_bands_new(struct fw_cuda *s, const struct ss_kernel *kernel, const struct ss_call *call) {
	for (int i = 0; i < s->gpus; i++) {
		struct fw_band *b = &s->bands[i];
		b->gpu = gpu_peer(call->gpu, i);
		if (!b->gpu)
			return;
		b->first = s->tiles * i / s->gpus;
		b->count = s->tiles * (i + 1) / s->gpus - b->first;
		code_get(s, b, kernel, call); /* first, as memory is of no use without it */
		streams_new(s, b);
		memory_new(s, b);
	}
	for (int m = 0; m < FW_MOMENTS; m++)
		s->moments[m] = gpu_mark_new(call->gpu);
}

static void band_free(struct fw_band *b) {
	const gpu_ptr memory[] = {b->matrix,    b->rows[0], b->rows[1], b->across[0],
	                          b->across[1], b->into,    b->edges,   b->findings};
	struct gpu_mark *const marks[] = {b->done, b->closed, b->ready};
	for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
		gpu_free(b->gpu, memory[i]);
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (marks[i])
			gpu_mark_free(b->gpu, marks[i]);
	for (int i = 0; i < FW_CUDA_GPUS_MAX; i++)
		if (b->sent[i])
			gpu_mark_free(b->gpu, b->sent[i]);
	if (b->urgent)
		gpu_stream_free(b->gpu, b->urgent);
	if (b->sender)
		gpu_stream_free(b->gpu, b->sender);
}

void fw_cuda_bands_free(struct fw_cuda *s) {
	struct gpu *gpu = s->bands[0].gpu;
	for (int i = 0; i < s->gpus; i++)
		if (s->bands[i].gpu)
			band_free(&s->bands[i]);
	for (int m = 0; m < FW_MOMENTS; m++)
		if (s->moments[m])
			gpu_mark_free(gpu, s->moments[m]);
}

void fw_cuda_bands_fill(struct fw_cuda *s) {
	uint32_t none = (uint32_t)fw_cuda_none(s) * (s->shape.lanes == 2 ? 0x10001u : 1u);
	struct gpu_shape shape = {.grid = {gpu_blocks((uint64_t)s->n, 128)}, .block = {128}};
	int64_t pitch = (int64_t)s->pitch * s->shape.lanes;
	for (int i = 0; i < s->gpus; i++) {
		struct fw_band *b = &s->bands[i];
		int first = b->first * s->shape.block, rows = b->count * s->shape.block;
		gpu_fill32(b->gpu, b->matrix, none, fw_cuda_band_bytes(s, b) / sizeof none);
		GPU_LAUNCH(b->gpu, b->fill, &shape, &b->matrix, &pitch, &b->into, &b->edges, &s->n, &first, &rows);
	}
}
