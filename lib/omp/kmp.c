/* SPDX-License-Identifier: BSD-3-Clause */
/* LLVM's and Intel's runtime: every region is a variable number of pointers handed to __kmpc_fork_call, and a loop
 * whose schedule is decided at run time asks __kmpc_dispatch_init first. ABI: openmp/runtime/src/kmp.h. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/omp/omp.h"

typedef struct {
	int32_t reserved, flags, reserved2, reserved3;
	const char *source; /* ";file;function;line;column;;" */
} kmp_location;
typedef void microtask(int32_t *thread, int32_t *bound, ...);
typedef void fork_function(kmp_location *, int32_t, microtask *, ...);
typedef void push_function(kmp_location *, int32_t, int32_t);
typedef int32_t thread_function(kmp_location *);

enum {
	ARGUMENTS_FEW = 12,
	ARGUMENTS_MANY = 128,
	ARGUMENTS_MOST = 1024,
	SCHEDULE_STATIC_CHUNKED = 33,
	SCHEDULE_STATIC = 34,
	SCHEDULE_DYNAMIC = 35,
	SCHEDULE_GUIDED = 36,
	SCHEDULE_RUNTIME = 37,
	SCHEDULE_AUTO = 38
};
static const int32_t SCHEDULE_MODIFIERS = 3 << 29;

static struct {
	fork_function *fork;
	push_function *push;
	thread_function *thread;
} real;
static pthread_once_t once = PTHREAD_ONCE_INIT;
OMP_TLS unsigned pushed; /* num_threads of the region that comes next */

static void nothing(int32_t *thread, int32_t *bound, ...) {
	(void)thread;
	(void)bound;
}

static void empty_region(unsigned threads) {
	static kmp_location here = {.flags = 2, .source = ";unknown;unknown;0;0;;"};
	real.push(&here, real.thread(&here), (int32_t)threads);
	real.fork(&here, 0, nothing);
}

static void find(void) {
	*(void **)&real.fork = omp_next("__kmpc_fork_call");
	*(void **)&real.push = omp_next("__kmpc_push_num_threads");
	*(void **)&real.thread = omp_next("__kmpc_global_thread_num");
	struct omp_record *record = omp_record_get();
	record->runtime = OMP_RUNTIME_KMP;
	if (omp_table_get() && real.fork && real.push && real.thread && omp_calls_get()->level &&
	    omp_calls_get()->level() == 0)
		omp_teams_probe(record, omp_table_get(), empty_region);
}

OMP_EXPORT push_function __kmpc_push_num_threads;
void __kmpc_push_num_threads(kmp_location *location, int32_t thread, int32_t threads) {
	pthread_once(&once, find);
	pushed = threads > 0 ? (unsigned)threads : 0;
	real.push(location, thread, threads);
}

#define A4(i)   a[i], a[i + 1], a[i + 2], a[i + 3]
#define A16(i)  A4(i), A4(i + 4), A4(i + 8), A4(i + 12)
#define A64(i)  A16(i), A16(i + 16), A16(i + 32), A16(i + 48)
#define A512(i) A64(i), A64(i + 64), A64(i + 128), A64(i + 192), A64(i + 256), A64(i + 320), A64(i + 384), A64(i + 448)

/* The callee reads `count` pointers and no more, so that handing over too many is harmless. */
static void fork_on(kmp_location *location, int32_t count, microtask *task, void **a) {
	if (count <= ARGUMENTS_FEW)
		real.fork(location, count, task, A4(0), A4(4), A4(8));
	else if (count <= ARGUMENTS_MANY)
		real.fork(location, count, task, A64(0), A64(64));
	else
		real.fork(location, count, task, A512(0), A512(512));
}

struct wrapped {
	microtask *task;
	struct omp_visit *visit;
	int32_t count;
	void **a;
};

/* Each thread of the team runs this instead of the region's code. */
static void wrapped_run(int32_t *thread, int32_t *bound, ...) {
	va_list list;
	va_start(list, bound);
	const struct wrapped *wrapped = va_arg(list, const struct wrapped *);
	va_end(list);
	void **a = wrapped->a;
	uint64_t start = omp_inside_begin(wrapped->visit);
	if (wrapped->count <= ARGUMENTS_FEW)
		wrapped->task(thread, bound, A4(0), A4(4), A4(8));
	else if (wrapped->count <= ARGUMENTS_MANY)
		wrapped->task(thread, bound, A64(0), A64(64));
	else
		wrapped->task(thread, bound, A512(0), A512(512));
	omp_inside_end(wrapped->visit, start);
}

static void too_many(int32_t count) {
	fprintf(stderr, "sweetspot: a parallel region shares %d variables, more than can be passed on\n", (int)count);
	abort();
}

OMP_EXPORT fork_function __kmpc_fork_call;
void __kmpc_fork_call(kmp_location *location, int32_t count, microtask *task, ...) {
	struct omp_visit visit;
	va_list list;
	pthread_once(&once, find);
	if (count > ARGUMENTS_MOST)
		too_many(count);
	size_t room = count <= ARGUMENTS_FEW ? ARGUMENTS_FEW : count <= ARGUMENTS_MANY ? ARGUMENTS_MANY : ARGUMENTS_MOST;
	void **a = __builtin_alloca(room * sizeof *a);
	memset(a, 0, room * sizeof *a);
	va_start(list, task);
	for (int32_t i = 0; i < count; i++)
		a[i] = va_arg(list, void *);
	va_end(list);
	unsigned asked = pushed;
	pushed = 0;
	struct omp_visit *outside = omp_inside_leave();
	visit.inputs = (struct omp_inputs){.words = a, .count = (uint32_t)count};
	omp_region_begin(&visit, *(void **)&task, OMP_PARALLEL, location ? location->source : NULL, asked);
	if (visit.slot && visit.threads != asked)
		real.push(location, real.thread(location), (int32_t)visit.threads);
	struct wrapped wrapped = {task, &visit, count, a};
	if (visit.slot && omp_visit_is_inside(&visit))
		real.fork(location, 1, wrapped_run, &wrapped);
	else
		fork_on(location, count, task, a);
	omp_region_end(&visit);
	omp_inside_back(outside);
}

/* Flang, and clang where a clause decides whether there is a team. The runtime calls its own function for this, past
 * any wrapper. Arguments come as one pointer, or not at all. */
typedef void fork_if_function(kmp_location *, int32_t, microtask *, int32_t, void *);
OMP_EXPORT fork_if_function __kmpc_fork_call_if;
void __kmpc_fork_call_if(kmp_location *location, int32_t count, microtask *task, int32_t condition, void *arguments) {
	fork_if_function *next;
	if (condition && arguments) {
		__kmpc_fork_call(location, count, task, arguments);
	} else if (condition) {
		__kmpc_fork_call(location, count, task);
	} else {
		*(void **)&next = omp_next("__kmpc_fork_call_if");
		next(location, count, task, condition, arguments);
	}
}

/* kmp.h's enum sched_type: a loop that the runtime hands out is asked for as one of these, without the loops that are
 * ordered. Every thread of the team must ask for the same. */
static int32_t schedule_of(struct omp_setting setting, int32_t schedule, int64_t *chunk) {
	static const int32_t kinds[] = {[OMP_KIND_STATIC] = SCHEDULE_STATIC,
	                                [OMP_KIND_DYNAMIC] = SCHEDULE_DYNAMIC,
	                                [OMP_KIND_GUIDED] = SCHEDULE_GUIDED,
	                                [OMP_KIND_AUTO] = SCHEDULE_AUTO};
	int32_t base = schedule & ~SCHEDULE_MODIFIERS;
	if (base != SCHEDULE_DYNAMIC && base != SCHEDULE_GUIDED)
		return schedule;
	if (setting.chunk || setting.kind)
		*chunk = setting.chunk ? (int64_t)setting.chunk : 1;
	if (!setting.kind || setting.kind > OMP_KIND_AUTO)
		return schedule;
	if (setting.kind == OMP_KIND_STATIC && setting.chunk)
		return SCHEDULE_STATIC_CHUNKED;
	bool handed_out = setting.kind == OMP_KIND_DYNAMIC || setting.kind == OMP_KIND_GUIDED;
	return kinds[setting.kind] | (handed_out ? schedule & SCHEDULE_MODIFIERS : 0);
}

static void share(int32_t schedule) {
	int32_t base = schedule & ~SCHEDULE_MODIFIERS;
	if (base == SCHEDULE_RUNTIME)
		omp_region_shares(OMP_LOOP_RUNTIME);
	else if (base == SCHEDULE_DYNAMIC || base == SCHEDULE_GUIDED)
		omp_region_shares(base == SCHEDULE_DYNAMIC ? OMP_LOOP_DYNAMIC : OMP_LOOP_GUIDED);
}

#define DISPATCH(NAME, TYPE, STEP)                                                                                     \
	typedef void NAME##_function(kmp_location *, int32_t, int32_t, TYPE, TYPE, STEP, STEP);                            \
	OMP_EXPORT NAME##_function NAME;                                                                                   \
	void NAME(kmp_location *location, int32_t thread, int32_t schedule, TYPE low, TYPE high, STEP step, STEP chunk) {  \
		static _Atomic(NAME##_function *) next;                                                                        \
		NAME##_function *function = next;                                                                              \
		int64_t pieces = chunk;                                                                                        \
		if (!function) {                                                                                               \
			*(void **)&function = omp_next(#NAME);                                                                     \
			next = function;                                                                                           \
		}                                                                                                              \
		share(schedule);                                                                                               \
		schedule = schedule_of(omp_inside_setting(), schedule, &pieces);                                               \
		function(location, thread, schedule, low, high, step, (STEP)pieces);                                           \
	}
DISPATCH(__kmpc_dispatch_init_4, int32_t, int32_t)
DISPATCH(__kmpc_dispatch_init_4u, uint32_t, int32_t)
DISPATCH(__kmpc_dispatch_init_8, int64_t, int64_t)
DISPATCH(__kmpc_dispatch_init_8u, uint64_t, int64_t)
