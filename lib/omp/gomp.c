/* SPDX-License-Identifier: BSD-3-Clause */
/* GNU's runtime; its ABI: gcc/libgomp/libgomp_g.h. A combined loop hands its bounds to the wrapper; the code of the
 * region then asks for its pieces by the functions of the kind that it was compiled for. So only the chunk of such a
 * loop can be changed, except for schedule(runtime), whose kind the runtime looks up. */
#include "lib/omp/omp_impl.h"

typedef void region_function(void *data);

/* The code of a region, where its threads are timed or get a schedule. Lives as long as the region. */
struct timed {
	region_function *function;
	void *data;
	struct omp_visit *visit, *outside;
};

static void timed_run(void *data) {
	const struct timed *timed = data;
	struct omp_inside thread;
	omp_inside_begin(timed->visit, &thread);
	timed->function(timed->data);
	omp_inside_end(timed->visit, &thread);
}

OMP_EXPORT void GOMP_parallel(region_function *function, void *data, unsigned threads, unsigned flags);

static void nothing(void *data) {
	(void)data;
}

static void empty_region(void *function, unsigned threads) {
	OMP_REAL(GOMP_parallel, function)(nothing, NULL, threads, 0);
}

/* trips: iterations of the loop, 0 for unknown. Changes function and data where the threads of the team must run code
 * of ours. */
static void begin(struct omp_visit *visit, struct timed *timed, region_function **function, void **data,
                  enum omp_sharing sharing, unsigned threads, int64_t trips) {
	const struct omp_begun begun = {.function = OMP_CODE(*function),
	                                .sharing = sharing,
	                                .runtime = OMP_RUNTIME_GOMP,
	                                .asked = threads,
	                                .empty = empty_region};
	visit->inputs = (struct omp_inputs){.words = *data, .count = OMP_INPUTS, .trips = trips};
	*timed = (struct timed){.function = *function, .data = *data, .visit = visit, .outside = omp_inside_leave()};
	omp_region_begin(visit, &begun);
	if (omp_visit_is_inside(visit)) {
		*function = timed_run;
		*data = timed;
	}
}

static void finish(struct omp_visit *visit, const struct timed *timed) {
	omp_inside_back(timed->outside);
	omp_region_end(visit);
}

static int64_t trips_of(long start, long end, long incr) {
	return incr ? ((int64_t)end - start) / incr : 0;
}

static long chunk_of(const struct omp_visit *visit, long chunk) {
	return visit->outer && visit->setting.chunk ? (long)visit->setting.chunk : chunk;
}

/* PARAMETERS and what is passed on after the number of threads. */
#define WRAPPED(NAME, SHARING, TRIPS, PARAMETERS, PLAIN, CHANGED)                                                      \
	OMP_EXPORT void NAME PARAMETERS;                                                                                   \
	void NAME PARAMETERS {                                                                                             \
		__typeof__(NAME) *real = OMP_REAL(NAME, OMP_CODE(function));                                                   \
		struct omp_visit visit;                                                                                        \
		struct timed timed;                                                                                            \
		if (!omp_is_asked()) {                                                                                         \
			real PLAIN;                                                                                                \
			return;                                                                                                    \
		}                                                                                                              \
		begin(&visit, &timed, &function, &data, SHARING, threads, TRIPS);                                              \
		real CHANGED;                                                                                                  \
		finish(&visit, &timed);                                                                                        \
	}

WRAPPED(GOMP_parallel, OMP_PARALLEL, 0, (region_function * function, void *data, unsigned threads, unsigned flags),
        (function, data, threads, flags), (function, data, visit.threads, flags))
WRAPPED(GOMP_parallel_sections, OMP_SECTIONS, 0,
        (region_function * function, void *data, unsigned threads, unsigned count, unsigned flags),
        (function, data, threads, count, flags), (function, data, visit.threads, count, flags))

/* A chunk in the table counts iterations, as the clause does: libgomp multiplies it by the increment itself. */
#define LOOP(NAME, SHARING)                                                                                            \
	WRAPPED(NAME, SHARING, trips_of(start, end, incr),                                                                 \
	        (region_function * function, void *data, unsigned threads, long start, long end, long incr, long chunk,    \
	         unsigned flags),                                                                                          \
	        (function, data, threads, start, end, incr, chunk, flags),                                                 \
	        (function, data, visit.threads, start, end, incr, chunk_of(&visit, chunk), flags))
LOOP(GOMP_parallel_loop_static, OMP_LOOP_STATIC)
LOOP(GOMP_parallel_loop_dynamic, OMP_LOOP_DYNAMIC)
LOOP(GOMP_parallel_loop_guided, OMP_LOOP_GUIDED)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic, OMP_LOOP_DYNAMIC)
LOOP(GOMP_parallel_loop_nonmonotonic_guided, OMP_LOOP_GUIDED)

#define RUNTIME(NAME)                                                                                                  \
	WRAPPED(                                                                                                           \
		NAME, OMP_LOOP_RUNTIME, trips_of(start, end, incr),                                                            \
		(region_function * function, void *data, unsigned threads, long start, long end, long incr, unsigned flags),   \
		(function, data, threads, start, end, incr, flags), (function, data, visit.threads, start, end, incr, flags))
RUNTIME(GOMP_parallel_loop_runtime)
RUNTIME(GOMP_parallel_loop_nonmonotonic_runtime)
RUNTIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* The runtime looks into the data of a region with task reductions, so its threads cannot be timed. */
OMP_EXPORT unsigned GOMP_parallel_reductions(region_function *function, void *data, unsigned threads, unsigned flags);
unsigned GOMP_parallel_reductions(region_function *function, void *data, unsigned threads, unsigned flags) {
	__typeof__(GOMP_parallel_reductions) *real = OMP_REAL(GOMP_parallel_reductions, OMP_CODE(function));
	region_function *code = function;
	struct omp_visit visit;
	struct timed timed;
	if (!omp_is_asked())
		return real(function, data, threads, flags);
	begin(&visit, &timed, &code, &(void *){data}, OMP_PARALLEL, threads, 0);
	visit.busy = false;
	unsigned team = real(function, data, visit.threads, flags);
	finish(&visit, &timed);
	return team;
}

/* ---- loops within a region, as opposed to a region that is one loop ----
 * The first thread that begins one tells its chunk to the runtime. Their kind is compiled in, but for
 * schedule(runtime). */
typedef unsigned long long wide;

static long inside_chunk(long chunk) {
	struct omp_setting setting = omp_inside_setting();
	return setting.chunk ? (long)setting.chunk : chunk;
}

#define STARTED(NAME, SHARING, PARAMETERS, PLAIN, CHANGED)                                                             \
	OMP_EXPORT bool NAME PARAMETERS;                                                                                   \
	bool NAME PARAMETERS {                                                                                             \
		__typeof__(NAME) *real = OMP_REAL(NAME, OMP_CALLER);                                                           \
		if (!omp_is_asked())                                                                                           \
			return real PLAIN;                                                                                         \
		omp_region_shares(SHARING);                                                                                    \
		return real CHANGED;                                                                                           \
	}
#define CHUNKED(NAME, SHARING)                                                                                         \
	STARTED(NAME, SHARING, (long start, long end, long incr, long chunk, long *from, long *to),                        \
	        (start, end, incr, chunk, from, to), (start, end, incr, inside_chunk(chunk), from, to))
CHUNKED(GOMP_loop_dynamic_start, OMP_LOOP_DYNAMIC)
CHUNKED(GOMP_loop_nonmonotonic_dynamic_start, OMP_LOOP_DYNAMIC)
CHUNKED(GOMP_loop_guided_start, OMP_LOOP_GUIDED)
CHUNKED(GOMP_loop_nonmonotonic_guided_start, OMP_LOOP_GUIDED)

#define CHUNKED_WIDE(NAME, SHARING)                                                                                    \
	STARTED(NAME, SHARING, (bool up, wide start, wide end, wide incr, wide chunk, wide *from, wide *to),               \
	        (up, start, end, incr, chunk, from, to),                                                                   \
	        (up, start, end, incr, (wide)inside_chunk((long)chunk), from, to))
CHUNKED_WIDE(GOMP_loop_ull_dynamic_start, OMP_LOOP_DYNAMIC)
CHUNKED_WIDE(GOMP_loop_ull_nonmonotonic_dynamic_start, OMP_LOOP_DYNAMIC)
CHUNKED_WIDE(GOMP_loop_ull_guided_start, OMP_LOOP_GUIDED)
CHUNKED_WIDE(GOMP_loop_ull_nonmonotonic_guided_start, OMP_LOOP_GUIDED)

#define OF_RUNTIME(NAME)                                                                                               \
	STARTED(NAME, OMP_LOOP_RUNTIME, (long start, long end, long incr, long *from, long *to),                           \
	        (start, end, incr, from, to), (start, end, incr, from, to))
OF_RUNTIME(GOMP_loop_runtime_start)
OF_RUNTIME(GOMP_loop_nonmonotonic_runtime_start)
OF_RUNTIME(GOMP_loop_maybe_nonmonotonic_runtime_start)

#define OF_RUNTIME_WIDE(NAME)                                                                                          \
	STARTED(NAME, OMP_LOOP_RUNTIME, (bool up, wide start, wide end, wide incr, wide *from, wide *to),                  \
	        (up, start, end, incr, from, to), (up, start, end, incr, from, to))
OF_RUNTIME_WIDE(GOMP_loop_ull_runtime_start)
OF_RUNTIME_WIDE(GOMP_loop_ull_nonmonotonic_runtime_start)
OF_RUNTIME_WIDE(GOMP_loop_ull_maybe_nonmonotonic_runtime_start)

/* ---- as gcc before 4.9 used it, and as newer runtimes still serve it ----
 * The program starts the team, runs the region's code itself as its master, and ends the team. A region may begin
 * within another one of the same thread, so each thread keeps a small stack of them. */
enum { DEPTH = 2 }; /* deeper ones go straight through */

struct started {
	struct omp_visit visit;
	struct timed timed;
	struct omp_inside master;
};

OMP_TLS struct started stack[DEPTH];
OMP_TLS unsigned depth;

/* NULL: too deep. Counts it in any case, for the end that will come. */
static struct started *push(region_function **function, void **data, enum omp_sharing sharing, unsigned *threads,
                            int64_t trips) {
	struct started *started = depth < DEPTH ? &stack[depth] : NULL;
	depth++;
	if (started) {
		begin(&started->visit, &started->timed, function, data, sharing, *threads, trips);
		*threads = started->visit.threads;
	}
	return started;
}

/* The runtime has started the others; the master goes on in the program. */
static void master_begin(struct started *started) {
	if (started && omp_visit_is_inside(&started->visit))
		omp_inside_begin(&started->visit, &started->master);
}

#define OLD(NAME, SHARING, TRIPS, CHUNK, PARAMETERS, ARGUMENTS)                                                        \
	OMP_EXPORT void NAME PARAMETERS;                                                                                   \
	void NAME PARAMETERS {                                                                                             \
		__typeof__(NAME) *real = OMP_REAL(NAME, OMP_CODE(function));                                                   \
		if (!omp_is_asked()) {                                                                                         \
			real ARGUMENTS;                                                                                            \
			return;                                                                                                    \
		}                                                                                                              \
		struct started *started = push(&function, &data, SHARING, &threads, TRIPS);                                    \
		CHUNK;                                                                                                         \
		real ARGUMENTS;                                                                                                \
		master_begin(started);                                                                                         \
	}

OLD(GOMP_parallel_start, OMP_PARALLEL, 0, (void)0, (region_function * function, void *data, unsigned threads),
    (function, data, threads))
OLD(GOMP_parallel_sections_start, OMP_SECTIONS, 0, (void)0,
    (region_function * function, void *data, unsigned threads, unsigned count), (function, data, threads, count))
OLD(GOMP_parallel_loop_runtime_start, OMP_LOOP_RUNTIME, trips_of(start, end, incr), (void)0,
    (region_function * function, void *data, unsigned threads, long start, long end, long incr),
    (function, data, threads, start, end, incr))

#define OLD_LOOP(NAME, SHARING)                                                                                        \
	OLD(NAME, SHARING, trips_of(start, end, incr), chunk = started ? chunk_of(&started->visit, chunk) : chunk,         \
	    (region_function * function, void *data, unsigned threads, long start, long end, long incr, long chunk),       \
	    (function, data, threads, start, end, incr, chunk))
OLD_LOOP(GOMP_parallel_loop_static_start, OMP_LOOP_STATIC)
OLD_LOOP(GOMP_parallel_loop_dynamic_start, OMP_LOOP_DYNAMIC)
OLD_LOOP(GOMP_parallel_loop_guided_start, OMP_LOOP_GUIDED)

OMP_EXPORT void GOMP_parallel_end(void);
void GOMP_parallel_end(void) {
	struct started *started = depth && --depth < DEPTH ? &stack[depth] : NULL;
	const void *code = started ? OMP_CODE(started->timed.function) : OMP_CALLER;
	if (started && omp_visit_is_inside(&started->visit))
		omp_inside_end(&started->visit, &started->master);
	OMP_REAL(GOMP_parallel_end, code)();
	if (started)
		finish(&started->visit, &started->timed);
}
