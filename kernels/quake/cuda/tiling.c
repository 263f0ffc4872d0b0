/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles of equal size, a block each: as few cells as possible on the SM that has the most, those around tiles included.
 */
#include <config.h>

#include "kernels/quake/cuda/quake_cuda.h"

enum { LANES = 32, NEWS_BYTES = 16 };

static int divide_up(int a, int b) {
	return (a + b - 1) / b;
}

/* tiles.cu: news of each warp and one more, a count a step, an energy a step and thread. */
static unsigned shared_bytes(int warps, int depth) {
	return (unsigned)(NEWS_BYTES * (warps + 1) + (int)sizeof(uint32_t) * depth +
	                  (int)sizeof(float) * depth * warps * LANES);
}

/* Blocks of across x down warps. */
static bool shape(int n, int rows, int depth, int across, int down, struct quake_cuda_tiles *tiles) {
	int width = across * LANES - 2 * depth, height = down * rows - 2 * depth;
	if (width < 1 || height < 1)
		return false;
	int columns = divide_up(n, width), lines = divide_up(n, height);
	*tiles = (struct quake_cuda_tiles){.n = n,
	                                   .width = divide_up(n, columns),
	                                   .height = divide_up(n, lines),
	                                   .depth = depth,
	                                   .blocks = (unsigned)columns * (unsigned)lines};
	tiles->shape = (struct gpu_shape){.grid = {(unsigned)columns, (unsigned)lines},
	                                  .block = {(unsigned)(across * LANES), (unsigned)down},
	                                  .shared = shared_bytes(across * down, depth)};
	return true;
}

/* Warps on the busiest SM. A block more than there are SMs is as bad as a second one for all. */
static int64_t cost(const struct quake_cuda_tiles *tiles, unsigned sms) {
	return (int64_t)((tiles->blocks + sms - 1) / sms) * (tiles->shape.block[0] / LANES) * tiles->shape.block[1];
}

static bool fits(const struct quake_cuda *s, const struct quake_cuda_tiles *tiles, unsigned sms) {
	unsigned threads = tiles->shape.block[0] * tiles->shape.block[1];
	int each = gpu_blocks_per_sm(s->gpu, s->function, threads, tiles->shape.shared);
	return each > 0 && tiles->blocks <= sms * (unsigned)each;
}

bool quake_cuda_tiling(const struct quake_cuda *s, int rows, int depth, bool all, struct quake_cuda_tiles *tiles) {
	int warps = gpu_function_facts(s->function)->threads_max / LANES;
	unsigned sms = (unsigned)gpu_facts(s->gpu)->sms;
	bool found = false;
	for (int across = 1; across <= warps; across++)
		for (int down = 1; across * down <= warps; down++) {
			struct quake_cuda_tiles next;
			if (!shape((int)s->host.input->n, rows, depth, across, down, &next))
				continue;
			if ((!found || cost(&next, sms) < cost(tiles, sms)) && (!all || fits(s, &next, sms))) {
				*tiles = next;
				found = true;
			}
		}
	return found;
}
