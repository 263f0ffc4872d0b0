/* SPDX-License-Identifier: BSD-3-Clause */
/* Hopper's tensor cores (wgmma, sm_90a). The first warpgroup of a block copies strips of A and B to BUFFERS parts of shared
 * memory (TMA); the others multiply what has arrived, and barriers tell both how far the other side is. Rows of a strip
 * have SWIZZLE bytes, permuted so that eight of them are in different banks. A block stays and takes every so many tiles of
 * BLOCK_M x BLOCK_N; CLUSTER blocks beside each other share the larger strip, A's or B's: each copies a part of it to
 * all (NVIDIA, CUTLASS, "Efficient GEMM in CUDA", "Warp Specialization"; PTX ISA).
 *
 * For f16 and bf16 (TYPE 1 and 2) wgmma reads rows of B as they are. For tf32 and e4m3 (3 and 4) it wants columns, so
 * the product is turned: B's columns are its left operand, which threads read into registers, and rows of A its right one.
 * Sums are in f32; those of e4m3 keep some 14 bits. -D: TYPE, BLOCK_M, BLOCK_N, SWIZZLE, BUFFERS, CLUSTER. */
#if defined(SWEETSPOT_EMULATED) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#include "wgmma.cuh"

enum {
	DEPTH = SWIZZLE / SIZE, /* columns of A in a strip */
	STEPS = DEPTH / PRODUCTS,
	CONSUMERS = (TURNED ? BLOCK_M : BLOCK_N) > 64 ? 2 : 1, /* warpgroups that multiply */
	THREADS = 128 * (1 + CONSUMERS),
	TILES = TURNED ? BLOCK_M / CONSUMERS / 64 : 1, /* of a warpgroup */
	SUMS = (TURNED ? BLOCK_N : BLOCK_M) / 2,       /* of a thread in a tile */
	CLUSTER_M = BLOCK_M > BLOCK_N ? 1 : CLUSTER,   /* blocks that share B's strip, or A's */
	CLUSTER_N = CLUSTER / CLUSTER_M,
	EIGHT = 8 * SWIZZLE,
	STRIP_A = BLOCK_M * SWIZZLE,
	/* B's strip is made of boxes: TURNED, of rows of SWIZZLE bytes; otherwise it is one, with rows that are permuted, too, or
	 * longer ones with a gap behind each, so that rows begin in different banks. */
	BOX_COLUMNS = TURNED ? SWIZZLE / SIZE : BLOCK_N,
	PITCH = TURNED ? SWIZZLE : SIZE == 1 ? BLOCK_N : BLOCK_N * SIZE + 32,
	BOX = DEPTH * PITCH,
	BOXES = BLOCK_N / BOX_COLUMNS,
	STRIP = STRIP_A + BOXES * BOX,
	PART = (STRIP + 1023) / 1024 * 1024
};

struct place {
	int part;
	unsigned parity;
};

static __device__ __forceinline__ void place_next(place &at) {
	if (++at.part == BUFFERS) {
		at.part = 0;
		at.parity ^= 1;
	}
}

/* Tiles in the order in which blocks take them: `group` rows (of clusters) share a column at a time. */
struct tiles {
	int rows, columns, group, number;
};

static __device__ __forceinline__ bool tiles_next(tiles &all, int *row, int *column) {
	if (all.number >= all.rows * all.columns)
		return false;
	const int part = all.group * all.columns, first = all.number / part * all.group, in = all.number % part;
	const int height = min(all.group, all.rows - first);
	*row = ((first + in % height) * CLUSTER_M + (int)cluster_rank() % CLUSTER_M) * BLOCK_M;
	*column = (in / height * CLUSTER_N + (int)cluster_rank() % CLUSTER_N) * BLOCK_N;
	all.number += gridDim.x / CLUSTER;
	return true;
}

struct block {
	char *strips;
	barrier *full, *empty;
	int count; /* of strips */
};

/* Each block of a cluster copies its share of the strip: rows of A, boxes of B, or rows of its only box. */
static __device__ __forceinline__ void strips_copy(const block &own, const place &at, const tensor_map *a, const tensor_map *b,
                                                   int row, int column, int p) {
	constexpr int boxes = TURNED ? BOXES / CLUSTER_M : 1, rows_a = BLOCK_M / CLUSTER_N, rows_b = TURNED ? 0 : DEPTH / CLUSTER_M;
	const int rank = (int)cluster_rank(), first_a = rank % CLUSTER_N * rows_a, first_b = rank % CLUSTER_M * rows_b;
	const int box = TURNED ? rank % CLUSTER_M * boxes : 0;
	char *const strip = own.strips + at.part * PART;
	barrier_wait(own.empty + at.part, at.parity ^ 1);
	barrier_expect(own.full + at.part, STRIP);
	tensor_load<(CLUSTER_N > 1)>(strip + first_a * SWIZZLE, a, own.full + at.part, p, row + first_a);
#pragma unroll
	for (int i = 0; i < boxes; i++)
		tensor_load<(CLUSTER_M > 1)>(strip + STRIP_A + (box + i) * BOX + first_b * PITCH, b, own.full + at.part,
		                             column + (box + i) * BOX_COLUMNS, p + first_b);
}

static __device__ __forceinline__ void strips_done(const block &own, int part) {
	const unsigned lane = threadIdx.x % 32;
	__syncwarp();
	if (lane < CLUSTER)
		barrier_arrive(own.empty + part, lane);
}

#if TYPE <= 2
static __device__ __forceinline__ void strips_multiply(const block &own, place &at, float (&sums)[TILES][SUMS]) {
	const int first = (threadIdx.x / 128 - 1) * TILES * 64 * SWIZZLE;
	int last = 0;
	for (int i = 0; i < own.count; i++, place_next(at)) {
		const char *const strip = own.strips + at.part * PART;
		const matrix a = matrix_at(strip + first, 16, EIGHT), b = matrix_at(strip + STRIP_A, BOX, EIGHT);
		barrier_wait(own.full + at.part, at.parity);
		products_begin();
#pragma unroll
		for (int step = 0; step < STEPS; step++)
#pragma unroll
			for (int tile = 0; tile < TILES; tile++)
				multiply(sums[tile], matrix_behind(a, tile * 64 * SWIZZLE + step * 32),
				         matrix_behind(b, step * PRODUCTS * SWIZZLE), i > 0 || step > 0);
		products_commit();
		products_wait<1>();
		if (i > 0)
			strips_done(own, last);
		last = at.part;
	}
	products_wait<0>();
	strips_done(own, last);
}

/* Nobody reads C again, and as an intrinsic a pair stays one store also where its registers are not neighbours. */
static __device__ __forceinline__ void sums_store(float *c, int n, const float (&sums)[TILES][SUMS]) {
	const int lane = threadIdx.x % 32;
	c += (ss_i64)((threadIdx.x / 128 - 1) * TILES * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4) * n + lane % 4 * 2;
#pragma unroll
	for (int i = 0; i < TILES * SUMS; i += 2)
		__stcs((float2 *)(c + (ss_i64)(i / SUMS * 64 + i / 2 % 2 * 8) * n + i % SUMS / 4 * 8),
		       make_float2(sums[i / SUMS][i % SUMS], sums[i / SUMS][i % SUMS + 1]));
}
#else
/* Columns 2g and 2g + 1 of a warp's 16 are rows g and g + 8 of its left operand. */
static __device__ __forceinline__ void columns_read(unsigned (&to)[4], const char *strip, int step) {
	const int lane = threadIdx.x % 32, t = lane % 4;
	const int column = ((int)threadIdx.x / 32 - 4) * 16 * SIZE;
	strip += step * PRODUCTS * PITCH;
#if TYPE == 3
	const uint2 x = *(const uint2 *)(strip + t * PITCH + column + lane / 4 * 8);
	const uint2 y = *(const uint2 *)(strip + (t + 4) * PITCH + column + lane / 4 * 8);
	to[0] = x.x, to[1] = x.y, to[2] = y.x, to[3] = y.y;
#else
	/* Lanes want rows 4t to 4t + 3 of both halves, and get pairs of them from matrices of eight rows, which are in
	 * different banks as half of the lanes get their second pair first. */
	const int name = lane % 8 / 2, pair = lane / 8 % 2 ^ name / 2;
	const unsigned at = (unsigned)((lane / 16 * 16 + name * 4 + pair * 2 + lane % 2) * PITCH + column);
	unsigned some[4];
	ss_matrices_read<true>(some, strip + permuted(at, PITCH));
	to[0] = __byte_perm(some[0], some[1], t < 2 ? 0x6420 : 0x2064);
	to[1] = __byte_perm(some[0], some[1], t < 2 ? 0x7531 : 0x3175);
	to[2] = __byte_perm(some[2], some[3], t < 2 ? 0x6420 : 0x2064);
	to[3] = __byte_perm(some[2], some[3], t < 2 ? 0x7531 : 0x3175);
#endif
}

/* While the tensor cores multiply, the next columns are read. */
static __device__ __forceinline__ void strips_multiply(const block &own, place &at, float (&sums)[TILES][SUMS]) {
	const char *const b = own.strips + STRIP_A;
	unsigned some[2][4];
	barrier_wait(own.full + at.part, at.parity);
	columns_read(some[0], b + at.part * PART, 0);
	int last = 0;
	for (int i = 0; i < own.count; i++) {
		const int now = at.part;
		const matrix a = matrix_at(own.strips + now * PART, 16, EIGHT);
		place_next(at);
#pragma unroll
		for (int step = 0; step < STEPS; step++) {
			products_begin();
			multiply(sums[0], some[step % 2], matrix_behind(a, step * 32), i > 0 || step > 0);
			products_commit();
			products_wait<1>();
			if (step == 0 && i > 0)
				strips_done(own, last);
			if (step + 1 < STEPS) {
				columns_read(some[(step + 1) % 2], b + now * PART, step + 1);
			} else if (i + 1 < own.count) {
				barrier_wait(own.full + at.part, at.parity);
				columns_read(some[0], b + at.part * PART, 0);
			}
		}
		last = now;
	}
	products_wait<0>();
	strips_done(own, last);
}

static __device__ __forceinline__ void sums_store(float *c, int n, const float (&sums)[TILES][SUMS]) {
	const int lane = threadIdx.x % 32;
	c += (ss_i64)(lane % 4 * 2) * n + (threadIdx.x / 32 - 4) * 16 + lane / 4 * 2;
#pragma unroll
	for (int i = 0; i < SUMS; i += 4) {
		__stcs((float2 *)(c + (ss_i64)(2 * i) * n), make_float2(sums[0][i], sums[0][i + 2]));
		__stcs((float2 *)(c + (ss_i64)(2 * i + 1) * n), make_float2(sums[0][i + 1], sums[0][i + 3]));
	}
}
#endif

static __device__ __forceinline__ void tiles_multiply(const block &own, tiles &all, float *c, int m, int n) {
	place at = {0, 0};
	for (int row, column; tiles_next(all, &row, &column);) {
		float sums[TILES][SUMS];
		strips_multiply(own, at, sums);
#pragma unroll
		for (int tile = 0; tile < TILES; tile++)
			products_hold(sums[tile]);
		if (row < m && column < n)
			sums_store(c + (ss_i64)row * n + column, n, sums);
	}
}

static __device__ __forceinline__ void tiles_copy(const block &own, tiles &all, const tensor_map *a, const tensor_map *b) {
	place at = {0, 0};
	for (int row, column; tiles_next(all, &row, &column);)
		for (int i = 0; i < own.count; i++, place_next(at))
			strips_copy(own, at, a, b, row, column, i * DEPTH);
}

/* m: rows of C that are asked for; n: those of the padded matrix, a multiple of the tile. */
extern "C" __global__ void __cluster_dims__(CLUSTER) __launch_bounds__(THREADS, 1)
	gemm_wgmma(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b, float *c, int m, int n, int k,
               int group) {
	SS_DYNAMIC(char, bytes);
	char *const strips = bytes + (1024 - (unsigned)__cvta_generic_to_shared(bytes) % 1024) % 1024;
	barrier *const full = (barrier *)(strips + BUFFERS * PART);
	const block own = {strips, full, full + BUFFERS, (k + DEPTH - 1) / DEPTH};
	tiles all = {(m + CLUSTER_M * BLOCK_M - 1) / (CLUSTER_M * BLOCK_M), (n + CLUSTER_N * BLOCK_N - 1) / (CLUSTER_N * BLOCK_N),
	             group, (int)(blockIdx.x / CLUSTER)};
	if (threadIdx.x < BUFFERS) {
		barrier_init(own.full + threadIdx.x, 1);
		barrier_init(own.empty + threadIdx.x, CONSUMERS * 4 * CLUSTER);
	}
	cluster_barrier();
	if (threadIdx.x < 128) {
		if (CONSUMERS == 2)
			registers_share<false>();
		if (threadIdx.x == 0)
			tiles_copy(own, all, &a, &b);
	} else {
		if (CONSUMERS == 2)
			registers_share<true>();
		tiles_multiply(own, all, c, m, n);
	}
	cluster_barrier(); /* no block ends while others arrive at its barriers */
}
#else
struct alignas(64) tensor_map {
	unsigned long long opaque[16];
};
extern "C" __global__ void gemm_wgmma(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b, float *c, int m,
                                      int n, int k, int group) {
	__trap(); /* other architectures do not have wgmma */
}
#endif
