/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gemm on a GPU: every variant gives the product at sizes that no tile divides, a wrong element is found, and
 * impossible configurations are refused. */
#include "kernels/gemm/cuda/gemm_cuda_impl.h"
#include "tests/gpu/stencil.h"

extern const struct ss_kernel kernel_gemm_cuda;

static void check_sizes(struct gpu *gpu) {
	static const char *const configs[] = {
		"variant=simple",
		"variant=simple block_size_x=64 block_size_y=2",
		"variant=shared tile=8",
		"variant=shared tile=32",
		"variant=warp",
		"variant=warp block_m=256 block_n=128 block_k=8 thread_m=8 thread_n=8 buffers=4 group=4",
		"variant=warp block_m=128 block_n=256 block_k=16 thread_m=8 thread_n=16 buffers=2 group=1",
		"variant=warp block_m=256 block_n=64 block_k=32 thread_m=16 thread_n=8 buffers=3 group=256",
		"variant=warp block_m=32 block_n=64 block_k=8 thread_m=4 thread_n=4 buffers=8",
		NULL};
	stencil_check(&kernel_gemm_cuda, gpu, "n=1", configs);
	stencil_check(&kernel_gemm_cuda, gpu, "m=35 n=260 k=67", configs);
}

/* Shapes that differ in what a thread copies, in the pieces of a row and in the share of a warp; depths that k divides
 * and that leave buffers empty. */
static void check_types(struct gpu *gpu) {
	enum { OTHERS = 5 };
	static const char *const configs[] = {
		"variant=mma block_m=256 block_n=128 depth=32 buffers=4 group=1",
		"variant=mma block_m=64 block_n=256 warp_m=64 warp_n=32 depth=64 buffers=2 group=4",
		"variant=mma block_m=32 block_n=64 warp_m=16 warp_n=64 depth=32 buffers=8",
		"variant=mma block_m=64 block_n=64 warp_m=32 warp_n=16 depth=64 buffers=2",
		"variant=mma block_m=128 block_n=128 warp_m=128 warp_n=32 depth=32 buffers=2",
		"variant=simple block_size_x=32 block_size_y=4",
		"variant=shared tile=16",
		"variant=mma",
		"variant=mma block_m=128 block_n=64 warp_m=32 warp_n=32 depth=64 buffers=3 group=256",
		NULL};
	stencil_check(&kernel_gemm_cuda, gpu, "m=35 n=260 k=67 type=f16", configs);
	stencil_check(&kernel_gemm_cuda, gpu, "m=260 n=7 k=40 type=f16", configs);
	stencil_check(&kernel_gemm_cuda, gpu, "m=35 n=66 k=131 type=bf16", configs + OTHERS);
}

/* Both ways of multiplying, alone and in clusters that the rows of C do not fill; more tiles than blocks; strips that a
 * row of A fills exactly, in part, and more often than there are buffers; one warpgroup and two, with one tile and two.
 */
static void check_wgmma(struct gpu *gpu) {
	enum { OTHERS = 2 };
	static const char *const configs[] = {
		"variant=wgmma block_m=256 block_n=64 swizzle=64 cluster=2 buffers=2 group=1",
		"variant=wgmma block_m=64 block_n=256 swizzle=128 cluster=2 buffers=3",
		"variant=wgmma block_m=128 block_n=128 swizzle=64 cluster=1 buffers=6 group=4",
		"variant=wgmma block_m=64 block_n=128 swizzle=128 cluster=2 buffers=2",
		"variant=wgmma block_m=256 block_n=128 swizzle=64 cluster=2 buffers=4",
		"variant=wgmma block_m=128 block_n=64 swizzle=128 cluster=1 buffers=2",
		NULL};
	stencil_check(&kernel_gemm_cuda, gpu, "m=35 n=260 k=72 type=f16", configs);
	stencil_check(&kernel_gemm_cuda, gpu, "m=300 n=7 k=131 type=bf16", configs);
	stencil_check(&kernel_gemm_cuda, gpu, "m=35 n=260 k=72 type=tf32", configs + OTHERS);
	stencil_check(&kernel_gemm_cuda, gpu, "m=300 n=7 k=131 type=f8", configs + OTHERS);
	static const char *const plain[] = {"variant=simple", "variant=shared tile=8", NULL};
	stencil_check(&kernel_gemm_cuda, gpu, "m=35 n=66 k=131 type=f8", plain);
	stencil_check(&kernel_gemm_cuda, gpu, "m=35 n=66 k=131 type=tf32", plain);
}

static void check_refusals_wgmma(struct gpu *gpu, const char *type) {
	static const char *const refused[][2] = {
		{"variant=mma", "type=f16"},
		{"variant=wgmma block_n=256", "128 columns"},
		{"variant=wgmma block_m=256 buffers=6", "shared memory"},
	};
	char problem[STENCIL_TEXT];
	snprintf(problem, sizeof problem, "n=40 type=%s", type);
	struct live *live = stencil_open(&kernel_gemm_cuda, gpu, problem);
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		ok(stencil_refused(live, refused[i][0]) && strstr(live->message, refused[i][1]), "%s: %s: %s", problem,
		   refused[i][0], live->message);
	live_free(live);
}

static void check_verify(struct gpu *gpu, const char *type, const char *config) {
	char problem[STENCIL_TEXT];
	snprintf(problem, sizeof problem, "m=20 n=33 k=40 type=%s", type);
	struct live *live = stencil_open(&kernel_gemm_cuda, gpu, problem);
	struct gemm_cuda *s = live->state[0].memory;
	double rate = -1;
	ok(stencil_setup(live, config) == SS_OK && live_run(live, 0) == SS_OK && live_verify(live, 0) == SS_OK, "%s %s",
	   type, config);
	ok(stencil_has_figure(live, "rate", &rate) && rate > 0, "%s: %.3g GFLOP/s", config, rate);
	float cell = 0.5f;
	gpu_upload(gpu, s->c + ((size_t)s->n * 19 + 32) * sizeof cell, &cell, sizeof cell);
	ok(live_verify(live, 0) == SS_INCORRECT && strstr(live->message, "row 19 column 32"),
	   "a wrong element is found: %s", live->message);
	live_teardown(live, 0);
	live_free(live);
}

static void check_refusals(struct gpu *gpu) {
	struct live *live = stencil_open(&kernel_gemm_cuda, gpu, "n=40");
	ok(stencil_refused(live, "variant=warp block_m=48"), "a block that is no power of 2");
	ok(stencil_refused(live, "variant=warp block_m=256 block_n=256 thread_m=4 thread_n=4"), "4096 threads");
	ok(stencil_refused(live, "variant=simple block_size_x=256 block_size_y=32"), "8192 threads");
	ok(stencil_refused(live, "variant=shared tile=64"), "a tile of 64");
	ok(stencil_refused(live, "variant=warp block_m=32 thread_m=16"), "two threads in a column");
	ok(stencil_refused(live, "variant=warp block_m=256 block_n=256"), "more sums than registers");
	ok(stencil_refused(live, "variant=mma") && strstr(live->message, "type=f16"), "mma in f32: %s", live->message);
	live_free(live);
}

static void check_refusals16(struct gpu *gpu, const char *problem) {
	static const char *const refused[][2] = {
		{"variant=warp", "type=f32"},
		{"variant=mma block_n=32 warp_n=32", "64 columns"},
		{"variant=mma block_m=32 warp_m=64", "smaller than the tile"},
		{"variant=mma warp_m=128 warp_n=64", "4096 sums"},
		{"variant=mma block_m=256 block_n=256", "32768 sums"},
		{"variant=mma block_m=256 block_n=128 warp_m=32 warp_n=32 depth=32", "nothing to copy"},
		{"variant=mma block_m=256 block_n=128 depth=64 buffers=8", "shared memory"},
		{"variant=wgmma block_m=256 block_n=256", "32768 sums"},
		{"variant=wgmma block_m=64 block_n=64", "8192"},
	};
	struct live *live = stencil_open(&kernel_gemm_cuda, gpu, problem);
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		ok(stencil_refused(live, refused[i][0]) && strstr(live->message, refused[i][1]), "%s: %s: %s", problem,
		   refused[i][0], live->message);
	live_free(live);
}

int main(int argc, char **argv) {
	struct err err;
	(void)argc;
	struct gpu *gpu = device_get(argv, true, &err);
	if (!gpu) {
		tap_skip("gemm on a GPU", err.what);
		return tap_done();
	}
	check_sizes(gpu);
	check_types(gpu);
	check_wgmma(gpu);
	check_verify(gpu, "f32", "variant=shared");
	check_verify(gpu, "f32", "variant=warp");
	check_verify(gpu, "f16", "variant=mma");
	check_verify(gpu, "bf16", "variant=mma");
	check_verify(gpu, "f8", "variant=wgmma");
	check_verify(gpu, "tf32", "variant=wgmma");
	check_refusals(gpu);
	check_refusals16(gpu, "n=40 type=f16");
	check_refusals16(gpu, "n=40 type=bf16");
	check_refusals_wgmma(gpu, "tf32");
	check_refusals_wgmma(gpu, "f8");
	gpu_close(gpu);
	return tap_done();
}
