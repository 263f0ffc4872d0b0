/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gol on a GPU: every variant gives the oracle's cells on sizes that are not multiples of anything, for any number
 * of generations; errors are found and impossible configurations are refused. */
#include "kernels/gol/cuda/gol_cuda_impl.h"
#include "tests/gpu/stencil.h"

extern const struct ss_kernel kernel_gol_cuda;

static void check_sizes(struct gpu *gpu) {
	static const char *const sizes[] = {"n=1 generations=1",
	                                    "n=2 generations=3 density=100",
	                                    "n=32 generations=8",
	                                    "n=33 generations=7",
	                                    "n=64 generations=17 density=50",
	                                    "n=97 generations=5",
	                                    "n=129 generations=16 density=40"};
	static const char *const configs[] = {
		"variant=byte",
		"variant=byte block_size_x=37 block_size_y=3",
		"variant=byte_shared",
		"variant=byte_shared block_size_x=5 block_size_y=7",
		"variant=bits word=32 rows=1",
		"variant=bits word=64 rows=3 block_size_x=7 block_size_y=5",
		"variant=bits word=128 rows=16",
		"variant=bits word=32 rows=4 neighbours=shuffles",
		"variant=bits word=64 rows=2 neighbours=shuffles block_size_x=64",
		"variant=bits word=128 rows=8 neighbours=shuffles",
		"variant=bits_temporal word=32 depth=1 strip=1",
		"variant=bits_temporal word=32 depth=4 strip=5",
		"variant=bits_temporal word=32 depth=16 strip=64 block_size_y=2",
		"variant=bits_temporal word=64 depth=3 strip=10 block_size_x=64 block_size_y=1",
		"variant=bits_temporal word=128 depth=2 strip=33 block_size_y=3",
		NULL};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		stencil_check(&kernel_gol_cuda, gpu, sizes[i], configs);
}

/* Several tiles beside each other, some of them without an edge of the grid. */
static void check_tiles(struct gpu *gpu) {
	static const char *const configs[] = {
		"variant=bits word=32 rows=4 neighbours=shuffles",
		"variant=bits word=128 rows=2",
		"variant=bits_temporal word=32 depth=8 strip=500",
		"variant=bits_temporal word=32 depth=16 strip=600 block_size_x=96 block_size_y=2",
		"variant=bits_temporal word=64 depth=4 strip=64 block_size_x=64 block_size_y=4",
		NULL};
	stencil_check(&kernel_gol_cuda, gpu, "n=2950 generations=9", configs);
}

static void spoil(struct gol_cuda *s, size_t byte) {
	uint8_t cells;
	gpu_ptr at = s->grid[s->now] + byte;
	gpu_download(s->gpu, &cells, at, 1);
	cells ^= 1;
	gpu_upload(s->gpu, at, &cells, 1);
}

static void check_verify(struct gpu *gpu, const char *config) {
	struct live *live = stencil_open(&kernel_gol_cuda, gpu, "n=50 generations=4 density=40");
	struct gol_cuda *s = live->state[0].memory;
	double population = -1;
	ok(stencil_setup(live, config) == SS_OK && live_run(live, 0) == SS_OK && live_verify(live, 0) == SS_OK, "%s",
	   config);
	ok(stencil_has_figure(live, "population", &population) && population > 0, "%s: population %.0f", config,
	   population);
	spoil(s, 49 * (size_t)s->stride);
	ok(live_verify(live, 0) == SS_INCORRECT, "%s: a wrong cell is found", config);
	ok(live_run(live, 0) == SS_OK && live_verify(live, 0) == SS_OK, "%s: another run is right again", config);
	live_teardown(live, 0);
	live_free(live);
}

static void check_refusals(struct gpu *gpu) {
	struct live *live = stencil_open(&kernel_gol_cuda, gpu, "n=50");
	ok(stencil_refused(live, "variant=bits word=48"), "word=48");
	ok(stencil_refused(live, "variant=bits neighbours=shuffles block_size_x=48"), "shuffles in a part of a warp");
	ok(stencil_refused(live, "variant=bits_temporal block_size_x=16"), "half a warp");
	ok(stencil_refused(live, "variant=bits_temporal word=64 depth=16"), "more rows than there are registers");
	ok(stencil_refused(live, "variant=byte block_size_x=64 block_size_y=32"), "2048 threads");
	live_free(live);
}

int main(int argc, char **argv) {
	struct err err;
	(void)argc;
	struct gpu *gpu = device_get(argv, true, &err);
	if (!gpu) {
		tap_skip("gol on a GPU", err.what);
		return tap_done();
	}
	check_sizes(gpu);
	check_tiles(gpu);
	check_verify(gpu, "variant=byte");
	check_verify(gpu, "variant=bits");
	check_verify(gpu, "variant=bits_temporal");
	check_refusals(gpu);
	gpu_close(gpu);
	return tap_done();
}
