/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of gemm for GPUs. It shares inputs, oracle and comparison with the CPU. */
#include <stdlib.h>

#include "kernels/gemm/cuda/gemm_cuda_impl.h"

/* The matrices on the GPU, in the type of the problem. */

static int padded(size_t x, int to) {
	return ((int)x + to - 1) / to * to;
}

/* rows x columns elements of `size` bytes, in a field of zeros. */
static gpu_ptr upload(struct gemm_cuda *s, const void *from, size_t size, size_t rows, size_t columns, int down,
                      int across) {
	size_t bytes = (size_t)down * (size_t)across * size;
	gpu_ptr to = gpu_alloc(s->gpu, bytes);
	const struct gpu_rectangle rectangle = {.to = to,
	                                        .from = (uintptr_t)from,
	                                        .to_pitch = (size_t)across * size,
	                                        .from_pitch = columns * size,
	                                        .width = columns * size,
	                                        .rows = rows};
	gpu_fill32(s->gpu, to, 0, bytes / sizeof(uint32_t));
	gpu_copy_rectangle(s->gpu, GPU_UP, &rectangle);
	return to;
}

static bool upload_narrow(struct gemm_cuda *s, enum gemm_type type) {
	const struct gemm_shape *shape = &s->input->shape;
	size_t a = shape->m * shape->k, b = shape->k * shape->n, size = gemm_element_size(type);
	char *all = malloc((a + b) * size);
	if (!all)
		return false;
	gemm_narrow_all(all, s->input->a, a, type);
	gemm_narrow_all(all + a * size, s->input->b, b, type);
	s->a = upload(s, all, size, shape->m, shape->k, s->m, s->k);
	s->b = upload(s, all + a * size, size, shape->k, shape->n, s->k, s->n);
	free(all);
	return true;
}

/* A, b and c, with their padding; false without memory on the host. */
static bool gemm_cuda_matrices_new(struct gemm_cuda *s, enum gemm_type type) {
	const struct gemm_shape *shape = &s->input->shape;
	s->m = padded(shape->m, GEMM_CUDA_PAD);
	s->n = padded(shape->n, GEMM_CUDA_PAD);
	s->k = padded(shape->k, GEMM_CUDA_PAD_ROW / (int)gemm_element_size(type));
	const bool narrow = gemm_element_size(type) < sizeof(float);
	if (narrow && !upload_narrow(s, type))
		return false;
	if (!narrow) {
		s->a = upload(s, s->input->a, sizeof(float), shape->m, shape->k, s->m, s->k);
		s->b = upload(s, s->input->b, sizeof(float), shape->k, shape->n, s->k, s->n);
	}
	s->c = gpu_alloc(s->gpu, (size_t)s->m * (size_t)s->n * sizeof(float));
	gpu_fill32(s->gpu, s->c, 0, (size_t)s->m * (size_t)s->n);
	return true;
}

extern const struct ss_kernel kernel_gemm_cuda;

static const struct gemm_cuda_variant *const variants[] = {&gemm_cuda_simple, &gemm_cuda_shared, &gemm_cuda_warp,
                                                           &gemm_cuda_mma, &gemm_cuda_wgmma};
#define VARIANT_NAMES "simple,shared,warp,mma,wgmma" /* the same order */
#define SIMPLE        "variant == 'simple'"
#define WARP          "variant == 'warp'"
#define MMA           "variant == 'mma'"
#define WGMMA         "variant == 'wgmma'"
#define TENSOR        MMA " or " WGMMA
#define AHEAD         WARP " or " TENSOR

static const struct ss_param params[] = {
	[GEMM_CUDA_VARIANT] = {"variant", "memory that holds what a block works on", SS_WORD, VARIANT_NAMES, "simple", NULL,
                           0, 0},
	[GEMM_CUDA_X] = {"block_size_x", "threads of a block in the x direction", SS_INT, "8..256*2", "16", SIMPLE, 8, 256},
	[GEMM_CUDA_Y] = {"block_size_y", "threads of a block in the y direction", SS_INT, "1..32*2", "16", SIMPLE, 1, 32},
	[GEMM_CUDA_TILE] = {"tile", "edge of a block and of its tiles", SS_INT, "8..32*2", "16", "variant == 'shared'", 8,
                        32},
	[GEMM_CUDA_BLOCK_M] = {"block_m", "rows of C per block", SS_INT, "64..256*2", "128", AHEAD, 32, 256},
	[GEMM_CUDA_BLOCK_N] = {"block_n", "columns of C per block", SS_INT, "64..256*2", "128", AHEAD, 32, 256},
	[GEMM_CUDA_BLOCK_K] = {"block_k", "columns of A in shared memory", SS_INT, "8,16", "16", WARP, 8, 32},
	[GEMM_CUDA_THREAD_M] = {"thread_m", "rows of C per thread", SS_INT, "4..16*2", "8", WARP, 4, 16},
	[GEMM_CUDA_THREAD_N] = {"thread_n", "columns of C per thread", SS_INT, "4..16*2", "8", WARP, 4, 16},
	[GEMM_CUDA_BUFFERS] = {"buffers", "parts of shared memory for strips of A and B; all but one are filled ahead",
                           SS_INT, "2,3,4,6,8", "3", AHEAD, 2, 8},
	[GEMM_CUDA_GROUP] = {"group", "rows of blocks that use the same columns of B at a time, at most", SS_INT, "1..16*4",
                         "16", AHEAD, 1, 256},
	[GEMM_CUDA_WARP_M] = {"warp_m", "rows of C per warp", SS_INT, "32,64", "64", MMA, 16, 128},
	[GEMM_CUDA_WARP_N] = {"warp_n", "columns of C per warp", SS_INT, "32,64", "64", MMA, 16, 128},
	[GEMM_CUDA_DEPTH] = {"depth", "columns of A in a buffer", SS_INT, "32,64", "32", MMA, 32, 64},
	[GEMM_CUDA_CLUSTER] = {"cluster", "blocks that share what they copy of A or B", SS_INT, "1,2", "2", WGMMA, 1, 2},
	[GEMM_CUDA_SWIZZLE] = {"swizzle", "bytes of a row in shared memory, within which rows are permuted", SS_INT,
                           "64,128", "128", WGMMA, 64, 128},
	{.name = NULL},
};

/* The variant warp arranges its 32 threads as 4 x 8. Its sums must fit in the registers of an SM, and only shapes that
 * are worth a try are allowed. */
static const char *const constraints[] = {
	"type == 'f32' or not (" WARP ")", "type == 'f16' or type == 'bf16' or not (" MMA ")",
	"type != 'f32' or not (" WGMMA ")", "variant == 'wgmma' or buffers <= 4",
	"variant != 'simple' or (block_size_x * block_size_y >= 32 and block_size_x * block_size_y <= 1024)",
	"variant != 'warp' or (thread_m >= 8 and thread_n >= 8 and thread_m * thread_n <= 128)",
	"variant != 'warp' or (block_m * block_n >= 8192 and block_m * block_n <= 32768 and block_m <= 2 * block_n and "
	"block_n <= 2 * block_m)",
	"variant != 'warp' or (block_k * buffers >= 32 and block_k * buffers <= 48)",
	"variant != 'mma' or (block_m >= warp_m and block_n >= warp_n and block_m * block_n <= 32768)",
	/* The strips fit in what shared memory blocks have at most on any GPU, and every thread copies some of both. */
	"variant != 'mma' or depth * buffers * (block_m + block_n) <= 116224",
	/* Sixteen warps that share 32768 sums would spill registers. */
	"variant != 'mma' or block_m * block_n <= 16384 or warp_m * warp_n >= 4096",
	"variant != 'mma' or (depth * warp_m * warp_n >= 256 * block_m and depth * warp_m * warp_n >= 256 * block_n)",
	/* The same for wgmma, whose strips of B may have gaps; two warpgroups have at most 128 sums a thread; and a
     * warpgroup with operands in registers (tf32 and f8) has 64 columns. */
	"variant != 'wgmma' or buffers * swizzle * (8 * block_m + 10 * block_n) <= 1835008",
	"variant != 'wgmma' or (block_m * block_n >= 8192 and block_m * block_n <= 32768)",
	"variant != 'wgmma' or type == 'f16' or type == 'bf16' or block_n <= 128", NULL};

static bool config_right(const struct ss_call *call) {
	const struct ss_value *c = call->config;
	for (int i = GEMM_CUDA_X; i < GEMM_CUDA_PARAMS; i++)
		if (i != GEMM_CUDA_BUFFERS && (c[i].i & (c[i].i - 1)))
			return false;
	int64_t threads =
		c[GEMM_CUDA_BLOCK_M].i / c[GEMM_CUDA_THREAD_M].i * (c[GEMM_CUDA_BLOCK_N].i / c[GEMM_CUDA_THREAD_N].i);
	return c[GEMM_CUDA_X].i * c[GEMM_CUDA_Y].i <= GEMM_CUDA_THREADS_MAX && threads <= GEMM_CUDA_THREADS_MAX;
}

static void gemm_cuda_program(const struct ss_call *call, struct ss_program *program) {
	variants[call->config[GEMM_CUDA_VARIANT].i]->program(call, program);
}

void gemm_cuda_grid(struct gemm_cuda *s, unsigned m, unsigned n, unsigned group) {
	unsigned rows = (unsigned)s->m / m;
	while (rows % group != 0)
		group /= 2;
	s->shape.grid[0] = group;
	s->shape.grid[1] = (unsigned)s->n / n;
	s->shape.grid[2] = rows / group;
}

static enum ss_status check_variant(const struct gemm_cuda_variant *variant, const struct ss_call *call) {
	static const char *const names[GEMM_TYPES] = {"f32", "f16", "bf16", "tf32", "f8"};
	char list[40] = "";
	const char *why = variant->refusal ? variant->refusal(call) : NULL;
	if (!variant->types || variant->types & 1u << gemm_type_of(call))
		return why ? kernel_fail(call, SS_INVALID, "%s", why) : SS_OK;
	for (unsigned t = 0; t < GEMM_TYPES; t++)
		if (variant->types & 1u << t)
			snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? ", " : "", names[t]);
	return kernel_fail(call, SS_INVALID, "variant %s is for type=%s", variant->name, list);
}

static enum ss_status gemm_cuda_setup(void *opaque, void *input, const struct ss_call *call) {
	struct gemm_cuda *s = opaque;
	if (!config_right(call))
		return kernel_fail(call, SS_INVALID,
		                   "sizes must be powers of 2 in their ranges, and a block has 1 to %d threads",
		                   GEMM_CUDA_THREADS_MAX);
	*s = (struct gemm_cuda){.input = input, .gpu = call->gpu};
	s->variant = variants[call->config[GEMM_CUDA_VARIANT].i];
	enum ss_status status = check_variant(s->variant, call);
	if (status != SS_OK)
		return status;
	s->result = malloc(s->input->shape.m * s->input->shape.n * sizeof *s->result);
	if (!s->result)
		return kernel_fail(call, SS_NOMEM, "no memory for the result");
	if (!gemm_cuda_matrices_new(s, gemm_type_of(call)))
		return kernel_fail(call, SS_NOMEM, "no memory to convert the matrices");
	status = s->variant->setup(s, cuda_program(&kernel_gemm_cuda, call), call);
	if (status == SS_OK)
		gpu_fit(s->gpu, s->function, &s->shape);
	return status == SS_OK ? cuda_status(call) : status;
}

static enum ss_status gemm_cuda_run(void *opaque, const struct ss_call *call) {
	struct gemm_cuda *s = opaque;
	if (s->variant->run)
		s->variant->run(s);
	else
		GPU_LAUNCH(s->gpu, s->function, &s->shape, &s->a, &s->b, &s->c, &s->n, &s->k);
	return cuda_status(call);
}

static enum ss_status gemm_cuda_verify(void *opaque, const struct ss_call *call) {
	struct gemm_cuda *s = opaque;
	const struct gemm_shape *shape = &s->input->shape;
	const struct gpu_rectangle rectangle = {.to = (uintptr_t)s->result,
	                                        .from = s->c,
	                                        .to_pitch = shape->n * sizeof(float),
	                                        .from_pitch = (size_t)s->n * sizeof(float),
	                                        .width = shape->n * sizeof(float),
	                                        .rows = shape->m};
	gpu_copy_rectangle(s->gpu, GPU_DOWN, &rectangle);
	enum ss_status status = cuda_status(call);
	return status == SS_OK ? gemm_compare(s->input, s->result, shape->n, call) : status;
}

static void gemm_cuda_teardown(void *opaque) {
	struct gemm_cuda *s = opaque;
	gpu_free(s->gpu, s->a);
	gpu_free(s->gpu, s->b);
	gpu_free(s->gpu, s->c);
	free(s->result);
}

const struct ss_kernel kernel_gemm_cuda = {
	.abi = SS_KERNEL_ABI,
	.name = "gemm",
	.summary = "matrix multiplication with sums in single precision",
	.problem = gemm_problem,
	.params = params,
	.constraints = constraints,
	.input_size = sizeof(struct gemm_input),
	.state_size = sizeof(struct gemm_cuda),
	.open = gemm_open,
	.setup = gemm_cuda_setup,
	.run = gemm_cuda_run,
	.verify = gemm_cuda_verify,
	.work = gemm_work,
	.teardown = gemm_cuda_teardown,
	.close = gemm_close,
	.figures = gemm_figures,
	.device = "cuda",
	.program = gemm_cuda_program,
};
