/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by our .cu files: #include "sweetspot.cuh". NVRTC gets it by name, and so does a header from the folder of the .cu
 * file, so that neither needs a search path.
 *
 * NVRTC compiles these files for a GPU. The tests' emulator compiles the same files as C++ for the CPU, to try them where
 * there is none, and defines SWEETSPOT_EMULATED; for its sake:
 *   - launched functions are extern "C" __global__;
 *   - __shared__ is declared only inside functions that are not templates; dynamic shared memory is SS_DYNAMIC(T, name);
 *   - PTX and intrinsics of one architecture are wrapped here (those of 9.0a in gemm/cuda/wgmma.cuh), with their meaning in
 *     plain C++ beside them;
 *   - threads that wait for each other use __syncthreads, __syncwarp, the *_sync intrinsics or ss_grid_barrier: a loop
 *     that spins on memory calls ss_pause() in each turn. */
#ifndef KERNELS_SWEETSPOT_CUH
#define KERNELS_SWEETSPOT_CUH

typedef long long ss_i64;
typedef unsigned long long ss_u64;
typedef unsigned char ss_u8;
typedef signed short ss_i16;

#ifdef SWEETSPOT_EMULATED
#define SS_DYNAMIC(T, name) T *const name = (T *)ss_emulated_dynamic()
#else
#define SS_DYNAMIC(T, name)                                                                                            \
	extern __shared__ __align__(16) unsigned char ss_dynamic_bytes[];                                                  \
	T *const name = reinterpret_cast<T *>(ss_dynamic_bytes)
#endif

/* Call it in a loop that waits for another block. */
static __device__ __forceinline__ void ss_pause() {
#ifdef SWEETSPOT_EMULATED
	ss_emulated_yield();
#elif __CUDA_ARCH__ >= 700
	__nanosleep(20);
#endif
}

/* min(a + b, c): one instruction from compute capability 9.0 on (DPX). */
static __device__ __forceinline__ int ss_addmin(int a, int b, int c) {
#if defined(SWEETSPOT_EMULATED) || __CUDA_ARCH__ < 900
	return min(a + b, c);
#else
	return __viaddmin_s32(a, b, c);
#endif
}

/* The same for two signed 16-bit numbers in a word; sums wrap, so that the caller keeps them in range. */
static __device__ __forceinline__ unsigned ss_addmin2(unsigned a, unsigned b, unsigned c) {
#if defined(SWEETSPOT_EMULATED)
	unsigned out = 0;
	for (int half = 0; half < 32; half += 16) {
		short sum = (short)((short)(a >> half) + (short)(b >> half)), old = (short)(c >> half);
		out |= (unsigned)(unsigned short)(sum < old ? sum : old) << half;
	}
	return out;
#elif __CUDA_ARCH__ < 900
	return __vmins2(__vadd2(a, b), c);
#else
	return __viaddmin_s16x2(a, b, c);
#endif
}

/* 16 (4) bytes from global to shared memory, both aligned so, behind the thread's back: they are there after ss_copies_wait
 * and a barrier. commit closes a group; ss_copies_wait<N>: all groups but the last N are done. */
static __device__ __forceinline__ void ss_copy16(void *shared, const void *global) {
#if defined(SWEETSPOT_EMULATED) || __CUDA_ARCH__ < 800
	*(int4 *)shared = __ldcg((const int4 *)global);
#else
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(shared)),
	             "l"(global) : "memory");
#endif
}
static __device__ __forceinline__ void ss_copy4(void *shared, const void *global) {
#if defined(SWEETSPOT_EMULATED) || __CUDA_ARCH__ < 800
	*(int *)shared = *(const int *)global;
#else
	asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(shared)),
	             "l"(global) : "memory");
#endif
}
static __device__ __forceinline__ void ss_copies_commit() {
#if !defined(SWEETSPOT_EMULATED) && __CUDA_ARCH__ >= 800
	asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int N> static __device__ __forceinline__ void ss_copies_wait() {
#if !defined(SWEETSPOT_EMULATED) && __CUDA_ARCH__ >= 800
	asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

/* d += a b in doubles by a warp, 16 x 8 results of STEPS times 4 products; STEPS is 1, 2 or 4. Lane 4g + t holds, of step
 * s, a of rows g and g + 8 and column t in a[2s] and a[2s + 1], b of row t and column g in b[s], and d of rows g and g + 8
 * and columns 2t and 2t + 1 in d[0], d[1] and d[2], d[3] (PTX ISA, "Matrix fragments for mma.m16n8k4, .m16n8k8 and
 * .m16n8k16 with .f64"). */
template <int STEPS>
static __device__ __forceinline__ void ss_mma_f64(double (&d)[4], const double (&a)[2 * STEPS], const double (&b)[STEPS]) {
#if defined(SWEETSPOT_EMULATED) || __CUDA_ARCH__ < 800
	const int lane = (int)(threadIdx.x % 32), row = lane / 4 * 4, column = lane % 4 * 8;
#pragma unroll
	for (int s = 0; s < STEPS; s++)
#pragma unroll 1
		for (int t = 0; t < 4; t++) {
			const double high = __shfl_sync(0xffffffffu, a[2 * s], row + t);
			const double left = __shfl_sync(0xffffffffu, b[s], column + t);
			const double low = __shfl_sync(0xffffffffu, a[2 * s + 1], row + t);
			const double right = __shfl_sync(0xffffffffu, b[s], column + 4 + t);
			d[0] = fma(high, left, d[0]);
			d[1] = fma(high, right, d[1]);
			d[2] = fma(low, left, d[2]);
			d[3] = fma(low, right, d[3]);
		}
#elif __CUDA_ARCH__ < 900
	for (int s = 0; s < STEPS; s++) {
		asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
		    : "+d"(d[0]), "+d"(d[1]) : "d"(a[2 * s]), "d"(b[s]));
		asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
		    : "+d"(d[2]), "+d"(d[3]) : "d"(a[2 * s + 1]), "d"(b[s]));
	}
#else
	if constexpr (STEPS == 1)
		asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
		    : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3]) : "d"(a[0]), "d"(a[1]), "d"(b[0]));
	else if constexpr (STEPS == 2)
		asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
		    "{%0, %1, %2, %3};"
		    : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
		    : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
	else
		asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
		    "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
		    : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
		    : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
		      "d"(b[1]), "d"(b[2]), "d"(b[3]));
#endif
}

/* Short floats, as bits: f16 of IEEE (KIND 1) without infinities, bfloat16 (KIND 2) and e4m3 (KIND 4) without NANs. */
template <int KIND> static __device__ __forceinline__ float ss_float(unsigned bits) {
	if (KIND == 4)
		return __uint_as_float((bits & 0x80u) << 24 | __float_as_uint(__uint_as_float((bits & 0x7fu) << 20) * 0x1p120f));
	if (KIND == 2)
		return __uint_as_float(bits << 16);
	return __uint_as_float((bits & 0x8000u) << 16 | __float_as_uint(__uint_as_float((bits & 0x7fffu) << 13) * 0x1p112f));
}

/* Four 8 x 8 matrices of 16-bit elements from shared memory: lane l names row l % 8 of matrix l / 8, and lane 4g + t gets, of
 * matrix i, the pair of columns 2t and 2t + 1 of row g in to[i], or, TURNED, of rows 2t and 2t + 1 of column g (PTX ISA,
 * "ldmatrix"). */
template <bool TURNED> static __device__ __forceinline__ void ss_matrices_read(unsigned (&to)[4], const void *row) {
#if defined(SWEETSPOT_EMULATED)
	const int lane = (int)(threadIdx.x % 32), first = TURNED ? lane % 4 * 2 : lane / 4, column = TURNED ? lane / 4 : lane % 4 * 2;
	const ss_u64 *rows = ss_emulated_gather((ss_u64)row);
	for (int i = 0; i < 4; i++) {
		const unsigned short *x = (const unsigned short *)rows[i * 8 + first];
		const unsigned short *y = (const unsigned short *)rows[i * 8 + first + TURNED];
		to[i] = x[column] | (unsigned)y[column + !TURNED] << 16;
	}
#else
	const unsigned at = (unsigned)__cvta_generic_to_shared(row);
	if constexpr (TURNED)
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
		             : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
	else
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		             : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
#endif
}

/* A pair of columns of a times a pair of rows of b. */
template <int KIND>
static __device__ __forceinline__ void ss_mma_part(float (&d)[4], unsigned high, unsigned low, unsigned left, unsigned right) {
#pragma unroll
	for (int half = 0; half < 32; half += 16) {
		const float x = ss_float<KIND>(left >> half & 0xffffu), y = ss_float<KIND>(right >> half & 0xffffu);
		const float u = ss_float<KIND>(high >> half & 0xffffu), v = ss_float<KIND>(low >> half & 0xffffu);
		d[0] += u * x;
		d[1] += u * y;
		d[2] += v * x;
		d[3] += v * y;
	}
}

/* d += a b by a warp, 16 x 8 results of 16 products each: 16-bit floats of KIND 1 or 2 (ss_float), sums in f32. Lane 4g + t
 * holds, of a, rows g and g + 8 of columns 2t and 2t + 1 in a[0] and a[1], of columns 2t + 8 and 2t + 9 in a[2] and a[3]; of
 * column g of b, the same rows in b[0] and b[1]; and d as ss_mma_f64 does (PTX ISA, "Matrix fragments for mma.m16n8k16 with
 * floating point type"). */
template <int KIND>
static __device__ __forceinline__ void ss_mma_16(float (&d)[4], const unsigned (&a)[4], const unsigned *b) {
	const int lane = (int)(threadIdx.x % 32), row = lane / 4 * 4, column = lane % 4 * 8;
	(void)row, (void)column;
#ifdef SWEETSPOT_EMULATED
	constexpr bool plain = KIND == 2; /* the code below 8.0, which is tried here only */
	if constexpr (!plain) {
		const unsigned held[6] = {a[0], a[1], a[2], a[3], b[0], b[1]};
		const ss_u64 *all = ss_emulated_gather((ss_u64)held);
		for (int at = 0; at < 8; at++) {
			const unsigned *p = (const unsigned *)all[row + at % 4], *x = (const unsigned *)all[column + at % 4];
			const unsigned *y = (const unsigned *)all[column + 4 + at % 4];
			ss_mma_part<KIND>(d, p[at / 4 * 2], p[at / 4 * 2 + 1], x[4 + at / 4], y[4 + at / 4]);
		}
		__syncwarp(); /* all have read what this lane holds */
	}
#elif __CUDA_ARCH__ < 750
	constexpr bool plain = true;
#else
	constexpr bool plain = __CUDA_ARCH__ < 800 && KIND == 2;
#endif
	if constexpr (plain) {
#pragma unroll 1
		for (int at = 0; at < 8; at++) {
			const int t = at % 4;
			const unsigned high = __shfl_sync(0xffffffffu, at < 4 ? a[0] : a[2], row + t);
			const unsigned low = __shfl_sync(0xffffffffu, at < 4 ? a[1] : a[3], row + t);
			const unsigned left = __shfl_sync(0xffffffffu, at < 4 ? b[0] : b[1], column + t);
			const unsigned right = __shfl_sync(0xffffffffu, at < 4 ? b[0] : b[1], column + 4 + t);
			ss_mma_part<KIND>(d, high, low, left, right);
		}
	}
#if !defined(SWEETSPOT_EMULATED) && __CUDA_ARCH__ >= 800
	else if constexpr (KIND == 2)
		asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	else
		asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#elif !defined(SWEETSPOT_EMULATED) && __CUDA_ARCH__ >= 750
	else
		for (int s = 0; s < 2; s++)
			asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
			    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[2 * s]), "r"(a[2 * s + 1]), "r"(b[s]));
#endif
}

/* All blocks of a cooperative launch wait for each other. `barrier` points to one zeroed word in global memory that is used
 * for nothing else; it may be used again and again, and need not be zeroed between launches. (The sense is the top bit:
 * block 0 adds what makes the sum of a round 2^31, as in the CUDA headers' cooperative groups.) */
static __device__ __forceinline__ void ss_grid_barrier(unsigned *barrier) {
	__syncthreads();
	if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
		const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
		const bool first = blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0;
		__threadfence();
		const unsigned before = atomicAdd(barrier, first ? 0x80000000u - (blocks - 1) : 1u);
		while ((((before ^ *(volatile unsigned *)barrier) & 0x80000000u)) == 0)
			ss_pause();
		__threadfence();
	}
	__syncthreads();
}

#endif
