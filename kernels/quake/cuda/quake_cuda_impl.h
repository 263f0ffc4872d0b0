/* SPDX-License-Identifier: BSD-3-Clause */
/* quake on a GPU: one kernel launch a step (step.cu), or many steps on tiles in registers (tiles.cu). */
#ifndef KERNELS_QUAKE_CUDA_QUAKE_CUDA_IMPL_H
#define KERNELS_QUAKE_CUDA_QUAKE_CUDA_IMPL_H
#include "kernels/cuda.h"
#include "kernels/quake/quake.h"

/* Places among the parameters. */
enum {
	QUAKE_CUDA_VARIANT,
	QUAKE_CUDA_X,
	QUAKE_CUDA_Y,
	QUAKE_CUDA_REDUCTION,
	QUAKE_CUDA_TILE,
	QUAKE_CUDA_EDGES,
	QUAKE_CUDA_LENGTH,
	QUAKE_CUDA_ROWS,
	QUAKE_CUDA_DEPTH
};
enum { QUAKE_CUDA_THREADS_MAX = 1024, QUAKE_CUDA_LENGTH_MAX = 4096 };

/* Arguments of a step, as in the .cu files. */
struct quake_cuda_tally {
	double energy;
	uint64_t count;
};

struct quake_cuda_tiles {
	int n, width, height, depth; /* of the grid, of a tile, around it */
	struct gpu_shape shape;
	unsigned blocks;
	int64_t chunk; /* steps of which the blocks' sums are kept */
};

struct quake_cuda {
	struct quake_state host; /* the result; of it only what quake.h says is in use */
	const struct quake_cuda_variant *variant;
	struct gpu *gpu;
	gpu_ptr start, grid[2], device_tallies;
	struct quake_cuda_tally *tallies;
	const struct gpu_function *function; /* a step, or steps on tiles */
	int now;                             /* the grid with the result */

	struct gpu_shape shape;             /* stepwise */
	const struct gpu_function *advance; /* graph */
	struct gpu_graph *graph;
	gpu_ptr base;
	int64_t length;

	const struct gpu_function *gather; /* on tiles */
	gpu_ptr mail, energies, counts;
	struct quake_cuda_tiles tiles;
	uint32_t epoch;
};

struct quake_cuda_variant {
	const char *name;
	void (*program)(const struct ss_value *config, struct ss_program *program);
	enum ss_status (*setup)(struct quake_cuda *s, const struct gpu_module *module, const struct ss_call *call);
	void (*run)(struct quake_cuda *s);
};
#endif
