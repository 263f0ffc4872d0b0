/* SPDX-License-Identifier: BSD-3-Clause */
/* GNU's runtime. A combined loop hands its bounds to the wrapper; the code of the region then asks for its pieces by
 * the functions of the kind that it was compiled for. So only the chunk of such a loop can be changed, except for
 * schedule(runtime), whose kind the runtime looks up. libgomp's ABI: gcc/libgomp/libgomp_g.h. */
#define _GNU_SOURCE
#include <pthread.h>

#include "lib/omp/gomp.h"

typedef void region_function(void *data);

static void timed_run(void *data) {
	const struct gomp_timed *timed = data;
	uint64_t start = omp_inside_begin(timed->visit);
	timed->function(timed->data);
	omp_inside_end(timed->visit, start);
}

typedef void parallel_function(region_function *, void *, unsigned, unsigned);
typedef void loop_function(region_function *, void *, unsigned, long, long, long, long, unsigned);
typedef void runtime_function(region_function *, void *, unsigned, long, long, long, unsigned);
typedef void sections_function(region_function *, void *, unsigned, unsigned, unsigned);
typedef unsigned reductions_function(region_function *, void *, unsigned, unsigned);

static struct {
	parallel_function *parallel;
	loop_function *loop_static, *dynamic, *guided, *nonmonotonic_dynamic, *nonmonotonic_guided;
	runtime_function *runtime, *nonmonotonic_runtime, *maybe_nonmonotonic_runtime;
	sections_function *sections;
	reductions_function *reductions;
} real;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void nothing(void *data) {
	(void)data;
}

static void empty_region(unsigned threads) {
	real.parallel(nothing, NULL, threads, 0);
}

static void find(void) {
	*(void **)&real.parallel = omp_next("GOMP_parallel");
	*(void **)&real.loop_static = omp_next("GOMP_parallel_loop_static");
	*(void **)&real.dynamic = omp_next("GOMP_parallel_loop_dynamic");
	*(void **)&real.guided = omp_next("GOMP_parallel_loop_guided");
	*(void **)&real.nonmonotonic_dynamic = omp_next("GOMP_parallel_loop_nonmonotonic_dynamic");
	*(void **)&real.nonmonotonic_guided = omp_next("GOMP_parallel_loop_nonmonotonic_guided");
	*(void **)&real.runtime = omp_next("GOMP_parallel_loop_runtime");
	*(void **)&real.nonmonotonic_runtime = omp_next("GOMP_parallel_loop_nonmonotonic_runtime");
	*(void **)&real.maybe_nonmonotonic_runtime = omp_next("GOMP_parallel_loop_maybe_nonmonotonic_runtime");
	*(void **)&real.sections = omp_next("GOMP_parallel_sections");
	*(void **)&real.reductions = omp_next("GOMP_parallel_reductions");
	struct omp_record *record = omp_record_get();
	record->runtime = OMP_RUNTIME_GOMP;
	if (omp_table_get() && real.parallel && omp_calls_get()->level && omp_calls_get()->level() == 0)
		omp_teams_probe(record, omp_table_get(), empty_region);
}

void gomp_begin(struct omp_visit *visit, struct gomp_timed *timed, region_function **function, void **data,
                enum omp_sharing sharing, unsigned threads, int64_t trips) {
	pthread_once(&once, find);
	visit->inputs = (struct omp_inputs){.words = *data, .count = OMP_INPUTS, .trips = trips};
	*timed = (struct gomp_timed){.function = *function, .data = *data, .visit = visit, .outside = omp_inside_leave()};
	omp_region_begin(visit, *(void **)function, sharing, NULL, threads);
	if (omp_visit_is_inside(visit)) {
		*function = timed_run;
		*data = timed;
	}
}

void gomp_finish(struct omp_visit *visit, const struct gomp_timed *timed) {
	omp_inside_back(timed->outside);
	omp_region_end(visit);
}

int64_t gomp_trips(long start, long end, long incr) {
	return incr ? ((int64_t)end - start) / incr : 0;
}

long gomp_chunk_of(const struct omp_visit *visit, long chunk) {
	return visit->outer && visit->setting.chunk ? (long)visit->setting.chunk : chunk;
}

OMP_EXPORT parallel_function GOMP_parallel;
void GOMP_parallel(region_function *function, void *data, unsigned threads, unsigned flags) {
	struct omp_visit visit;
	struct gomp_timed timed;
	gomp_begin(&visit, &timed, &function, &data, OMP_PARALLEL, threads, 0);
	real.parallel(function, data, visit.threads, flags);
	gomp_finish(&visit, &timed);
}

/* A chunk in the table counts iterations, as the clause does: libgomp multiplies it by the increment itself. */
#define LOOP(NAME, MEMBER, SHARING)                                                                                    \
	OMP_EXPORT loop_function NAME;                                                                                     \
	void NAME(region_function *function, void *data, unsigned threads, long start, long end, long incr, long chunk,    \
	          unsigned flags) {                                                                                        \
		struct omp_visit visit;                                                                                        \
		struct gomp_timed timed;                                                                                       \
		gomp_begin(&visit, &timed, &function, &data, SHARING, threads, gomp_trips(start, end, incr));                  \
		real.MEMBER(function, data, visit.threads, start, end, incr, gomp_chunk_of(&visit, chunk), flags);             \
		gomp_finish(&visit, &timed);                                                                                   \
	}
LOOP(GOMP_parallel_loop_static, loop_static, OMP_LOOP_STATIC)
LOOP(GOMP_parallel_loop_dynamic, dynamic, OMP_LOOP_DYNAMIC)
LOOP(GOMP_parallel_loop_guided, guided, OMP_LOOP_GUIDED)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic, nonmonotonic_dynamic, OMP_LOOP_DYNAMIC)
LOOP(GOMP_parallel_loop_nonmonotonic_guided, nonmonotonic_guided, OMP_LOOP_GUIDED)

#define RUNTIME(NAME, MEMBER)                                                                                          \
	OMP_EXPORT runtime_function NAME;                                                                                  \
	void NAME(region_function *function, void *data, unsigned threads, long start, long end, long incr,                \
	          unsigned flags) {                                                                                        \
		struct omp_visit visit;                                                                                        \
		struct gomp_timed timed;                                                                                       \
		gomp_begin(&visit, &timed, &function, &data, OMP_LOOP_RUNTIME, threads, gomp_trips(start, end, incr));         \
		real.MEMBER(function, data, visit.threads, start, end, incr, flags);                                           \
		gomp_finish(&visit, &timed);                                                                                   \
	}
RUNTIME(GOMP_parallel_loop_runtime, runtime)
RUNTIME(GOMP_parallel_loop_nonmonotonic_runtime, nonmonotonic_runtime)
RUNTIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime, maybe_nonmonotonic_runtime)

OMP_EXPORT sections_function GOMP_parallel_sections;
void GOMP_parallel_sections(region_function *function, void *data, unsigned threads, unsigned count, unsigned flags) {
	struct omp_visit visit;
	struct gomp_timed timed;
	gomp_begin(&visit, &timed, &function, &data, OMP_SECTIONS, threads, 0);
	real.sections(function, data, visit.threads, count, flags);
	gomp_finish(&visit, &timed);
}

/* The runtime looks into the data of a region with task reductions, so its threads cannot be timed. */
OMP_EXPORT reductions_function GOMP_parallel_reductions;
unsigned GOMP_parallel_reductions(region_function *function, void *data, unsigned threads, unsigned flags) {
	struct omp_visit visit, *outside = omp_inside_leave();
	pthread_once(&once, find);
	visit.inputs = (struct omp_inputs){.words = data, .count = OMP_INPUTS};
	omp_region_begin(&visit, *(void **)&function, OMP_PARALLEL, NULL, threads);
	visit.busy = false;
	unsigned team = real.reductions(function, data, visit.threads, flags);
	omp_inside_back(outside);
	omp_region_end(&visit);
	return team;
}
