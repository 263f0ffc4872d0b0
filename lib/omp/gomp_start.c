/* SPDX-License-Identifier: BSD-3-Clause */
/* GNU's runtime as gcc before 4.9 used it, and as newer ones still serve it: the program starts the team, runs the
 * region's code itself as its master, and ends the team. A region may begin within another one of the same thread, so
 * each thread keeps a small stack of them. */
#include <stdatomic.h>

#include "lib/omp/gomp.h"

enum { DEPTH = 4 }; /* deeper ones go straight through */

struct started {
	struct omp_visit visit;
	struct gomp_timed timed;
	uint64_t start_ns;
};

OMP_TLS struct started stack[DEPTH];
OMP_TLS unsigned depth;

typedef void region_function(void *data);
typedef void parallel_function(region_function *, void *, unsigned);
typedef void loop_function(region_function *, void *, unsigned, long, long, long, long);
typedef void runtime_function(region_function *, void *, unsigned, long, long, long);
typedef void sections_function(region_function *, void *, unsigned, unsigned);
typedef void end_function(void);

/* NULL: too deep. Counts it in any case, for the end that will come. */
static struct started *push(region_function **function, void **data, enum omp_sharing sharing, unsigned *threads,
                            int64_t trips) {
	struct started *started = depth < DEPTH ? &stack[depth] : NULL;
	depth++;
	if (started) {
		gomp_begin(&started->visit, &started->timed, function, data, sharing, *threads, trips);
		*threads = started->visit.threads;
	}
	return started;
}

/* The runtime has started the others; the master goes on in the program. */
static void master_begin(struct started *started) {
	if (started && omp_visit_is_inside(&started->visit))
		started->start_ns = omp_inside_begin(&started->visit);
}

#define NEXT(TYPE, NAME)                                                                                               \
	static _Atomic(TYPE *) next;                                                                                       \
	TYPE *real = next;                                                                                                 \
	if (!real) {                                                                                                       \
		*(void **)&real = omp_next(#NAME);                                                                             \
		next = real;                                                                                                   \
	}

OMP_EXPORT parallel_function GOMP_parallel_start;
void GOMP_parallel_start(region_function *function, void *data, unsigned threads) {
	NEXT(parallel_function, GOMP_parallel_start)
	struct started *started = push(&function, &data, OMP_PARALLEL, &threads, 0);
	real(function, data, threads);
	master_begin(started);
}

#define LOOP(NAME, SHARING)                                                                                            \
	OMP_EXPORT loop_function NAME;                                                                                     \
	void NAME(region_function *function, void *data, unsigned threads, long start, long end, long incr, long chunk) {  \
		NEXT(loop_function, NAME)                                                                                      \
		struct started *started = push(&function, &data, SHARING, &threads, gomp_trips(start, end, incr));             \
		real(function, data, threads, start, end, incr, started ? gomp_chunk_of(&started->visit, chunk) : chunk);      \
		master_begin(started);                                                                                         \
	}
LOOP(GOMP_parallel_loop_static_start, OMP_LOOP_STATIC)
LOOP(GOMP_parallel_loop_dynamic_start, OMP_LOOP_DYNAMIC)
LOOP(GOMP_parallel_loop_guided_start, OMP_LOOP_GUIDED)

OMP_EXPORT runtime_function GOMP_parallel_loop_runtime_start;
void GOMP_parallel_loop_runtime_start(region_function *function, void *data, unsigned threads, long start, long end,
                                      long incr) {
	NEXT(runtime_function, GOMP_parallel_loop_runtime_start)
	struct started *started = push(&function, &data, OMP_LOOP_RUNTIME, &threads, gomp_trips(start, end, incr));
	real(function, data, threads, start, end, incr);
	master_begin(started);
}

OMP_EXPORT sections_function GOMP_parallel_sections_start;
void GOMP_parallel_sections_start(region_function *function, void *data, unsigned threads, unsigned count) {
	NEXT(sections_function, GOMP_parallel_sections_start)
	struct started *started = push(&function, &data, OMP_SECTIONS, &threads, 0);
	real(function, data, threads, count);
	master_begin(started);
}

OMP_EXPORT end_function GOMP_parallel_end;
void GOMP_parallel_end(void) {
	NEXT(end_function, GOMP_parallel_end)
	struct started *started = depth && --depth < DEPTH ? &stack[depth] : NULL;
	if (started && omp_visit_is_inside(&started->visit))
		omp_inside_end(&started->visit, started->start_ns);
	real();
	if (started)
		gomp_finish(&started->visit, &started->timed);
}
