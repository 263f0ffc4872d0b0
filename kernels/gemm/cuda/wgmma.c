/* SPDX-License-Identifier: BSD-3-Clause */
/* Hopper's tensor cores: tiles of warpgroups in registers, strips of A and B that the copy engine brings. */
#include "kernels/gemm/cuda/gemm_cuda_impl.h"

enum { STRIP_ALIGNED = 1024, BARRIERS = 16 /* bytes for a buffer */, SHARED_MAX = 227 << 10 };

/* Sizes that follow from the configuration; wgmma.cu derives the same ones from its defines. */
struct form {
	unsigned m, n, cluster_m, cluster_n; /* of a block; blocks that share B's strip, or A's */
	unsigned size, swizzle, depth;       /* of an element; of a row of A's strip; columns of it */
	unsigned box_columns, boxes;         /* of B's strip */
	unsigned threads, shared;
};

static struct form form_of(const struct ss_call *call) {
	const struct ss_value *c = call->config;
	struct form f = {.m = (unsigned)c[GEMM_CUDA_BLOCK_M].i,
	                 .n = (unsigned)c[GEMM_CUDA_BLOCK_N].i,
	                 .size = (unsigned)gemm_element_size(gemm_type_of(call)),
	                 .swizzle = (unsigned)c[GEMM_CUDA_SWIZZLE].i};
	unsigned cluster = (unsigned)c[GEMM_CUDA_CLUSTER].i;
	f.cluster_m = f.m > f.n ? 1 : cluster;
	f.cluster_n = cluster / f.cluster_m;
	f.depth = f.swizzle / f.size;
	f.box_columns = f.size == 2 ? f.depth : f.n + (f.size == 4 ? 8 : 16);
	f.boxes = f.size == 2 ? f.n / f.box_columns : 1;
	f.threads = (f.size == 2 ? f.m : f.n) > 64 ? 384 : 256;
	unsigned strip = f.m * f.swizzle + f.boxes * f.depth * f.box_columns * f.size;
	unsigned part = (strip + STRIP_ALIGNED - 1) / STRIP_ALIGNED * STRIP_ALIGNED;
	f.shared = (part + BARRIERS) * (unsigned)c[GEMM_CUDA_BUFFERS].i + STRIP_ALIGNED;
	return f;
}

static void wgmma_program(const struct ss_call *call, struct ss_program *program) {
	const struct ss_value *c = call->config;
	*program = (struct ss_program){.source = "gemm/cuda/wgmma.cu",
	                               .names = {"BLOCK_M", "BLOCK_N", "BUFFERS", "CLUSTER", "SWIZZLE", "TYPE"},
	                               .values = {c[GEMM_CUDA_BLOCK_M].i, c[GEMM_CUDA_BLOCK_N].i, c[GEMM_CUDA_BUFFERS].i,
	                                          c[GEMM_CUDA_CLUSTER].i, c[GEMM_CUDA_SWIZZLE].i, gemm_type_of(call)},
	                               .count = 6};
}

static const char *wgmma_refusal(const struct ss_call *call) {
	const struct gpu_facts *facts = gpu_facts(call->gpu);
	const struct form f = form_of(call);
	if (facts->major != 9 || facts->minor != 0)
		return "variant wgmma needs a GPU of compute capability 9.0";
	if (f.m < 64 || f.n < 64 || f.m * f.n < 8192 || f.m * f.n > 32768)
		return "a block of wgmma has at least 64 rows and columns, and 8192 to 32768 sums";
	if (f.size != 2 && f.n > 128)
		return "with type=tf32 and type=f8 a block of wgmma has at most 128 columns";
	return f.shared > SHARED_MAX ? "a block has at most 227 KiB of shared memory" : NULL;
}

static void maps_make(struct gemm_cuda *s, const struct form *f) {
	const struct gemm_shape *shape = &s->input->shape;
	const struct gpu_matrix a = {.at = s->a,
	                             .element = f->size,
	                             .columns = shape->k,
	                             .rows = shape->m,
	                             .pitch = (size_t)s->k * f->size,
	                             .box_columns = f->depth,
	                             .box_rows = f->m / f->cluster_n,
	                             .swizzle = f->swizzle};
	const struct gpu_matrix b = {.at = s->b,
	                             .element = f->size,
	                             .columns = shape->n,
	                             .rows = shape->k,
	                             .pitch = (size_t)s->n * f->size,
	                             .box_columns = f->box_columns,
	                             .box_rows = f->size == 2 ? f->depth : f->depth / f->cluster_m,
	                             .swizzle = f->size == 2 ? f->swizzle : 0};
	gpu_tensor_map(s->gpu, &s->map_a, &a);
	gpu_tensor_map(s->gpu, &s->map_b, &b);
}

/* As many blocks as run at a time, in whole clusters; each takes several tiles. */
static enum ss_status wgmma_setup(struct gemm_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	const struct form f = form_of(call);
	unsigned cluster = f.cluster_m * f.cluster_n, most = (unsigned)gpu_facts(s->gpu)->sms / cluster;
	unsigned group = (unsigned)call->config[GEMM_CUDA_GROUP].i / f.cluster_m;
	unsigned tiles = gpu_blocks(s->input->shape.m, f.m * f.cluster_m) * gpu_blocks((unsigned)s->n, f.n * f.cluster_n);
	maps_make(s, &f);
	s->group = group ? (int)group : 1;
	s->function = gpu_function(s->gpu, module, "gemm_wgmma");
	s->shape =
		(struct gpu_shape){.grid = {(tiles < most ? tiles : most) * cluster}, .block = {f.threads}, .shared = f.shared};
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
