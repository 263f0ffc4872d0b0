/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops within a region of GNU's runtime, as opposed to a region that is one loop: the first thread that begins one
 * tells its chunk to the runtime. Their kind is compiled in, but for schedule(runtime). */
#define _GNU_SOURCE
#include <stdatomic.h>

#include "lib/omp/omp.h"

typedef unsigned long long wide;

static long chunk_of(long chunk) {
	struct omp_setting setting = omp_inside_setting();
	return setting.chunk ? (long)setting.chunk : chunk;
}

#define NEXT(NAME)                                                                                                     \
	static _Atomic(NAME##_function *) next;                                                                            \
	NAME##_function *function = next;                                                                                  \
	if (!function) {                                                                                                   \
		*(void **)&function = omp_next(#NAME);                                                                         \
		next = function;                                                                                               \
	}

#define CHUNKED(NAME, SHARING)                                                                                         \
	typedef bool NAME##_function(long, long, long, long, long *, long *);                                              \
	OMP_EXPORT NAME##_function NAME;                                                                                   \
	bool NAME(long start, long end, long incr, long chunk, long *from, long *to) {                                     \
		NEXT(NAME)                                                                                                     \
		omp_region_shares(SHARING);                                                                                    \
		return function(start, end, incr, chunk_of(chunk), from, to);                                                  \
	}
CHUNKED(GOMP_loop_dynamic_start, OMP_LOOP_DYNAMIC)
CHUNKED(GOMP_loop_nonmonotonic_dynamic_start, OMP_LOOP_DYNAMIC)
CHUNKED(GOMP_loop_guided_start, OMP_LOOP_GUIDED)
CHUNKED(GOMP_loop_nonmonotonic_guided_start, OMP_LOOP_GUIDED)

#define CHUNKED_WIDE(NAME, SHARING)                                                                                    \
	typedef bool NAME##_function(bool, wide, wide, wide, wide, wide *, wide *);                                        \
	OMP_EXPORT NAME##_function NAME;                                                                                   \
	bool NAME(bool up, wide start, wide end, wide incr, wide chunk, wide *from, wide *to) {                            \
		NEXT(NAME)                                                                                                     \
		omp_region_shares(SHARING);                                                                                    \
		return function(up, start, end, incr, (wide)chunk_of((long)chunk), from, to);                                  \
	}
CHUNKED_WIDE(GOMP_loop_ull_dynamic_start, OMP_LOOP_DYNAMIC)
CHUNKED_WIDE(GOMP_loop_ull_nonmonotonic_dynamic_start, OMP_LOOP_DYNAMIC)
CHUNKED_WIDE(GOMP_loop_ull_guided_start, OMP_LOOP_GUIDED)
CHUNKED_WIDE(GOMP_loop_ull_nonmonotonic_guided_start, OMP_LOOP_GUIDED)

#define RUNTIME(NAME)                                                                                                  \
	typedef bool NAME##_function(long, long, long, long *, long *);                                                    \
	OMP_EXPORT NAME##_function NAME;                                                                                   \
	bool NAME(long start, long end, long incr, long *from, long *to) {                                                 \
		NEXT(NAME)                                                                                                     \
		omp_region_shares(OMP_LOOP_RUNTIME);                                                                           \
		return function(start, end, incr, from, to);                                                                   \
	}
RUNTIME(GOMP_loop_runtime_start)
RUNTIME(GOMP_loop_nonmonotonic_runtime_start)
RUNTIME(GOMP_loop_maybe_nonmonotonic_runtime_start)

#define RUNTIME_WIDE(NAME)                                                                                             \
	typedef bool NAME##_function(bool, wide, wide, wide, wide *, wide *);                                              \
	OMP_EXPORT NAME##_function NAME;                                                                                   \
	bool NAME(bool up, wide start, wide end, wide incr, wide *from, wide *to) {                                        \
		NEXT(NAME)                                                                                                     \
		omp_region_shares(OMP_LOOP_RUNTIME);                                                                           \
		return function(up, start, end, incr, from, to);                                                               \
	}
RUNTIME_WIDE(GOMP_loop_ull_runtime_start)
RUNTIME_WIDE(GOMP_loop_ull_nonmonotonic_runtime_start)
RUNTIME_WIDE(GOMP_loop_ull_maybe_nonmonotonic_runtime_start)
