/* SPDX-License-Identifier: BSD-3-Clause */
/* Hopper's tensor cores: tiles of warpgroups in registers, strips of A and B that the copy engine brings. */
#include "kernels/gemm/cuda/gemm_cuda_impl.h"

enum { STRIP_ALIGNED = 1024, BARRIERS = 16 /* bytes for a buffer */, SHARED_MAX = 227 << 10, LEFT_COLUMNS = 128 };

/* Whether B is multiplied from shared memory as it is. */
static bool is_16(const struct ss_call *call) {
	return gemm_element_size(gemm_type_of(call)) == 2;
}

static void wgmma_program(const struct ss_call *call, struct ss_program *program) {
	const struct ss_value *c = call->config;
	*program = (struct ss_program){.source = "gemm/cuda/wgmma.cu",
	                               .names = {"BLOCK_M", "BLOCK_N", "BUFFERS", "CLUSTER", "SWIZZLE", "TYPE"},
	                               .values = {c[GEMM_CUDA_BLOCK_M].i, c[GEMM_CUDA_BLOCK_N].i, c[GEMM_CUDA_BUFFERS].i,
	                                          c[GEMM_CUDA_CLUSTER].i, c[GEMM_CUDA_SWIZZLE].i, gemm_type_of(call)},
	                               .count = 6};
}

/* wgmma.cu: columns of B in a row of a box, beside the gap that keeps rows apart. */
static unsigned box_columns(const struct ss_call *call) {
	size_t size = gemm_element_size(gemm_type_of(call));
	return is_16(call) ? (unsigned)call->config[GEMM_CUDA_SWIZZLE].i / 2 : LEFT_COLUMNS + (size == 4 ? 8 : 16);
}

static unsigned depth_of(const struct ss_call *call) {
	return (unsigned)call->config[GEMM_CUDA_SWIZZLE].i / (unsigned)gemm_element_size(gemm_type_of(call));
}

static unsigned shared_of(const struct ss_call *call) {
	const struct ss_value *c = call->config;
	unsigned m = (unsigned)c[GEMM_CUDA_BLOCK_M].i, n = (unsigned)c[GEMM_CUDA_BLOCK_N].i;
	unsigned boxes = n / (is_16(call) ? box_columns(call) : LEFT_COLUMNS);
	unsigned row = box_columns(call) * (unsigned)gemm_element_size(gemm_type_of(call));
	unsigned strip = m * (unsigned)c[GEMM_CUDA_SWIZZLE].i + boxes * depth_of(call) * row;
	unsigned part = (strip + STRIP_ALIGNED - 1) / STRIP_ALIGNED * STRIP_ALIGNED;
	return (part + BARRIERS) * (unsigned)c[GEMM_CUDA_BUFFERS].i + STRIP_ALIGNED;
}

static const char *wgmma_refusal(const struct ss_call *call) {
	const struct ss_value *c = call->config;
	const struct gpu_facts *facts = gpu_facts(call->gpu);
	int64_t m = c[GEMM_CUDA_BLOCK_M].i, n = c[GEMM_CUDA_BLOCK_N].i;
	if (facts->major != 9 || facts->minor != 0)
		return "variant wgmma needs a GPU of compute capability 9.0";
	if (m < 64 || n < 64 || m * n > 32768)
		return "a block of wgmma has at least 64 rows and columns, and at most 32768 sums";
	if (!is_16(call) && (m > 128 || n < 128))
		return "with type=tf32 and type=f8 a block of wgmma has at most 128 rows, and at least 128 columns";
	if (2 * n < c[GEMM_CUDA_SWIZZLE].i * c[GEMM_CUDA_CLUSTER].i)
		return "a cluster is too large to share so few columns";
	return shared_of(call) > SHARED_MAX ? "a block has at most 227 KiB of shared memory" : NULL;
}

static void maps_make(struct gemm_cuda *s, const struct ss_call *call) {
	const struct ss_value *c = call->config;
	const struct gemm_shape *shape = &s->input->shape;
	const size_t size = gemm_element_size(gemm_type_of(call));
	const unsigned swizzle = (unsigned)c[GEMM_CUDA_SWIZZLE].i, depth = depth_of(call);
	const struct gpu_matrix a = {.at = s->a,
	                             .element = size,
	                             .columns = shape->k,
	                             .rows = shape->m,
	                             .pitch = (size_t)s->k * size,
	                             .box_columns = depth,
	                             .box_rows = (unsigned)c[GEMM_CUDA_BLOCK_M].i,
	                             .swizzle = swizzle};
	const struct gpu_matrix b = {.at = s->b,
	                             .element = size,
	                             .columns = shape->n,
	                             .rows = shape->k,
	                             .pitch = (size_t)s->n * size,
	                             .box_columns = box_columns(call),
	                             .box_rows = is_16(call) ? depth : depth / (unsigned)c[GEMM_CUDA_CLUSTER].i,
	                             .swizzle = is_16(call) ? swizzle : 0};
	gpu_tensor_map(s->gpu, &s->map_a, &a);
	gpu_tensor_map(s->gpu, &s->map_b, &b);
}

/* As many blocks as run at a time, in whole clusters; each takes several tiles. */
static enum ss_status wgmma_setup(struct gemm_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	const struct ss_value *c = call->config;
	unsigned m = (unsigned)c[GEMM_CUDA_BLOCK_M].i, n = (unsigned)c[GEMM_CUDA_BLOCK_N].i;
	unsigned cluster = (unsigned)c[GEMM_CUDA_CLUSTER].i, group = (unsigned)c[GEMM_CUDA_GROUP].i / cluster;
	unsigned consumers = is_16(call) ? (m > 64 ? 2 : 1) : n / LEFT_COLUMNS;
	unsigned tiles = gpu_blocks(s->input->shape.m, (uint64_t)m * cluster) * ((unsigned)s->n / n);
	unsigned clusters = (unsigned)gpu_facts(s->gpu)->sms / cluster;
	maps_make(s, call);
	s->group = group ? (int)group : 1;
	s->function = gpu_function(s->gpu, module, "gemm_wgmma");
	s->shape = (struct gpu_shape){.grid = {(tiles < clusters ? tiles : clusters) * cluster},
	                              .block = {128 * (1 + consumers)},
	                              .shared = shared_of(call)};
	return SS_OK;
}

static void wgmma_run(struct gemm_cuda *s) {
	int m = (int)s->input->shape.m, k = (int)s->input->shape.k;
	GPU_LAUNCH(s->gpu, s->function, &s->shape, &s->map_a, &s->map_b, &s->c, &m, &s->n, &k, &s->group);
}

const struct gemm_cuda_variant gemm_cuda_wgmma = {
	.name = "wgmma",
	.types = 1 << GEMM_F16 | 1 << GEMM_BF16 | 1 << GEMM_TF32 | 1 << GEMM_F8,
	.refusal = wgmma_refusal,
	.program = wgmma_program,
	.setup = wgmma_setup,
	.run = wgmma_run,
};
