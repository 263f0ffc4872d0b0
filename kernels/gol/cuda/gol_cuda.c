/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of gol for GPUs. It shares inputs, oracle and comparison with the CPU. */
#include <stdlib.h>

#include "kernels/gol/cuda/gol_cuda_impl.h"

/* A byte and a thread a cell, from memory or from a tile in shared memory. */
static void byte_program(const struct ss_value *config, struct ss_program *program) {
	(void)config;
	*program = (struct ss_program){.source = "gol/cuda/byte.cu", .names = {"SHARED"}, .values = {0}, .count = 1};
}

static void shared_program(const struct ss_value *config, struct ss_program *program) {
	byte_program(config, program);
	program->values[0] = 1;
}

static enum ss_status byte_setup(struct gol_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	unsigned x = (unsigned)call->config[GOL_CUDA_X].i, y = (unsigned)call->config[GOL_CUDA_Y].i;
	size_t n = s->input->n;
	s->function = gpu_function(s->gpu, module, "gol_byte");
	s->unpack = gpu_function(s->gpu, module, "gol_unpack");
	s->pack = gpu_function(s->gpu, module, "gol_pack");
	s->shape = (struct gpu_shape){.grid = {gpu_blocks(n, x), gpu_blocks(n, y)}, .block = {x, y}};
	return SS_OK;
}

static enum ss_status shared_setup(struct gol_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	enum ss_status status = byte_setup(s, module, call);
	s->shape.shared = (s->shape.block[0] + 2) * (s->shape.block[1] + 2);
	return status;
}

static void byte_run(struct gol_cuda *s) {
	int n = (int)s->input->n;
	for (int64_t generation = 0; generation < s->input->generations; generation++, s->now ^= 1)
		GPU_LAUNCH(s->gpu, s->function, &s->shape, &s->grid[s->now], &s->grid[s->now ^ 1], &s->stride, &n);
}

static const struct gol_cuda_variant gol_cuda_byte = {
	.bytes = true, .program = byte_program, .setup = byte_setup, .run = byte_run};

static const struct gol_cuda_variant gol_cuda_byte_shared = {
	.bytes = true, .program = shared_program, .setup = shared_setup, .run = byte_run};

/* 32 cells a word: a generation or several of them a pass over the grid. */
enum { LANES = 32, INNER = 30 /* bits.cu: lanes of a tile */, CELLS = 32 };

static int64_t words_of(const struct ss_value *config) {
	return config[GOL_CUDA_WORD].i / CELLS;
}

static void bits_program(const struct ss_value *config, struct ss_program *program) {
	*program = (struct ss_program){.source = "gol/cuda/bits.cu",
	                               .names = {"WORDS", "ROWS", "SHUFFLE"},
	                               .values = {words_of(config), config[GOL_CUDA_ROWS].i, config[GOL_CUDA_NEIGHBOURS].i},
	                               .count = 3};
}

static void temporal_program(const struct ss_value *config, struct ss_program *program) {
	*program = (struct ss_program){.source = "gol/cuda/bits.cu",
	                               .names = {"WORDS", "DEPTH"},
	                               .values = {words_of(config), config[GOL_CUDA_DEPTH].i},
	                               .count = 2};
}

static int row_words(const struct gol_cuda *s) {
	return (int)((s->input->n + CELLS - 1) / CELLS);
}

static enum ss_status bits_setup(struct gol_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	unsigned x = (unsigned)call->config[GOL_CUDA_X].i, y = (unsigned)call->config[GOL_CUDA_Y].i;
	uint64_t rows = (uint64_t)call->config[GOL_CUDA_ROWS].i, words = (uint64_t)words_of(call->config);
	if (call->config[GOL_CUDA_NEIGHBOURS].i && x % LANES)
		return kernel_fail(call, SS_INVALID, "with neighbours=shuffles, block_size_x must be a multiple of %d", LANES);
	s->function = gpu_function(s->gpu, module, "gol_bits");
	s->shape = (struct gpu_shape){
		.grid = {gpu_blocks((uint64_t)row_words(s), x * words), gpu_blocks(s->input->n, y * rows)}, .block = {x, y}};
	return SS_OK;
}

static enum ss_status temporal_setup(struct gol_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	unsigned x = (unsigned)call->config[GOL_CUDA_X].i, y = (unsigned)call->config[GOL_CUDA_Y].i;
	uint64_t words = (uint64_t)words_of(call->config);
	if (x % LANES || call->config[GOL_CUDA_DEPTH].i * (int64_t)words > GOL_CUDA_KEPT_MAX)
		return kernel_fail(call, SS_INVALID, "block_size_x must be a multiple of %d and depth * word at most %d", LANES,
		                   GOL_CUDA_KEPT_MAX * CELLS);
	s->depth = call->config[GOL_CUDA_DEPTH].i;
	s->height = call->config[GOL_CUDA_STRIP].i;
	s->function = gpu_function(s->gpu, module, "gol_temporal");
	s->single = gpu_function(s->gpu, module, "gol_single");
	s->shape = (struct gpu_shape){.grid = {gpu_blocks((uint64_t)row_words(s), x / LANES * INNER * words),
	                                       gpu_blocks(s->input->n, y * (uint64_t)s->height)},
	                              .block = {x, y}};
	return SS_OK;
}

/* gol_bits does not use `last`. */
static void launch(struct gol_cuda *s, const struct gpu_function *function, void *last) {
	int64_t stride = s->stride / (int64_t)sizeof(uint32_t);
	int n = (int)s->input->n, words = row_words(s);
	uint32_t tail = UINT32_MAX >> (words * CELLS - n);
	GPU_LAUNCH(s->gpu, function, &s->shape, &s->grid[s->now], &s->grid[s->now ^ 1], &stride, &n, &words, &tail, last);
	s->now ^= 1;
}

static void bits_run(struct gol_cuda *s) {
	for (int64_t generation = 0; generation < s->input->generations; generation++)
		launch(s, s->function, NULL);
}

static void temporal_run(struct gol_cuda *s) {
	int64_t generation = 0;
	int height = (int)s->height;
	for (; generation + s->depth <= s->input->generations; generation += s->depth)
		launch(s, s->function, &height);
	for (; generation < s->input->generations; generation++)
		launch(s, s->single, &height);
}

static const struct gol_cuda_variant gol_cuda_bits = {.program = bits_program, .setup = bits_setup, .run = bits_run};

static const struct gol_cuda_variant gol_cuda_temporal = {
	.program = temporal_program, .setup = temporal_setup, .run = temporal_run};

/* The grids. The host's side of a generation is always 64 cells a word; bytes are made and packed on the GPU. */

enum { PACK_THREADS = 256 };

static size_t packed_bytes(const struct gol_cuda *s) {
	return s->input->n * s->input->words * sizeof(uint64_t);
}

static void layout(struct gol_cuda *s) {
	size_t n = s->input->n, row = s->variant->bytes ? n + 1 : (n + 31) / 32 * 4 + 4;
	s->stride = (int64_t)((row + GOL_CUDA_LINE - 1) / GOL_CUDA_LINE * GOL_CUDA_LINE);
	s->bytes = (n + 2) * (size_t)s->stride + 2 * GOL_CUDA_LINE; /* a word behind the last row is read, too */
}

static enum ss_status gol_cuda_memory_new(struct gol_cuda *s, const struct ss_call *call) {
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

/* The input becomes the current generation. */
static void gol_cuda_load(struct gol_cuda *s) {
	size_t pitch = s->input->words * sizeof(uint64_t);
	s->now = 0;
	if (s->variant->bytes)
		convert(s, s->unpack, s->start, (int64_t)(pitch / sizeof(uint32_t)), s->grid[0], s->stride);
	else
		across(s, s->grid[0], (size_t)s->stride, s->start, pitch);
}

/* The current generation into s->cells. */
static void gol_cuda_save(struct gol_cuda *s) {
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

static void gol_cuda_memory_free(void *opaque) {
	struct gol_cuda *s = opaque;
	const gpu_ptr memory[] = {s->start, s->memory[0], s->memory[1]};
	for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
		if (memory[i])
			gpu_free(s->gpu, memory[i]);
	free(s->cells);
}

extern const struct ss_kernel kernel_gol_cuda;

static const struct gol_cuda_variant *const variants[] = {&gol_cuda_byte, &gol_cuda_byte_shared, &gol_cuda_bits,
                                                          &gol_cuda_temporal};
#define VARIANT_NAMES "byte,byte_shared,bits,bits_temporal" /* the same order */
#define PACKED        "variant == 'bits' or variant == 'bits_temporal'"

static const struct ss_param params[] = {
	[GOL_CUDA_VARIANT] = {"variant", "layout of the cells and the work of a thread", SS_WORD, VARIANT_NAMES, "byte",
                          NULL, 0, 0},
	[GOL_CUDA_X] = {"block_size_x", "threads of a block in the x direction", SS_INT, "16..256*2", "32", NULL, 1,
                    GOL_CUDA_THREADS_MAX},
	[GOL_CUDA_Y] = {"block_size_y", "threads of a block in the y direction", SS_INT, "1..32*2", "8", NULL, 1,
                    GOL_CUDA_THREADS_MAX},
	[GOL_CUDA_WORD] = {"word", "cells of a row per thread", SS_INT, "32..128*2", "32", PACKED, 32, 128},
	[GOL_CUDA_ROWS] = {"rows", "rows per thread", SS_INT, "1..16*2", "8", "variant == 'bits'", 1, 16},
	[GOL_CUDA_NEIGHBOURS] = {"neighbours", "source of the neighbouring words", SS_WORD, "loads,shuffles", "loads",
                             "variant == 'bits'", 0, 0},
	[GOL_CUDA_DEPTH] = {"depth", "generations per pass over the grid", SS_INT, "2..16*2", "8",
                        "variant == 'bits_temporal'", 1, GOL_CUDA_KEPT_MAX},
	[GOL_CUDA_STRIP] = {"strip", "rows of a tile", SS_INT, "64..1024*2", "256", "variant == 'bits_temporal'", 1,
                        GOL_CUDA_HEIGHT_MAX},
	{.name = NULL},
};

static const char *const constraints[] = {
	"block_size_x * block_size_y >= 32 and block_size_x * block_size_y <= 1024",
	"variant != 'bits_temporal' or (block_size_x % 32 == 0 and depth * word <= 512)",
	"variant != 'bits' or neighbours != 'shuffles' or block_size_x % 32 == 0",
	NULL,
};

static void gol_cuda_program(const struct ss_call *call, struct ss_program *program) {
	variants[call->config[GOL_CUDA_VARIANT].i]->program(call->config, program);
}

static enum ss_status gol_cuda_setup(void *opaque, void *input, const struct ss_call *call) {
	struct gol_cuda *s = opaque;
	int64_t word = call->config[GOL_CUDA_WORD].i;
	if (call->config[GOL_CUDA_X].i * call->config[GOL_CUDA_Y].i > GOL_CUDA_THREADS_MAX || (word & (word - 1)))
		return kernel_fail(call, SS_INVALID, "a block has 1 to %d threads, a word 32, 64 or 128 cells",
		                   GOL_CUDA_THREADS_MAX);
	*s = (struct gol_cuda){.input = input, .gpu = call->gpu};
	s->variant = variants[call->config[GOL_CUDA_VARIANT].i];
	enum ss_status status = gol_cuda_memory_new(s, call);
	if (status == SS_OK)
		status = s->variant->setup(s, cuda_program(&kernel_gol_cuda, call), call);
	if (status == SS_OK) {
		gpu_fit(s->gpu, s->function, &s->shape);
		gpu_fit(s->gpu, s->single, &s->shape);
	}
	return status == SS_OK ? cuda_status(call) : status;
}

static void gol_cuda_reset(void *state, const struct ss_call *call) {
	(void)call;
	gol_cuda_load(state);
}

static enum ss_status gol_cuda_run(void *opaque, const struct ss_call *call) {
	struct gol_cuda *s = opaque;
	s->variant->run(s);
	return cuda_status(call);
}

/* The result as the CPU's code compares it, and the traffic of this layout. */
static struct gol_state host_state(const struct gol_cuda *s, struct gol_variant *variant) {
	*variant = (struct gol_variant){
		.unit = s->variant->bytes ? 1 : 4, .cells_per_unit = s->variant->bytes ? 1 : 32, .save = gol_bits_save};
	return (struct gol_state){.variant = variant,
	                          .input = (struct gol_input *)(uintptr_t)s->input,
	                          .stride = s->input->words * sizeof(uint64_t),
	                          .grid = {(unsigned char *)s->cells},
	                          .depth = (size_t)s->depth};
}

static enum ss_status gol_cuda_verify(void *opaque, const struct ss_call *call) {
	struct gol_cuda *s = opaque;
	struct gol_variant variant;
	gol_cuda_save(s);
	enum ss_status status = cuda_status(call);
	if (status != SS_OK)
		return status;
	struct gol_state host = host_state(s, &variant);
	if (!host.input->windows && !gol_expect(host.input, call))
		return kernel_fail(call, SS_NOMEM, "no memory to verify a grid of %zu by %zu cells", host.input->n,
		                   host.input->n);
	return gol_compare(&host, call);
}

/* The population is that of the run that was verified: all runs of a configuration end alike. */
static size_t gol_cuda_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
                               size_t most) {
	struct gol_variant variant;
	struct gol_state host = host_state(state, &variant);
	(void)call;
	return gol_figures(&host, seconds, out, most);
}

const struct ss_kernel kernel_gol_cuda = {
	.abi = SS_KERNEL_ABI,
	.name = "gol",
	.summary = "Game of Life: a stencil over cells with dead borders",
	.problem = gol_problem,
	.params = params,
	.constraints = constraints,
	.input_size = sizeof(struct gol_input),
	.state_size = sizeof(struct gol_cuda),
	.open = gol_open,
	.setup = gol_cuda_setup,
	.reset = gol_cuda_reset,
	.run = gol_cuda_run,
	.verify = gol_cuda_verify,
	.work = gol_work,
	.teardown = gol_cuda_memory_free,
	.close = gol_close,
	.figures = gol_cuda_figures,
	.device = "cuda",
	.program = gol_cuda_program,
};
