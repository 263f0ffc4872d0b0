/* SPDX-License-Identifier: BSD-3-Clause */
/* 32 cells a word, WORDS words a lane. Sums are words of low and of high bits, so that a bit-wise operation is about 32
 * cells (carry-save adders, as on the CPU). Bits that are no cells, at least one word beside each row, and a row above and below
 * the grid are 0.
 *
 * gol_bits: a generation; the sums of a row's cells and the two beside each are used for three rows of a thread's ROWS.
 * gol_temporal: DEPTH generations on their way down a tile, each a row behind the one before it, all in registers; a warp a
 * tile. Of its lanes the first and the last are there for the others, good for 32 generations (overlapped tiling and time
 * skewing as in kernels/gol/temporal.c).
 *
 * -D: WORDS, and ROWS and SHUFFLE (words beside a thread's own come from the lanes beside it, else from memory) or DEPTH */
#include "sweetspot.cuh"

#define ALL 0xffffffffu
enum { INNER = 30 /* lanes of a warp whose words are a tile's */ };

struct words {
	unsigned at[WORDS];
};

/* Sums along a row: each cell and the two beside it. */
struct sums {
	unsigned low[WORDS], high[WORDS];
};

static __device__ __forceinline__ unsigned majority(unsigned a, unsigned b, unsigned c) {
	return (a & b) | (c & (a ^ b));
}

static __device__ __forceinline__ struct sums sum_row(struct words row, unsigned before, unsigned after) {
	struct sums sums;
#pragma unroll
	for (int w = 0; w < WORDS; w++) {
		const unsigned left = __funnelshift_l(w > 0 ? row.at[w - 1] : before, row.at[w], 1);
		const unsigned right = __funnelshift_r(row.at[w], w + 1 < WORDS ? row.at[w + 1] : after, 1);
		sums.low[w] = left ^ row.at[w] ^ right;
		sums.high[w] = majority(left, row.at[w], right);
	}
	return sums;
}

/* Lives: 3 in the square of nine, or 4 and alive. */
static __device__ __forceinline__ struct words next_row(const struct sums &above, const struct sums &same,
                                                        const struct sums &below, const struct words &row) {
	struct words next;
#pragma unroll
	for (int w = 0; w < WORDS; w++) {
		const unsigned odd = above.low[w] ^ same.low[w] ^ below.low[w];
		const unsigned carry = majority(above.low[w], same.low[w], below.low[w]);
		const unsigned twos = above.high[w] ^ same.high[w] ^ below.high[w];
		const unsigned fours = majority(above.high[w], same.high[w], below.high[w]);
		const unsigned three = (twos ^ carry) & ~fours, four = ~(twos ^ carry) & (twos ^ fours); /* or 2, or 5 */
		next.at[w] = (odd & three) | (~odd & four & row.at[w]);
	}
	return next;
}

static __device__ __forceinline__ struct words load(const unsigned *at) {
	struct words row;
#if WORDS == 4
	const uint4 all = *(const uint4 *)at;
	row.at[0] = all.x, row.at[1] = all.y, row.at[2] = all.z, row.at[3] = all.w;
#elif WORDS == 2
	const uint2 all = *(const uint2 *)at;
	row.at[0] = all.x, row.at[1] = all.y;
#else
	row.at[0] = *at;
#endif
	return row;
}

static __device__ __forceinline__ void store(unsigned *at, const struct words &row) {
#if WORDS == 4
	*(uint4 *)at = make_uint4(row.at[0], row.at[1], row.at[2], row.at[3]);
#elif WORDS == 2
	*(uint2 *)at = make_uint2(row.at[0], row.at[1]);
#else
	*at = row.at[0];
#endif
}

/* The bits of the words from `first` on that are cells. */
static __device__ __forceinline__ struct words cell_bits(int first, int words, unsigned tail) {
	struct words bits;
#pragma unroll
	for (int w = 0; w < WORDS; w++) {
		const int word = first + w;
		bits.at[w] = word < 0 || word >= words ? 0 : word == words - 1 ? tail : ALL;
	}
	return bits;
}

static __device__ __forceinline__ struct words mask(struct words row, const struct words &bits) {
#pragma unroll
	for (int w = 0; w < WORDS; w++)
		row.at[w] &= bits.at[w];
	return row;
}

#ifdef ROWS
/* Sums of the row that begins at `row`; `here`: this thread has words of it. */
static __device__ __forceinline__ struct sums load_sums(const unsigned *row, int first, bool here, struct words *words) {
	struct words own = {};
	unsigned before = 0, after = 0;
	if (here)
		own = load(row + first);
#if SHUFFLE
	const int lane = threadIdx.x % 32;
	before = __shfl_up_sync(ALL, own.at[WORDS - 1], 1);
	after = __shfl_down_sync(ALL, own.at[0], 1);
	if (lane == 0)
		before = here ? row[first - 1] : 0;
	if (lane == 31)
		after = here ? row[first + WORDS] : 0;
#else
	if (here) {
		before = row[first - 1];
		after = row[first + WORDS];
	}
#endif
	*words = own;
	return sum_row(own, before, after);
}

extern "C" __global__ void gol_bits(const unsigned *from, unsigned *to, ss_i64 stride, int n, int words, unsigned tail) {
	const int first = (blockIdx.x * blockDim.x + threadIdx.x) * WORDS;
	const int top = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
	const bool here = first < words;
	const struct words bits = cell_bits(first, words, tail);
	struct words row, below_row;
	if (top >= n)
		return;
	from += top * stride;
	to += top * stride + first;
	struct sums above = load_sums(from - stride, first, here, &row), same = load_sums(from, first, here, &row);
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		const struct sums below = load_sums(from + (r + 1) * stride, first, here && top + r < n, &below_row);
		if (here && top + r < n)
			store(to + r * stride, mask(next_row(above, same, below, row), bits));
		above = same;
		same = below;
		row = below_row;
	}
}
#else
/* State of a generation: the sums of its last two rows, and the cells of the last one. */
struct kept {
	struct sums sums[2];
	struct words row;
};

struct tile {
	struct words bits;
	int n;
	bool edge; /* there is something outside the grid in it */
};

static __device__ __forceinline__ struct sums shuffle_sums(const struct words &row) {
	const unsigned before = __shfl_up_sync(ALL, row.at[WORDS - 1], 1), after = __shfl_down_sync(ALL, row.at[0], 1);
	return sum_row(row, before, after);
}

/* Takes row number `y` in, and stores row y - D of D generations later. OLD: where the sums of row y - 2 are. */
template <int D, int OLD, bool EDGE>
static __device__ __forceinline__ struct words slide(struct kept (&kept)[D], struct words row, const struct tile &tile,
                                                     int y) {
#pragma unroll
	for (int g = 0; g < D; g++) {
		const struct sums below = shuffle_sums(row);
		struct words next = next_row(kept[g].sums[OLD], kept[g].sums[1 - OLD], below, kept[g].row);
		kept[g].sums[OLD] = below;
		kept[g].row = row;
		row = next;
		if (EDGE) {
			const struct words none = {};
			row = y - g - 1 >= 0 && y - g - 1 < tile.n ? mask(row, tile.bits) : none;
		}
	}
	return row;
}

struct rows {
	const unsigned *from; /* this lane's words of row 0 */
	unsigned *to;
	ss_i64 stride;
	int top, end; /* of the tile */
	bool inner;
};

template <int D>
static __device__ __forceinline__ struct words fetch(const struct rows &rows, const struct tile &tile, int y) {
	struct words none = {};
	const bool inside = y < rows.end + D && (!tile.edge || (y >= 0 && y < tile.n && tile.bits.at[0] != 0));
	return inside ? load(rows.from + y * rows.stride) : none;
}

static __device__ __forceinline__ void put(const struct rows &rows, int y, const struct words &row) {
	if (rows.inner && y >= rows.top && y < rows.end)
		store(rows.to + y * rows.stride, row);
}

template <int D, bool EDGE> static __device__ __forceinline__ void pass(const struct rows &rows, const struct tile &tile) {
	struct kept kept[D] = {};
	int y = rows.top - D;
	struct words even = fetch<D>(rows, tile, y), odd = fetch<D>(rows, tile, y + 1);
	for (; y < rows.end + D; y += 2) {
		const struct words first = even, second = odd;
		even = fetch<D>(rows, tile, y + 2);
		odd = fetch<D>(rows, tile, y + 3);
		put(rows, y - D, slide<D, 0, EDGE>(kept, first, tile, y));
		put(rows, y + 1 - D, slide<D, 1, EDGE>(kept, second, tile, y + 1));
	}
}

/* Tiles of `height` rows. Blocks are rows of warps, so that the warps of a block are beside or above each other. */
template <int D>
static __device__ __forceinline__ void warp_pass(const unsigned *from, unsigned *to, ss_i64 stride, int n, int words,
                                                 unsigned tail, int height) {
	const int lane = threadIdx.x % 32, column = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
	const int first = (column * INNER + lane - 1) * WORDS, line = blockIdx.y * blockDim.y + threadIdx.y;
	const int begin = (column * INNER - 1) * WORDS, last = begin + 32 * WORDS - 1;
	if (column * INNER * WORDS >= words || (ss_i64)line * height >= n)
		return;
	struct rows rows = {from + first, to + first, stride, line * height, min(n, (line + 1) * height), false};
	struct tile tile = {cell_bits(first, words, tail), n, false};
	tile.edge = begin < 0 || last >= words - 1 || rows.top < D || rows.end + D > n;
	rows.inner = lane > 0 && lane <= INNER && tile.bits.at[0] != 0;
	if (tile.edge)
		pass<D, true>(rows, tile);
	else
		pass<D, false>(rows, tile);
}

extern "C" __global__ void gol_temporal(const unsigned *from, unsigned *to, ss_i64 stride, int n, int words, unsigned tail,
                                        int height) {
	warp_pass<DEPTH>(from, to, stride, n, words, tail, height);
}

/* The generations that are left over. */
extern "C" __global__ void gol_single(const unsigned *from, unsigned *to, ss_i64 stride, int n, int words, unsigned tail,
                                      int height) {
	warp_pass<1>(from, to, stride, n, words, tail, height);
}
#endif
