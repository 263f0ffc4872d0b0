/* SPDX-License-Identifier: BSD-3-Clause */
/* Hopper's tensor cores (wgmma, sm_90a). The first warpgroup of a block copies strips of A and B to BUFFERS parts of shared
 * memory (TMA); the others multiply what has arrived, and barriers tell both how far the other side is. Rows of a strip
 * have SWIZZLE bytes, permuted so that eight of them are in different banks. A block stays and takes every so many tiles of
 * BLOCK_M x BLOCK_N; CLUSTER blocks below each other share their columns of B: each copies a part of them to all (NVIDIA,
 * CUTLASS, "Efficient GEMM in CUDA", "Warp Specialization"; PTX ISA).
 *
 * For f16 and bf16 (TYPE 1 and 2) wgmma reads rows of B as they are. For tf32 and e4m3 (3 and 4) it wants columns, so
 * the product is turned: B's columns are its left operand, which threads read into registers, and rows of A its right one.
 * Sums are in f32; those of e4m3 keep some 14 bits. -D: TYPE, BLOCK_M, BLOCK_N, SWIZZLE, BUFFERS, CLUSTER. */
#if defined(SWEETSPOT_EMULATED) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#include "wgmma.cuh"

enum {
	DEPTH = SWIZZLE / SIZE, /* columns of A in a strip */
	STEPS = DEPTH / PRODUCTS,
	CONSUMERS = TURNED ? (BLOCK_M > 64 ? 2 : 1) : BLOCK_N / 128, /* warpgroups that multiply */
	THREADS = 128 * (1 + CONSUMERS),
	TILES = TURNED ? BLOCK_M / CONSUMERS / 64 : 2, /* of a warpgroup */
	SUMS = (TURNED ? BLOCK_N : BLOCK_M) / 2,       /* of a thread in a tile */
	EIGHT = 8 * SWIZZLE,
	STRIP_A = BLOCK_M * SWIZZLE,
	/* B's strip is made of boxes: TURNED, of rows of SWIZZLE bytes; otherwise of 128 columns and a gap, so that rows four
	 * apart (or two, with e4m3) begin in different banks. */
	BOX_COLUMNS = TURNED ? SWIZZLE / SIZE : 128,
	PITCH = TURNED ? SWIZZLE : 128 * SIZE + (SIZE == 4 ? 32 : 16),
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
	*row = ((first + in % height) * CLUSTER + (int)cluster_rank()) * BLOCK_M;
	*column = in / height * BLOCK_N;
	all.number += gridDim.x / CLUSTER;
	return true;
}

struct block {
	char *strips;
	barrier *full, *empty;
	int count; /* of strips */
};

/* Each block of a cluster copies its share of B: some boxes, or some rows of all boxes. */
static __device__ __forceinline__ void strips_copy(const block &own, const place &at, const tensor_map *a, const tensor_map *b,
                                                   int row, int column, int p) {
	constexpr int boxes = TURNED ? BOXES / CLUSTER : BOXES, rows = TURNED ? DEPTH : DEPTH / CLUSTER;
	const int rank = (int)cluster_rank(), box = TURNED ? rank * boxes : 0, first = TURNED ? 0 : rank * rows;
	char *const strip = own.strips + at.part * PART;
	barrier_wait(own.empty + at.part, at.parity ^ 1);
	barrier_expect(own.full + at.part, STRIP);
	tensor_load<false>(strip, a, own.full + at.part, p, row);
#pragma unroll
	for (int i = 0; i < boxes; i++)
		tensor_load<(CLUSTER > 1)>(strip + STRIP_A + (box + i) * BOX + first * PITCH, b, own.full + at.part,
		                           column + (box + i) * BOX_COLUMNS, p + first);
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

/* Neighbours exchange pairs, so that four lanes store 64 bytes of a row. */
static __device__ __forceinline__ void sums_store(float *c, int n, const float (&sums)[TILES][SUMS]) {
	const int lane = threadIdx.x % 32, odd = lane % 2;
	c += (ss_i64)((threadIdx.x / 128 - 1) * TILES * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4) * n;
	c += odd * 8 + lane % 4 / 2 * 4;
#pragma unroll
	for (int i = 0; i < TILES * SUMS; i += 4) {
		const int tile = i / SUMS, down = i / 4 % 2, j = i % SUMS / 8 * 8;
		const float *const left = &sums[tile][j + 2 * down], *const right = left + 4;
		const float x = __shfl_xor_sync(0xffffffffu, odd ? left[0] : right[0], 1);
		const float y = __shfl_xor_sync(0xffffffffu, odd ? left[1] : right[1], 1);
		*(float4 *)(c + (ss_i64)(tile * 64 + 8 * down) * n + 2 * j) =
			odd ? make_float4(x, y, right[0], right[1]) : make_float4(left[0], left[1], x, y);
	}
}
#else
/* Four columns of B each for rows g and g + 8 of two tiles: lane 4g + t reads columns 4g to 4g + 3. */
static __device__ __forceinline__ void columns_read(unsigned (&to)[TILES][4], const char *from, int step) {
	from += step * PRODUCTS * PITCH;
#if TYPE == 3
	const uint4 x = *(const uint4 *)from, y = *(const uint4 *)(from + 4 * PITCH);
	to[0][0] = x.x, to[0][1] = x.y, to[1][0] = x.z, to[1][1] = x.w;
	to[0][2] = y.x, to[0][3] = y.y, to[1][2] = y.z, to[1][3] = y.w;
#else
	/* Half of the lanes read their rows 2, 3, 0, 1, because 0, 1, 2, 3 would be in the banks of others. */
	const bool swapped = threadIdx.x & 2;
	const int first = swapped ? 2 * PITCH : 0, second = 2 * PITCH - first;
#pragma unroll
	for (int i = 0; i < 2; i++, from += 16 * PITCH) {
		const unsigned p = *(const unsigned *)(from + first), q = *(const unsigned *)(from + first + PITCH);
		const unsigned r = *(const unsigned *)(from + second), s = *(const unsigned *)(from + second + PITCH);
		const unsigned x = __byte_perm(p, q, 0x5140), y = __byte_perm(r, s, 0x5140);
		const unsigned z = __byte_perm(p, q, 0x7362), w = __byte_perm(r, s, 0x7362);
		to[0][2 * i] = __byte_perm(x, y, swapped ? 0x1054 : 0x5410);
		to[0][2 * i + 1] = __byte_perm(x, y, swapped ? 0x3276 : 0x7632);
		to[1][2 * i] = __byte_perm(z, w, swapped ? 0x1054 : 0x5410);
		to[1][2 * i + 1] = __byte_perm(z, w, swapped ? 0x3276 : 0x7632);
	}
#endif
}

/* While the tensor cores multiply, the next columns are read. */
static __device__ __forceinline__ void strips_multiply(const block &own, place &at, float (&sums)[TILES][SUMS]) {
	const int lane = threadIdx.x % 32, row = TYPE == 3 ? lane % 4 : lane % 4 * 4;
	const char *const mine = own.strips + STRIP_A + (threadIdx.x / 128 - 1) * BOX + row * PITCH +
	                         (threadIdx.x % 128 / 32 * 32 + lane / 4 * 4) * SIZE;
	unsigned some[2][TILES][4];
	barrier_wait(own.full + at.part, at.parity);
	columns_read(some[0], mine + at.part * PART, 0);
	int last = 0;
	for (int i = 0; i < own.count; i++) {
		const int now = at.part;
		const matrix a = matrix_at(own.strips + now * PART, 16, EIGHT);
		place_next(at);
#pragma unroll
		for (int step = 0; step < STEPS; step++) {
			products_begin();
#pragma unroll
			for (int tile = 0; tile < TILES; tile++)
				multiply(sums[tile], some[step % 2][tile], matrix_behind(a, step * 32), i > 0 || step > 0);
			products_commit();
			products_wait<1>();
			if (step == 0 && i > 0)
				strips_done(own, last);
			if (step + 1 < STEPS) {
				columns_read(some[(step + 1) % 2], mine + now * PART, step + 1);
			} else if (i + 1 < own.count) {
				barrier_wait(own.full + at.part, at.parity);
				columns_read(some[0], mine + at.part * PART, 0);
			}
		}
		last = now;
	}
	products_wait<0>();
	strips_done(own, last);
}

static __device__ __forceinline__ void sums_store(float *c, int n, const float (&sums)[TILES][SUMS]) {
	const int lane = threadIdx.x % 32;
	c += (ss_i64)(lane % 4 * 2) * n + (threadIdx.x / 32 - 4) * 32 + lane / 4 * 4;
#pragma unroll
	for (int j = 0; j < SUMS / 2; j++) {
		const int i = j / 2 * 4 + j % 2;
		*(float4 *)(c + (ss_i64)(j / 2 * 8 + j % 2) * n) = make_float4(sums[0][i], sums[0][i + 2], sums[1][i], sums[1][i + 2]);
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
		if (row < m)
			sums_store(c + (ss_i64)row * n + column, n, sums);
	}
}

static __device__ __forceinline__ void tiles_copy(const block &own, tiles &all, const tensor_map *a, const tensor_map *b) {
	place at = {0, 0};
	for (int row, column; tiles_next(all, &row, &column);)
		for (int i = 0; i < own.count; i++, place_next(at))
			strips_copy(own, at, a, b, row, column, i * DEPTH);
}

/* m, n: of C, multiples of the tile, except that m may lack some for the last cluster. */
extern "C" __global__ void __cluster_dims__(CLUSTER) __launch_bounds__(THREADS, 1)
	gemm_wgmma(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b, float *c, int m, int n, int k,
               int group) {
	SS_DYNAMIC(char, bytes);
	char *const strips = bytes + (1024 - (unsigned)__cvta_generic_to_shared(bytes) % 1024) % 1024;
	barrier *const full = (barrier *)(strips + BUFFERS * PART);
	const block own = {strips, full, full + BUFFERS, (k + DEPTH - 1) / DEPTH};
	tiles all = {(m + CLUSTER * BLOCK_M - 1) / (CLUSTER * BLOCK_M), n / BLOCK_N, group, (int)(blockIdx.x / CLUSTER)};
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
