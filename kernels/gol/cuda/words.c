/* SPDX-License-Identifier: BSD-3-Clause */
/* 32 cells a word: a generation or several of them a pass over the grid. */
#include "kernels/gol/cuda/gol_cuda_impl.h"

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

const struct gol_cuda_variant gol_cuda_bits = {.program = bits_program, .setup = bits_setup, .run = bits_run};

const struct gol_cuda_variant gol_cuda_temporal = {
	.program = temporal_program, .setup = temporal_setup, .run = temporal_run};
