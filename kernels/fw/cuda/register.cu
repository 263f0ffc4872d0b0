/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocked Floyd-Warshall with tiles in registers. Venkataraman, Sahni and Mukhopadhyaya, "A blocked all-pairs
 * shortest-paths algorithm", 2003, has the phases; here the second is a min-plus product, too, as the third: through a
 * closed diagonal tile one step reaches what its sequence of vertices would.
 *
 * BLOCK: edge of a tile. TILE_M x TILE_N: words of a thread, as rows and columns. STAGES: slices of the operands in shared
 * memory. UNROLL: steps of the inner loop. LANES: distances in a word, 1 of 32 bits or 2 of 16.
 *
 * The left operand is read along the middle vertex: it comes from `across`, where a tile of column k is kept transposed,
 * one distance a word (with LANES 2 it is in both halves), so that both operands are rows to be copied and read 16 bytes at
 * a time. */
#include "sweetspot.cuh"

#define SLICE 16
#define WIDE (BLOCK / LANES)
#define TX (WIDE / TILE_N)
#define TY (BLOCK / TILE_M)
#define THREADS (TX * TY)
#define SLICES (BLOCK / SLICE)
#define SLICE_WORDS (SLICE * (BLOCK + WIDE))
/* Threads that an SM should hold, so that registers are divided well. */
#define RESIDENT (TILE_M * TILE_N <= 16 ? 768 : TILE_M * TILE_N <= 64 ? 512 : 256)
#define BLOCKS_MIN (RESIDENT > THREADS ? RESIDENT / THREADS : 1)

static __device__ __forceinline__ int addmin(int a, int b, int c) {
#if LANES == 2
	return (int)ss_addmin2((unsigned)a, (unsigned)b, (unsigned)c);
#else
	return ss_addmin(a, b, c);
#endif
}

/* A distance of a word, in the form of the left operand. */
static __device__ __forceinline__ int pair(int word, int lane) {
#if LANES == 2
	return (int)(((unsigned)word >> 16 * lane & 0xffffu) * 0x10001u);
#else
	return word;
#endif
}

template <int N> static __device__ __forceinline__ void words_load(int *to, const int *from) {
	if constexpr (N % 4 == 0) {
#pragma unroll
		for (int i = 0; i < N; i += 4) {
			const int4 four = *(const int4 *)(from + i);
			to[i] = four.x, to[i + 1] = four.y, to[i + 2] = four.z, to[i + 3] = four.w;
		}
	} else {
#pragma unroll
		for (int i = 0; i < N; i += 2) {
			const int2 two = *(const int2 *)(from + i);
			to[i] = two.x, to[i + 1] = two.y;
		}
	}
}

/* From the matrix: past the first-level cache, which may be behind if another SM has written the tile in the same launch. */
static __device__ __forceinline__ void words_get(int *to, const int *from) {
	const int4 four = __ldcg((const int4 *)from);
	to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

/* A thread's rows (columns) come in groups of 4, the groups far apart: neighbours then read neighbouring 16 bytes. */
static __device__ __forceinline__ int row_of(int group) {
	return group * (BLOCK / (TILE_M / 4)) + (int)threadIdx.x / TX * 4;
}

static __device__ __forceinline__ int column_of(int group) {
	return group * (WIDE / (TILE_N / 4)) + (int)threadIdx.x % TX * 4;
}

struct operand {
	const int *from;
	int pitch; /* words; within a tile 32 bits are enough */
};

/* Hides the value, so that the addresses of a tile are computed again for its stores: kept, they would take
 * registers from the loop. */
static __device__ __forceinline__ int forget(int value) {
#ifndef SWEETSPOT_EMULATED
	asm volatile("" : "+r"(value));
#endif
	return value;
}

/* Each thread copies the same part of each slice, 16 bytes at a time. */
template <int WIDTH> static __device__ __forceinline__ operand operand_mine(operand o) {
	o.from += (int)threadIdx.x / (WIDTH / 4) * o.pitch + (int)threadIdx.x % (WIDTH / 4) * 4;
	return o;
}

template <int WIDTH> static __device__ __forceinline__ void slice_copy(int *to, operand &o) {
	const int passes = SLICE * WIDTH / 4 > THREADS ? SLICE * WIDTH / 4 / THREADS : 1;
#pragma unroll
	for (int pass = 0; pass < passes; pass++)
		if (SLICE * WIDTH / 4 >= THREADS || threadIdx.x < SLICE * WIDTH / 4)
			ss_copy16(to + (int)threadIdx.x * 4 + pass * THREADS * 4, o.from + pass * (THREADS / (WIDTH / 4)) * o.pitch);
	o.from += SLICE * o.pitch;
}

/* The left operand from a tile of the matrix. */
static __device__ __forceinline__ void slice_transpose(int *to, operand &o) {
	for (int i = threadIdx.x; i < BLOCK * SLICE / LANES / 4; i += THREADS) {
		const int row = i % BLOCK, at = i / BLOCK * 4;
		int four[4];
		words_get(four, o.from + row * o.pitch + at);
#pragma unroll
		for (int e = 0; e < 4 * LANES; e++)
			to[(at * LANES + e) * BLOCK + row] = pair(four[e / LANES], e % LANES);
	}
	o.from += SLICE / LANES;
}

static __device__ __forceinline__ void slice_get(int *to, operand &left, operand &right, bool transpose) {
	if (transpose)
		slice_transpose(to, left);
	else
		slice_copy<BLOCK>(to, left);
	slice_copy<WIDE>(to + SLICE * BLOCK, right);
}

/* Without the instruction for two lanes (before 9.0) a step is long, and more of them in a row spill. */
#if LANES == 2 && defined __CUDA_ARCH__ && __CUDA_ARCH__ < 900
enum { STEPS = 1 };
#else
enum { STEPS = UNROLL };
#endif

static __device__ __forceinline__ void slice_relax(int acc[TILE_M][TILE_N], const int *left) {
	const int *const right = left + SLICE * BLOCK;
#pragma unroll STEPS
	for (int k = 0; k < SLICE; k++) {
		int a[TILE_M], b[TILE_N];
#pragma unroll
		for (int g = 0; g < TILE_M / 4; g++)
			words_load<4>(a + 4 * g, left + k * BLOCK + row_of(g));
#pragma unroll
		for (int g = 0; g < TILE_N / 4; g++)
			words_load<4>(b + 4 * g, right + k * WIDE + column_of(g));
#pragma unroll
		for (int m = 0; m < TILE_M; m++)
#pragma unroll
			for (int n = 0; n < TILE_N; n++)
				acc[m][n] = addmin(a[m], b[n], acc[m][n]);
	}
}

static __device__ __forceinline__ void tile_load(int acc[TILE_M][TILE_N], const int *tile, int pitch) {
#pragma unroll
	for (int m = 0; m < TILE_M; m++)
#pragma unroll
		for (int g = 0; g < TILE_N / 4; g++)
			words_get(acc[m] + 4 * g, tile + (row_of(m / 4) + m % 4) * pitch + column_of(g));
}

/* (As an int4 it is taken apart by the compiler.) */
static __device__ __forceinline__ void words_store4(int *to, int x, int y, int z, int w) {
#ifdef SWEETSPOT_EMULATED
	to[0] = x, to[1] = y, to[2] = z, to[3] = w;
#else
	asm volatile("st.global.v4.s32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(x), "r"(y), "r"(z), "r"(w) : "memory");
#endif
}

static __device__ __forceinline__ void tile_store(const int acc[TILE_M][TILE_N], int *tile, int pitch) {
	pitch = forget(pitch);
#pragma unroll
	for (int m = 0; m < TILE_M; m++)
#pragma unroll
		for (int g = 0; g < TILE_N / 4; g++)
			words_store4(tile + (row_of(m / 4) + m % 4) * pitch + column_of(g), acc[m][4 * g], acc[m][4 * g + 1],
			             acc[m][4 * g + 2], acc[m][4 * g + 3]);
}

/* tile = min(tile, left (x) right). All of the operands is in shared memory before the first thread returns: the tile may be
 * one of them. */
static __device__ __forceinline__ void product(int acc[TILE_M][TILE_N], int *shared, const int *tile, int pitch,
                                               operand left, operand right, bool transpose) {
	int put = 0, get = 0; /* stages */
	if (!transpose)
		left = operand_mine<BLOCK>(left);
	right = operand_mine<WIDE>(right);
	for (; put < STAGES - 1; put++) {
		slice_get(shared + put * SLICE_WORDS, left, right, transpose);
		ss_copies_commit();
	}
	tile_load(acc, tile, pitch);
#pragma unroll 1
	for (int slice = 0; slice < SLICES; slice++) {
		if (STAGES > 1)
			ss_copies_wait<(STAGES > 1 ? STAGES - 2 : 0)>();
		__syncthreads();
		if (slice < SLICES - (STAGES - 1))
			slice_get(shared + put * SLICE_WORDS, left, right, transpose);
		ss_copies_commit();
		if (STAGES == 1) {
			ss_copies_wait<0>();
			__syncthreads();
		}
		slice_relax(acc, shared + get * SLICE_WORDS);
		put = put + 1 == STAGES ? 0 : put + 1;
		get = get + 1 == STAGES ? 0 : get + 1;
	}
}

/* Read by the third phase of this round and by other rows. */
static __device__ __forceinline__ void across_store(const int acc[TILE_M][TILE_N], int *across, int pitch) {
#pragma unroll
	for (int n = 0; n < TILE_N * LANES; n++)
#pragma unroll
		for (int g = 0; g < TILE_M / 4; g++) {
			const int column = (column_of(n / LANES / 4) + n / LANES % 4) * LANES + n % LANES;
			int four[4];
#pragma unroll
			for (int e = 0; e < 4; e++)
				four[e] = pair(acc[4 * g + e][n / LANES], n % LANES);
			words_store4(across + column * pitch + row_of(g), four[0], four[1], four[2], four[3]);
		}
}

/* The arguments of all variants: `matrix` is this device's tile rows, `rows` is tile row k of all; `pitch` and
 * `across_pitch` in words; `k` counts all tile rows, `k_here` those of this device. A range of tiles leaves out `skip` from
 * `cut` on. */

/* The second phase: tile i of row k, or of column k. */
static __device__ __noinline__ void panel(int *shared, int *matrix, int *rows, int pitch, int *across, int across_pitch,
                                             int k, int k_here, int i, bool column) {
	int acc[TILE_M][TILE_N];
	int *const tile = column ? matrix + (ss_i64)(i * BLOCK) * pitch + (ss_i64)k * WIDE : rows + (ss_i64)i * WIDE;
	const operand own{tile, pitch}, diagonal{rows + (ss_i64)k * WIDE, pitch};
	const operand turned{across + (ss_i64)k_here * BLOCK, across_pitch};
	product(acc, shared, tile, pitch, column ? own : turned, column ? diagonal : own, column);
	tile_store(acc, tile, pitch);
	if (column)
		across_store(acc, across + (ss_i64)i * BLOCK, across_pitch);
}

/* Those of row k come first. */
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_MIN)
fw_panels(int *matrix, int *rows, int pitch, int *across, int across_pitch, int k, int k_here, int row_blocks,
          int column_cut) {
	SS_DYNAMIC(int, shared);
	int i = (int)blockIdx.x;
	const bool column = i >= row_blocks;
	if (column)
		i -= row_blocks;
	i += i >= (column ? column_cut : k);
	panel(shared, matrix, rows, pitch, across, across_pitch, k, k_here, i, column);
}

/* The third phase of tile i, j. */
static __device__ __forceinline__ void relax(int *shared, int *matrix, const int *rows, int pitch, const int *across,
                                             int across_pitch, int i, int j) {
	int acc[TILE_M][TILE_N];
	int *const tile = matrix + (ss_i64)(i * BLOCK) * pitch + (ss_i64)j * WIDE;
	product(acc, shared, tile, pitch, operand{across + (ss_i64)i * BLOCK, across_pitch},
	        operand{rows + (ss_i64)j * WIDE, pitch}, false);
	tile_store(acc, tile, pitch);
}

/* Or a part of it. */
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_MIN)
fw_relax(int *matrix, const int *rows, int pitch, const int *across, int across_pitch, int k, int column_first,
         int column_cut, int column_skip, int row_first, int row_cut, int row_skip) {
	SS_DYNAMIC(int, shared);
	int i = row_first + (int)blockIdx.y, j = column_first + (int)blockIdx.x;
	i += i >= row_cut ? row_skip : 0;
	j += j >= column_cut ? column_skip : 0;
	relax(shared, matrix, rows, pitch, across, across_pitch, i, j);
}

/* Words that lie together, one thread's. */
template <int N> static __device__ __forceinline__ void words_put(int *to, const int *from) {
#pragma unroll
	for (int i = 0; i < N; i += 4)
		if (N % 4 == 0)
			words_store4(to + i, from[i], from[i + 1], from[i + 2], from[i + 3]);
		else
			*(int2 *)(to + i) = make_int2(from[i], from[i + 1]);
}

/* The first phase: 16 threads in a row hold the diagonal tile, and in step m hand round row m and column m. The buffers
 * take turns, so that one barrier a step is enough. */
#define CLOSE_M (BLOCK * 16 / THREADS)
#define CLOSE_N (WIDE / 16)
#define CLOSE_STEPS (CLOSE_M > CLOSE_N * LANES ? CLOSE_M : CLOSE_N * LANES)
static __device__ __noinline__ void close(int *tile, int pitch, int *across, int across_pitch) {
	__shared__ __align__(16) int row[2][WIDE];
	__shared__ __align__(16) int column[2][BLOCK];
	const int tx = (int)threadIdx.x % 16, ty = (int)threadIdx.x / 16;
	int acc[CLOSE_M][CLOSE_N], a[CLOSE_M], b[CLOSE_N];
#pragma unroll
	for (int r = 0; r < CLOSE_M; r++)
#pragma unroll
		for (int c = 0; c < CLOSE_N; c++)
			acc[r][c] = __ldcg(tile + (ty * CLOSE_M + r) * pitch + tx * CLOSE_N + c);
	for (int first = 0; first < BLOCK; first += CLOSE_STEPS) {
#pragma unroll
		for (int u = 0; u < CLOSE_STEPS; u++) {
#pragma unroll
			for (int c = 0; c < CLOSE_N; c++)
				if (ty == (first + u) / CLOSE_M)
					row[u % 2][tx * CLOSE_N + c] = acc[u % CLOSE_M][c];
#pragma unroll
			for (int r = 0; r < CLOSE_M; r++)
				if (tx == (first + u) / (CLOSE_N * LANES))
					column[u % 2][ty * CLOSE_M + r] = pair(acc[r][u / LANES % CLOSE_N], u % LANES);
			__syncthreads();
			words_load<CLOSE_M>(a, column[u % 2] + ty * CLOSE_M);
			words_load<CLOSE_N>(b, row[u % 2] + tx * CLOSE_N);
#pragma unroll
			for (int r = 0; r < CLOSE_M; r++)
#pragma unroll
				for (int c = 0; c < CLOSE_N; c++)
					acc[r][c] = addmin(a[r], b[c], acc[r][c]);
		}
	}
#pragma unroll
	for (int r = 0; r < CLOSE_M; r++)
		words_put<CLOSE_N>(tile + (ty * CLOSE_M + r) * pitch + tx * CLOSE_N, acc[r]);
#pragma unroll
	for (int c = 0; c < CLOSE_N * LANES; c++) {
#pragma unroll
		for (int r = 0; r < CLOSE_M; r++)
			a[r] = pair(acc[r][c / LANES], c % LANES);
		words_put<CLOSE_M>(across + (tx * CLOSE_N * LANES + c) * across_pitch + ty * CLOSE_M, a);
	}
}

extern "C" __global__ void __launch_bounds__(THREADS) fw_close(int *tile, int pitch, int *across, int across_pitch) {
	close(tile, pitch, across, across_pitch);
}

/* All rounds in one launch. Blocks take tasks in order, and wait until the tiles that a task needs have been through enough
 * rounds; those are earlier tasks, so that no two wait for each other, however many blocks there are. In round k the tiles
 * of row and column k + 1 come first, the next diagonal tile when each block has had a task or two, so that it need not wait,
 * and the next second phase after two more, which is how long that tile takes. */
struct flow {
	int tiles;
	unsigned *next, *relaxed, *rounds; /* tasks taken; third phases done, by round; rounds done, by tile */
};

enum { FLOW_CLOSE, FLOW_PANEL, FLOW_RELAX, FLOW_END };
struct task {
	int phase, k, i, j;
};

/* The second phase has 2 * tiles - 1 tasks: the diagonal tile, the others of the row, those of the column. */
static __device__ task task_second(int tiles, int k, int at) {
	const bool column = at >= tiles;
	int i = column ? at - tiles : at - 1;
	i += i >= k;
	if (at == 0)
		return {FLOW_CLOSE, k, k, k};
	return {FLOW_PANEL, k, column ? i : k, column ? k : i};
}

/* Row and column k + 1, from the diagonal tile on, without those of row and column k. */
static __device__ task task_ahead(int k, int at) {
	const int half = (at + 1) / 2 - 1, i = at == 0 ? k + 1 : half + (half >= k ? 2 : 0);
	return {FLOW_RELAX, k, at % 2 ? k + 1 : i, at % 2 ? i : k + 1};
}

static __device__ task task_rest(int tiles, int k, int skip, int at) {
	const int wide = tiles - skip, i = at / wide, j = at % wide;
	return {FLOW_RELAX, k, i + (i >= k ? skip : 0), j + (j >= k ? skip : 0)};
}

static __device__ task task_of(int tiles, unsigned number) {
	const unsigned second = 2 * tiles - 1, all = tiles * tiles;
	if (number < second)
		return task_second(tiles, 0, number);
	const int k = (number - second) / all;
	int at = (number - second) % all;
	if (k + 1 == tiles)
		return task_rest(tiles, k, 1, at);
	const int rest = (tiles - 2) * (tiles - 2), ahead = 2 * tiles - 3;
	const int blocks = (int)gridDim.x, closes = min(rest, blocks * 3 / 2), panels = min(rest, closes + blocks * 9 / 4);
	if (at < ahead)
		return task_ahead(k, at);
	at -= ahead;
	if (at == closes)
		return task_second(tiles, k + 1, 0);
	at -= at > closes;
	if (at >= panels && at < panels + (int)second - 1)
		return task_second(tiles, k + 1, at - panels + 1);
	return task_rest(tiles, k, 2, at >= panels ? at - ((int)second - 1) : at);
}

/* By a warp: takes the next task, and waits for what it needs. Three lanes look at a count each. The buffer of column k is
 * that of k - 2, whose third phases may still read it. */
static __device__ void task_take(const flow &f, task *next) {
	const int lane = (int)threadIdx.x % 32;
	const unsigned number = __shfl_sync(0xffffffffu, lane == 0 ? atomicAdd(f.next, 1u) : 0, 0);
	if (number >= (unsigned)f.tiles * f.tiles * f.tiles) {
		next->phase = FLOW_END;
		return;
	}
	const task t = task_of(f.tiles, number);
	const unsigned *count = f.rounds + t.i * f.tiles + t.j;
	unsigned wanted = t.k;
	if (lane == 1 && t.phase != FLOW_CLOSE) {
		count = f.rounds + (t.phase == FLOW_RELAX ? t.i : t.k) * f.tiles + t.k;
		wanted = t.k + 1;
	} else if (lane == 2 && t.phase == FLOW_RELAX) {
		count = f.rounds + t.k * f.tiles + t.j;
		wanted = t.k + 1;
	} else if (lane == 2 && t.k > 1) {
		count = f.relaxed + t.k - 2;
		wanted = (f.tiles - 1) * (f.tiles - 1);
	}
	while (lane < 3 && *(const volatile unsigned *)count < wanted)
		ss_pause();
	__threadfence();
	__syncwarp();
	if (lane == 0)
		*next = t;
}

static __device__ void task_done(const flow &f, task t) {
	__threadfence();
	if (t.phase == FLOW_RELAX)
		atomicAdd(f.relaxed + t.k, 1u);
	*(volatile unsigned *)(f.rounds + t.i * f.tiles + t.j) = t.k + 1;
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_MIN)
fw_flow(int *matrix, int pitch, int *across0, int *across1, int across_pitch, int tiles, unsigned *counts) {
	SS_DYNAMIC(int, shared);
	__shared__ task tasks[2]; /* not in registers, which the products need */
	const flow f{tiles, counts, counts + 1, counts + 1 + tiles};
	if (threadIdx.x < 32)
		task_take(f, &tasks[0]);
	__syncthreads();
	for (int turn = 0; tasks[turn].phase != FLOW_END; turn ^= 1) {
		const task &t = tasks[turn];
		int *const rows = matrix + (ss_i64)(t.k * BLOCK) * pitch, *const across = t.k % 2 ? across1 : across0;
		if (t.phase == FLOW_CLOSE)
			close(rows + (ss_i64)t.k * WIDE, pitch, across + (ss_i64)t.k * BLOCK, across_pitch);
		else if (t.phase == FLOW_PANEL)
			panel(shared, matrix, rows, pitch, across, across_pitch, t.k, t.k, t.i == t.k ? t.j : t.i, t.j == t.k);
		else
			relax(shared, matrix, rows, pitch, across, across_pitch, t.i, t.j);
		__syncthreads();
		if (threadIdx.x == 0)
			task_done(f, t);
		if (threadIdx.x / 32 == (THREADS > 32)) /* another warp, meanwhile */
			task_take(f, &tasks[turn ^ 1]);
		__syncthreads();
	}
}
