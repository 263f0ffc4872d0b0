/* SPDX-License-Identifier: BSD-3-Clause */
/* The Game of Life on a GPU: a byte a cell, or 32 cells a word. */
#ifndef KERNELS_GOL_CUDA_GOL_CUDA_IMPL_H
#define KERNELS_GOL_CUDA_GOL_CUDA_IMPL_H
#include "kernels/cuda.h"
#include "kernels/gol/gol.h"

/* Places among the parameters. */
enum {
	GOL_CUDA_VARIANT,
	GOL_CUDA_X,
	GOL_CUDA_Y,
	GOL_CUDA_WORD,
	GOL_CUDA_ROWS,
	GOL_CUDA_NEIGHBOURS,
	GOL_CUDA_DEPTH,
	GOL_CUDA_STRIP
};

/* Two grids. Rows are whole cache lines, with at least a dead unit (a byte or a word) behind the last cell, and so
 * before the first of the row that follows; there is a dead row before row 0 and after the last. */
struct gol_cuda {
	const struct gol_cuda_variant *variant;
	const struct gol_input *input; /* not owned */
	struct gpu *gpu;
	gpu_ptr start;              /* the input: rows of words, as on the host */
	gpu_ptr memory[2], grid[2]; /* grid: where row 0 begins */
	int64_t stride;             /* bytes */
	size_t bytes;               /* of memory */
	uint64_t *cells;            /* the result, for the host */
	int now;

	const struct gpu_function *function, *single, *unpack, *pack;
	struct gpu_shape shape;
	int64_t depth, height;
};

/* depth: generations of a pass. */
struct gol_cuda_variant {
	bool bytes; /* a byte a cell */
	void (*program)(const struct ss_value *config, struct ss_program *program);
	enum ss_status (*setup)(struct gol_cuda *s, const struct gpu_module *module, const struct ss_call *call);
	void (*run)(struct gol_cuda *s);
};

enum { GOL_CUDA_LINE = 128, GOL_CUDA_THREADS_MAX = 1024, GOL_CUDA_HEIGHT_MAX = GOL_N_MAX };
/* Words of depth generations that are kept in registers; more of them would not be. */
enum { GOL_CUDA_KEPT_MAX = 16 };
#endif
