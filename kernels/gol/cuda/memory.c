/* SPDX-License-Identifier: BSD-3-Clause */
/* The grids. The host's side of a generation is always 64 cells a word; bytes are made and packed on the GPU. */
#include <config.h>
#include <stdlib.h>

#include "kernels/gol/cuda/gol_cuda.h"

enum { PACK_THREADS = 256 };

static size_t packed_bytes(const struct gol_cuda *s) {
	return s->input->n * s->input->words * sizeof(uint64_t);
}

static void layout(struct gol_cuda *s) {
	size_t n = s->input->n, row = s->variant->bytes ? n + 1 : (n + 31) / 32 * 4 + 4;
	s->stride = (int64_t)((row + GOL_CUDA_LINE - 1) / GOL_CUDA_LINE * GOL_CUDA_LINE);
	s->bytes = (n + 2) * (size_t)s->stride + 2 * GOL_CUDA_LINE; /* a word behind the last row is read, too */
}

enum ss_status gol_cuda_memory_new(struct gol_cuda *s, const struct ss_call *call) {
	size_t n = s->input->n;
	layout(s);
	s->cells = calloc(1, packed_bytes(s));
	if (!s->cells)
		return kernel_fail(call, SS_NOMEM, "no memory for the result of %zu by %zu cells", n, n);
	s->start = gpu_alloc(s->gpu, packed_bytes(s));
	gpu_upload(s->gpu, s->start, s->input->cells, packed_bytes(s));
	for (int i = 0; i < 2; i++) {
		s->memory[i] = gpu_alloc(s->gpu, s->bytes);
		s->grid[i] = s->memory[i] + (uint64_t)(GOL_CUDA_LINE + s->stride);
		if (s->memory[i])
			gpu_fill8(s->gpu, s->memory[i], 0, s->bytes);
	}
	return cuda_status(call);
}

static void convert(struct gol_cuda *s, const struct gpu_function *function, gpu_ptr from, int64_t from_pitch,
                    gpu_ptr to, int64_t to_pitch) {
	int n = (int)s->input->n;
	struct gpu_shape shape = {.grid = {(unsigned)n, gpu_blocks((uint64_t)n, PACK_THREADS)}, .block = {PACK_THREADS}};
	GPU_LAUNCH(s->gpu, function, &shape, &from, &from_pitch, &to, &to_pitch, &n);
}

static void across(struct gol_cuda *s, gpu_ptr to, size_t to_pitch, gpu_ptr from, size_t from_pitch) {
	struct gpu_rectangle rows = {.to = to,
	                             .from = from,
	                             .to_pitch = to_pitch,
	                             .from_pitch = from_pitch,
	                             .width = (s->input->n + 31) / 32 * sizeof(uint32_t),
	                             .rows = s->input->n};
	gpu_copy_rectangle(s->gpu, GPU_ACROSS, &rows);
}

void gol_cuda_load(struct gol_cuda *s) {
	size_t pitch = s->input->words * sizeof(uint64_t);
	s->now = 0;
	if (s->variant->bytes)
		convert(s, s->unpack, s->start, (int64_t)(pitch / sizeof(uint32_t)), s->grid[0], s->stride);
	else
		across(s, s->grid[0], (size_t)s->stride, s->start, pitch);
}

void gol_cuda_save(struct gol_cuda *s) {
	size_t pitch = s->input->words * sizeof(uint64_t);
	gpu_ptr packed = gpu_alloc(s->gpu, packed_bytes(s));
	if (!packed)
		return;
	gpu_fill8(s->gpu, packed, 0, packed_bytes(s));
	if (s->variant->bytes)
		convert(s, s->pack, s->grid[s->now], s->stride, packed, (int64_t)(pitch / sizeof(uint32_t)));
	else
		across(s, packed, pitch, s->grid[s->now], (size_t)s->stride);
	gpu_download(s->gpu, s->cells, packed, packed_bytes(s));
	gpu_free(s->gpu, packed);
}

void gol_cuda_memory_free(struct gol_cuda *s) {
	const gpu_ptr memory[] = {s->start, s->memory[0], s->memory[1]};
	for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
		if (memory[i])
			gpu_free(s->gpu, memory[i]);
	free(s->cells);
}
