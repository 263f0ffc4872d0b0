/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CUDA C++ for the CPU, read before each translated file: what NVRTC knows of itself, as far as kernels here use it
 * (names and meanings: NVIDIA, "CUDA C++ Programming Guide" and "CUDA Math API", 13.0). Where a name is missing, add it
 * here. */
#ifndef TESTS_GPU_EMULATOR_DEVICE_DEVICE_H
#define TESTS_GPU_EMULATOR_DEVICE_DEVICE_H
#include "../link.h"

typedef __SIZE_TYPE__ size_t;
typedef unsigned int uint;
typedef unsigned short ushort;
typedef long clock_t;

#define __global__
#define __device__ __attribute__((visibility("default")))
#define __host__
#define __constant__ __attribute__((visibility("default")))
#define __managed__  __attribute__((visibility("default")))
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __forceinline__      inline __attribute__((always_inline))
#define __noinline__         __attribute__((noinline))
#define __align__(n)         __attribute__((aligned(n)))
#define __shared__           static __attribute__((section("ss_shared")))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __CUDA_ARCH__        900
#define SWEETSPOT_EMULATED   1

struct uint3 {
	unsigned x, y, z;
};
struct dim3 {
	unsigned x, y, z;
	constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {
	}
	constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {
	}
	constexpr operator uint3() const {
		return uint3{x, y, z};
	}
};
static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
static const int warpSize = 32;

/* Set by the driver. */
static const emulated_services *ss_services;
extern char __start_ss_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_ss_shared[] __attribute__((weak, visibility("hidden")));

#define SS_EMULATED_MODULE                                                                                             \
	extern "C" __attribute__((visibility("default"), used))                                                            \
	const emulated_module emulated_module{EMULATED_ABI,                                                                \
	                                      (emulated_xyz *)&threadIdx,                                                  \
	                                      (emulated_xyz *)&blockIdx,                                                   \
	                                      (emulated_xyz *)&blockDim,                                                   \
	                                      (emulated_xyz *)&gridDim,                                                    \
	                                      &ss_services,                                                                \
	                                      __start_ss_shared,                                                           \
	                                      __stop_ss_shared};

/* A kernel's arguments come as pointers to them. */
template <unsigned... I> struct ss_numbers {};
template <unsigned N, unsigned... I> struct ss_count : ss_count<N - 1, N - 1, I...> {};
template <unsigned... I> struct ss_count<0, I...> { typedef ss_numbers<I...> type; };
template <class T> struct ss_plain { typedef T type; };
template <class T> struct ss_plain<const T> { typedef T type; };
template <auto F> struct ss_caller;
template <class... A, void (*F)(A...)> struct ss_caller<F> {
	static constexpr unsigned sizes[sizeof...(A) + 1] = {sizeof(A)..., 0};
	template <unsigned... I> static void call_with(void **arguments, ss_numbers<I...>) {
		F(*(typename ss_plain<A>::type *)arguments[I]...);
	}
	static void call(void **arguments) {
		call_with(arguments, typename ss_count<sizeof...(A)>::type());
	}
	static constexpr unsigned count = sizeof...(A);
};
template <class... A> constexpr unsigned ss_first(long long first, A...) {
	return (unsigned)first;
}
#define SS_EMULATED_KERNEL(name, bound, cluster, function)                                                             \
	extern "C" __attribute__((visibility("default"), used))                                                            \
	const emulated_kernel emulated_kernel_##name{ss_caller<function>::call, ss_first bound, ss_first cluster,          \
	                                             ss_caller<function>::count, ss_caller<function>::sizes};

static inline void *ss_emulated_dynamic() {
	return ss_services->dynamic();
}
template <class T> struct ss_dynamic {
	operator T *() const {
		return (T *)ss_emulated_dynamic();
	}
	template <class P> explicit operator P *() const {
		return (P *)ss_emulated_dynamic();
	}
};
static inline void ss_emulated_yield() {
	ss_services->yield();
}

extern "C" {
int printf(const char *format, ...);
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
}
#define NULL              __null
#define assert(condition) ((condition) ? (void)0 : ss_services->trap("assert(" #condition ")"))
static inline void __trap() {
	ss_services->trap("__trap");
}

#include "vectors.h"
#include "numbers.h"
#include "math.h"
#include "warp.h"
#include "atomics.h"
#endif
