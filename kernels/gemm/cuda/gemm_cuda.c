/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of gemm for GPUs. It shares inputs, oracle and comparison with the CPU. */
#include <stdlib.h>

#include "kernels/gemm/cuda/gemm_cuda_impl.h"

/* A thread for each element: from memory, or from tiles in shared memory. */
static void simple_program(const struct ss_call *call, struct ss_program *program) {
	enum gemm_type type = gemm_type_of(call);
	*program = (struct ss_program){.source = "gemm/cuda/simple.cu",
	                               .names = {"TILE", "TYPE"},
	                               .values = {0, type == GEMM_TF32 ? GEMM_F32 : type},
	                               .count = 2};
}

static void shared_program(const struct ss_call *call, struct ss_program *program) {
	simple_program(call, program);
	program->values[0] = call->config[GEMM_CUDA_TILE].i;
}

static enum ss_status simple_setup(struct gemm_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	unsigned x = (unsigned)call->config[GEMM_CUDA_X].i, y = (unsigned)call->config[GEMM_CUDA_Y].i;
	s->function = gpu_function(s->gpu, module, "gemm_simple");
	s->shape = (struct gpu_shape){.grid = {(unsigned)s->n / x, (unsigned)s->m / y}, .block = {x, y}};
	return SS_OK;
}

static enum ss_status shared_setup(struct gemm_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	unsigned tile = (unsigned)call->config[GEMM_CUDA_TILE].i;
	s->function = gpu_function(s->gpu, module, "gemm_shared");
	s->shape = (struct gpu_shape){.grid = {(unsigned)s->n / tile, (unsigned)s->m / tile}, .block = {tile, tile}};
	return SS_OK;
}

static const struct gemm_cuda_variant gemm_cuda_simple = {
	.name = "simple",
	.program = simple_program,
	.setup = simple_setup,
};

static const struct gemm_cuda_variant gemm_cuda_shared = {
	.name = "shared",
	.program = shared_program,
	.setup = shared_setup,
};

/* Blocks of m x n elements. Those that run at the same time are beside each other if blocks start in the
 * order of their numbers: x and z count rows of blocks, of which `group`, or as many as divide them all, share a column
 * y. */
static void grid_set(struct gemm_cuda *s, unsigned m, unsigned n, unsigned group) {
	unsigned rows = (unsigned)s->m / m;
	while (rows % group != 0)
		group /= 2;
	s->shape.grid[0] = group;
	s->shape.grid[1] = (unsigned)s->n / n;
	s->shape.grid[2] = rows / group;
}

/* Tensor cores for 16-bit elements: tiles of a warp in registers, those of a block in shared memory. */
enum { WARP_SUMS_MAX = 4096, BLOCK_SUMS_MAX = 32768, COPY = 8 /* elements that a thread copies at once */ };

static unsigned threads_of(const struct ss_value *c) {
	return (unsigned)(c[GEMM_CUDA_BLOCK_M].i / c[GEMM_CUDA_WARP_M].i *
	                  (c[GEMM_CUDA_BLOCK_N].i / c[GEMM_CUDA_WARP_N].i) * 32);
}

static void mma_program(const struct ss_call *call, struct ss_program *program) {
	const struct ss_value *c = call->config;
	*program = (struct ss_program){.source = "gemm/cuda/mma.cu",
	                               .names = {"BLOCK_M", "BLOCK_N", "WARP_M", "WARP_N", "DEPTH", "BUFFERS", "TYPE"},
	                               .values = {c[GEMM_CUDA_BLOCK_M].i, c[GEMM_CUDA_BLOCK_N].i, c[GEMM_CUDA_WARP_M].i,
	                                          c[GEMM_CUDA_WARP_N].i, c[GEMM_CUDA_DEPTH].i, c[GEMM_CUDA_BUFFERS].i,
	                                          gemm_type_of(call)},
	                               .count = 7};
}

static const char *mma_refusal(const struct ss_call *call) {
	const struct ss_value *c = call->config;
	int64_t m = c[GEMM_CUDA_BLOCK_M].i, n = c[GEMM_CUDA_BLOCK_N].i, depth = c[GEMM_CUDA_DEPTH].i;
	if (n < 64)
		return "a block of mma has at least 64 columns";
	if (m < c[GEMM_CUDA_WARP_M].i || n < c[GEMM_CUDA_WARP_N].i)
		return "a block is smaller than the tile of a warp";
	if (c[GEMM_CUDA_WARP_M].i * c[GEMM_CUDA_WARP_N].i > WARP_SUMS_MAX)
		return "a warp has at most 4096 sums";
	if (m * n > BLOCK_SUMS_MAX)
		return "a block has at most 32768 sums";
	if ((m < n ? m : n) * depth / COPY < threads_of(c))
		return "some threads have nothing to copy: make depth or the tile of a warp larger";
	return NULL;
}

static enum ss_status mma_setup(struct gemm_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	const struct ss_value *c = call->config;
	unsigned m = (unsigned)c[GEMM_CUDA_BLOCK_M].i, n = (unsigned)c[GEMM_CUDA_BLOCK_N].i;
	unsigned depth = (unsigned)c[GEMM_CUDA_DEPTH].i * (unsigned)c[GEMM_CUDA_BUFFERS].i;
	s->function = gpu_function(s->gpu, module, "gemm_mma");
	s->shape = (struct gpu_shape){.block = {threads_of(c)}, .shared = depth * (m + n) * (unsigned)sizeof(uint16_t)};
	grid_set(s, m, n, (unsigned)c[GEMM_CUDA_GROUP].i);
	return SS_OK;
}

static const struct gemm_cuda_variant gemm_cuda_mma = {
	.name = "mma",
	.types = 1 << GEMM_F16 | 1 << GEMM_BF16,
	.refusal = mma_refusal,
	.program = mma_program,
	.setup = mma_setup,
};

/* Tiles of a thread in registers, those of its warp beside each other, those of a block in shared memory. */
static void warp_program(const struct ss_call *call, struct ss_program *program) {
	const struct ss_value *config = call->config;
	*program = (struct ss_program){.source = "gemm/cuda/warp.cu",
	                               .names = {"BLOCK_M", "BLOCK_N", "BLOCK_K", "THREAD_M", "THREAD_N", "BUFFERS"},
	                               .values = {config[GEMM_CUDA_BLOCK_M].i, config[GEMM_CUDA_BLOCK_N].i,
	                                          config[GEMM_CUDA_BLOCK_K].i, config[GEMM_CUDA_THREAD_M].i,
	                                          config[GEMM_CUDA_THREAD_N].i, config[GEMM_CUDA_BUFFERS].i},
	                               .count = 6};
}

static const char *warp_refusal(const struct ss_call *call) {
	const struct ss_value *c = call->config;
	int64_t m = c[GEMM_CUDA_THREAD_M].i, n = c[GEMM_CUDA_THREAD_N].i, across = m < n ? 4 : 8;
	if (c[GEMM_CUDA_BLOCK_M].i < 32 / across * m || c[GEMM_CUDA_BLOCK_N].i < across * n)
		return "a block is smaller than the tile of a warp, which has 4 x 8 threads, or 8 x 4";
	if (c[GEMM_CUDA_BLOCK_M].i * c[GEMM_CUDA_BLOCK_N].i > 32768)
		return "a block has at most 32768 sums";
	return m * n > 128 ? "a thread has at most 128 sums" : NULL;
}

/* warp.cu: the strip of A has a pitch of 4 more than its rows. */
static enum ss_status warp_setup(struct gemm_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	const struct ss_value *c = call->config;
	unsigned m = (unsigned)c[GEMM_CUDA_BLOCK_M].i, n = (unsigned)c[GEMM_CUDA_BLOCK_N].i;
	unsigned strips = (unsigned)c[GEMM_CUDA_BUFFERS].i * (unsigned)c[GEMM_CUDA_BLOCK_K].i;
	s->function = gpu_function(s->gpu, module, "gemm_warp");
	s->shape =
		(struct gpu_shape){.block = {m / (unsigned)c[GEMM_CUDA_THREAD_M].i * (n / (unsigned)c[GEMM_CUDA_THREAD_N].i)},
	                       .shared = strips * (m + 4 + n) * (unsigned)sizeof(float)};
	grid_set(s, m, n, (unsigned)c[GEMM_CUDA_GROUP].i);
	return SS_OK;
}

static const struct gemm_cuda_variant gemm_cuda_warp = {
	.name = "warp",
	.types = 1 << GEMM_F32,
	.refusal = warp_refusal,
	.program = warp_program,
	.setup = warp_setup,
};

/* Hopper's tensor cores: tiles of warpgroups in registers, strips of A and B that the copy engine brings. */
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
	f.box_columns = f.size == 2 ? f.depth : f.n + (f.size == 4 ? 8 : 0);
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
	                             .swizzle = f->size == 2   ? f->swizzle
	                                        : f->size == 1 ? f->n
	                                                       : 0};
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

static const struct gemm_cuda_variant gemm_cuda_wgmma = {
	.name = "wgmma",
	.types = 1 << GEMM_F16 | 1 << GEMM_BF16 | 1 << GEMM_TF32 | 1 << GEMM_F8,
	.refusal = wgmma_refusal,
	.program = wgmma_program,
	.setup = wgmma_setup,
	.run = wgmma_run,
};

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
