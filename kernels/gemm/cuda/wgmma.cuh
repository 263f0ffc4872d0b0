/* SPDX-License-Identifier: BSD-3-Clause */
/* Instructions of compute capability 9.0a for wgmma.cu, which defines TYPE, SWIZZLE and CLUSTER, with their meaning for the
 * emulator, where everything happens at once (NVIDIA, PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate
 * Instructions", "mbarrier", "cp.async.bulk.tensor"). */
#ifndef KERNELS_GEMM_CUDA_WGMMA_CUH
#define KERNELS_GEMM_CUDA_WGMMA_CUH
#include "sweetspot.cuh"

enum {
	SIZE = TYPE == 4 ? 1 : TYPE == 3 ? 4 : 2, /* bytes of an element */
	PRODUCTS = 32 / SIZE,                     /* of a sum in an instruction */
	TURNED = TYPE <= 2                        /* rows of B in shared memory are those of the matrix */
};

/* gpu_tensor_map: its address must be that of a kernel's argument. */
struct alignas(64) tensor_map {
	ss_u64 opaque[16];
};

static __device__ __forceinline__ unsigned shared_address(const void *at) {
	return (unsigned)__cvta_generic_to_shared(at);
}

static __device__ __forceinline__ unsigned cluster_rank() {
#ifdef SWEETSPOT_EMULATED
	return blockIdx.x % CLUSTER;
#else
	unsigned rank;
	asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
	return rank;
#endif
}

/* All threads of a cluster. */
static __device__ __forceinline__ void cluster_barrier() {
	if (CLUSTER == 1) {
		__syncthreads();
		return;
	}
#ifdef SWEETSPOT_EMULATED
	__syncthreads();
	if (threadIdx.x == 0) {
		unsigned *const arrived = ss_services->cluster(), all = *arrived / CLUSTER * CLUSTER + CLUSTER;
		for (++*arrived; *(volatile unsigned *)arrived < all;)
			ss_pause();
	}
	__syncthreads();
#else
	asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
#endif
}

/* Barriers in shared memory. A phase ends when all have arrived and all bytes that were announced are there. */
#ifdef SWEETSPOT_EMULATED
struct barrier {
	int bytes;
	unsigned short count, left : 15, phase : 1;
};
static inline void barrier_step(barrier *at, int arrived, int bytes) {
	at->left -= arrived;
	at->bytes += bytes;
	if (at->left == 0 && at->bytes == 0) {
		at->phase ^= 1;
		at->left = at->count;
	}
}
#else
struct barrier {
	ss_u64 word;
};
#endif
static __device__ __forceinline__ void barrier_init(barrier *at, unsigned count) {
#ifdef SWEETSPOT_EMULATED
	*at = {0, (unsigned short)count, (unsigned short)count, 0};
#else
	asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\nfence.mbarrier_init.release.cluster;" ::"r"(shared_address(at)),
	             "r"(count) : "memory");
#endif
}
/* Arrives, and announces bytes that tensor_load will bring. */
static __device__ __forceinline__ void barrier_expect(barrier *at, unsigned bytes) {
#ifdef SWEETSPOT_EMULATED
	barrier_step(at, 1, (int)bytes);
#else
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(at)), "r"(bytes) : "memory");
#endif
}
/* Arrives at the barrier that a block of the cluster has in this place. Nothing that was written before has to be seen by
 * another block, so that no fence for the whole GPU is needed (".release.cluster" brings one). */
static __device__ __forceinline__ void barrier_arrive(barrier *at, unsigned block) {
#ifdef SWEETSPOT_EMULATED
	barrier_step((barrier *)(CLUSTER > 1 ? ss_services->peer(at, block) : at), 1, 0);
#else
	asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
	             "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(shared_address(at)), "r"(block)
	             : "memory");
#endif
}
/* Waits for the end of a phase of this parity; those before the first one have ended. */
static __device__ __forceinline__ void barrier_wait(barrier *at, unsigned parity) {
#ifdef SWEETSPOT_EMULATED
	while (at->phase == parity)
		ss_pause();
#else
	unsigned done;
	do
		asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
		             : "=r"(done) : "r"(shared_address(at)), "r"(parity) : "memory");
	while (!done);
#endif
}

/* Where TMA puts the bytes of rows of `run` bytes. */
static __device__ __forceinline__ ss_u64 permuted(ss_u64 at, unsigned run) {
	return at ^ (at >> 3 & (run > 16 ? run - 16 : 0));
}

#ifdef SWEETSPOT_EMULATED
static inline void emulated_load(char *to, const emulated_tensor_map *map, int x, int y) {
	const unsigned width = map->box_columns * map->size;
	for (unsigned i = 0; i < map->box_rows * width; i += map->size) {
		const ss_u64 row = y + i / width, column = x + i % width / map->size;
		const bool inside = row < map->rows && column < map->columns;
		char *const place = (char *)permuted((ss_u64)to + i, map->swizzle);
		for (unsigned byte = 0; byte < map->size; byte++)
			place[byte] = inside ? map->at[row * map->pitch + column * map->size + byte] : 0;
	}
}
#endif
/* Copies the map's box at column x and row y to this place in shared memory, or EVERYWHERE in the cluster. */
template <bool EVERYWHERE>
static __device__ __forceinline__ void tensor_load(char *to, const tensor_map *map, barrier *full, int x, int y) {
#ifdef SWEETSPOT_EMULATED
	const emulated_tensor_map *const box = (const emulated_tensor_map *)map;
	for (unsigned block = 0; block < (EVERYWHERE ? CLUSTER : 1); block++) {
		emulated_load(EVERYWHERE ? (char *)ss_services->peer(to, block) : to, box, x, y);
		barrier_step(EVERYWHERE ? (barrier *)ss_services->peer(full, block) : full, 0,
		             -(int)(box->box_columns * box->box_rows * box->size));
	}
#else
	if constexpr (EVERYWHERE)
		asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
		             "[%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)), "l"(map), "r"(x), "r"(y),
		             "r"(shared_address(full)), "h"((unsigned short)((1 << CLUSTER) - 1)) : "memory");
	else
		asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
		             "[%4];" ::"r"(shared_address(to)), "l"(map), "r"(x), "r"(y), "r"(shared_address(full)) : "memory");
#endif
}

/* A matrix in shared memory with rows of SWIZZLE bytes: distances between groups of eight of them, and, TURNED, between
 * groups of columns that fill them. */
#ifdef SWEETSPOT_EMULATED
struct matrix {
	const char *at;
	unsigned columns, rows;
};
template <int KIND> static inline float emulated_number(const char *at) {
	if (KIND == 3)
		return __uint_as_float(*(const unsigned *)at & 0xffffe000u);
	return ss_float<KIND>(KIND == 4 ? *(const ss_u8 *)at : *(const unsigned short *)at);
}
/* Row p of column x, TURNED; otherwise element p of row x. */
template <bool TURN> static inline float emulated_element(const matrix &of, int x, int p) {
	const int row = TURN ? p : x, byte = (TURN ? x : p) * SIZE;
	const char *const at = of.at + row / 8 * of.rows + row % 8 * SWIZZLE + byte / SWIZZLE * of.columns + byte % SWIZZLE;
	return emulated_number<TYPE>((const char *)permuted((ss_u64)at, SWIZZLE));
}
#else
struct matrix {
	ss_u64 word;
};
#endif
static __device__ __forceinline__ matrix matrix_at(const char *at, unsigned columns, unsigned rows) {
#ifdef SWEETSPOT_EMULATED
	return {at, columns, rows};
#else
	constexpr ss_u64 layout = SWIZZLE == 128 ? 1 : SWIZZLE == 64 ? 2 : 3;
	return {(ss_u64)((shared_address(at) & 0x3ffff) >> 4) | (ss_u64)(columns >> 4) << 16 | (ss_u64)(rows >> 4) << 32 |
	        layout << 62};
#endif
}
static __device__ __forceinline__ matrix matrix_behind(const matrix &of, int bytes) {
#ifdef SWEETSPOT_EMULATED
	return {of.at + bytes, of.columns, of.rows};
#else
	return {of.word + bytes / 16};
#endif
}

/* Around multiplications, which may go on until products_wait<N> has waited for all groups but the last N. */
static __device__ __forceinline__ void products_begin() {
#ifndef SWEETSPOT_EMULATED
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
static __device__ __forceinline__ void products_commit() {
#ifndef SWEETSPOT_EMULATED
	asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
template <int N> static __device__ __forceinline__ void products_wait() {
#ifndef SWEETSPOT_EMULATED
	asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
#endif
}
/* After the last wait, so that the compiler does not move reads of sums up. */
template <int N> static __device__ __forceinline__ void products_hold(float (&d)[N]) {
#ifndef SWEETSPOT_EMULATED
#pragma unroll
	for (int i = 0; i < N; i++)
		asm volatile("" : "+f"(d[i])::"memory");
#endif
}

/* A warpgroup that multiplies takes registers from the one that copies; there are three. */
template <bool MORE> static __device__ __forceinline__ void registers_share() {
#ifndef SWEETSPOT_EMULATED
	if constexpr (MORE)
		asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
	else
		asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
#endif
}

/* multiply: d = left right + (more ? d : 0) by a warpgroup, 64 x 2N sums of PRODUCTS products: warp w has 16 rows, of which lane
 * 4g + t has row g in d[4j] and d[4j + 1], row g + 8 in d[4j + 2] and d[4j + 3], of columns 8j + 2t and 8j + 2t + 1 (PTX ISA,
 * "Matrix fragments for wgmma.mma_async"). */
#ifdef SWEETSPOT_EMULATED
template <int N>
static inline void emulated_multiply(float (&d)[N], const float (&left)[2][PRODUCTS], const matrix &right, bool more) {
	for (int j = 0; j < N; j += 4)
		for (int e = 0; e < 2; e++) {
			float high = more ? d[j + e] : 0, low = more ? d[j + 2 + e] : 0;
			for (int p = 0; p < PRODUCTS; p++) {
				const float y = emulated_element<TURNED>(right, 2 * j + threadIdx.x % 4 * 2 + e, p);
				high += left[0][p] * y;
				low += left[1][p] * y;
			}
			d[j + e] = high;
			d[j + 2 + e] = low;
		}
}
template <int N>
static inline void multiply(float (&d)[N], const matrix &left, const matrix &right, bool more) {
	float own[2][PRODUCTS];
	const int row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
	for (int p = 0; p < 2 * PRODUCTS; p++)
		own[p / PRODUCTS][p % PRODUCTS] = emulated_element<false>(left, row + p / PRODUCTS * 8, p % PRODUCTS);
	emulated_multiply(d, own, right, more);
}
/* left: 16 bytes of rows g and g + 8 from column 4t / SIZE on, and of both from 16 / SIZE columns further on. */
template <int N>
static inline void multiply(float (&d)[N], const unsigned (&left)[4], const matrix &right, bool more) {
	float own[2][PRODUCTS];
	const ss_u64 *const all = ss_emulated_gather((ss_u64)left);
	for (int p = 0; p < PRODUCTS; p++)
		for (int h = 0; h < 2; h++) {
			const int byte = p * SIZE;
			const unsigned *const word = (const unsigned *)all[threadIdx.x % 32 / 4 * 4 + byte % 16 / 4] + h + byte / 16 * 2;
			own[h][p] = emulated_number<TYPE>((const char *)word + byte % 4);
		}
	__syncwarp(); /* all have read what this lane holds */
	emulated_multiply(d, own, right, more);
}
#else
#define AND ,
#define PLACES10(t)                                                                                                    \
	"%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t "9"
#define SUMS10(t)                                                                                                      \
	"+f"(d[t##0]), "+f"(d[t##1]), "+f"(d[t##2]), "+f"(d[t##3]), "+f"(d[t##4]), "+f"(d[t##5]), "+f"(d[t##6]),           \
		"+f"(d[t##7]), "+f"(d[t##8]), "+f"(d[t##9])
#define PLACES30  PLACES10() ", " PLACES10(1) ", " PLACES10(2)
#define SUMS30    SUMS10(), SUMS10(1), SUMS10(2)
#define PLACES60  PLACES30 ", " PLACES10(3) ", " PLACES10(4) ", " PLACES10(5)
#define SUMS60    SUMS30, SUMS10(3), SUMS10(4), SUMS10(5)
#define PLACES120 PLACES60 ", " PLACES10(6) ", " PLACES10(7) ", " PLACES10(8) ", " PLACES10(9) ", " PLACES10(10) ", " PLACES10(11)
#define SUMS120   SUMS60, SUMS10(6), SUMS10(7), SUMS10(8), SUMS10(9), SUMS10(10), SUMS10(11)
#define SUM(i)    "+f"(d[i])
#if TYPE == 1
#define WGMMA_KIND "k16.f32.f16.f16"
#elif TYPE == 2
#define WGMMA_KIND "k16.f32.bf16.bf16"
#elif TYPE == 3
#define WGMMA_KIND "k8.f32.tf32.tf32"
#else
#define WGMMA_KIND "k32.f32.e4m3.e4m3"
#endif
#if TYPE <= 2
#define WGMMA_TURN ", 0, 1"
#else
#define WGMMA_TURN ""
#endif
#define WGMMA(n, places, left, right, predicate, sums)                                                                 \
	asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " predicate ", 0;\nwgmma.mma_async.sync.aligned.m64n" n WGMMA_KIND " {"    \
	             places "}, " left ", " right ", p, 1, 1" WGMMA_TURN ";\n}" : sums : OPERANDS)
#define WGMMA_64(left, right, predicate)                                                                               \
	WGMMA("64", PLACES30 ", %30, %31", left, right, predicate, SUMS30 AND SUM(30) AND SUM(31))
#define WGMMA_128(left, right, predicate)                                                                              \
	WGMMA("128", PLACES60 ", %60, %61, %62, %63", left, right, predicate,                                              \
	      SUMS60 AND SUM(60) AND SUM(61) AND SUM(62) AND SUM(63))
#define WGMMA_256(left, right, predicate)                                                                              \
	WGMMA("256", PLACES120 ", %120, %121, %122, %123, %124, %125, %126, %127", left, right, predicate,                   \
	      SUMS120 AND SUM(120) AND SUM(121) AND SUM(122) AND SUM(123) AND SUM(124) AND SUM(125) AND SUM(126) AND SUM(127))
#if TYPE <= 2
#define OPERANDS "l"(left.word) AND "l"(right.word) AND "r"((int)more)
static __device__ __forceinline__ void multiply(float (&d)[32], const matrix &left, const matrix &right, bool more) {
	WGMMA_64("%32", "%33", "%34");
}
static __device__ __forceinline__ void multiply(float (&d)[64], const matrix &left, const matrix &right, bool more) {
	WGMMA_128("%64", "%65", "%66");
}
static __device__ __forceinline__ void multiply(float (&d)[128], const matrix &left, const matrix &right, bool more) {
	WGMMA_256("%128", "%129", "%130");
}
#else
#define OPERANDS "r"(left[0]) AND "r"(left[1]) AND "r"(left[2]) AND "r"(left[3]) AND "l"(right.word) AND "r"((int)more)
static __device__ __forceinline__ void multiply(float (&d)[32], const unsigned (&left)[4], const matrix &right, bool more) {
	WGMMA_64("{%32, %33, %34, %35}", "%36", "%37");
}
static __device__ __forceinline__ void multiply(float (&d)[64], const unsigned (&left)[4], const matrix &right, bool more) {
	WGMMA_128("{%64, %65, %66, %67}", "%68", "%69");
}
static __device__ __forceinline__ void multiply(float (&d)[128], const unsigned (&left)[4], const matrix &right, bool more) {
	WGMMA_256("{%128, %129, %130, %131}", "%132", "%133");
}
#endif
#endif
#endif
