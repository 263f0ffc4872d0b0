/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/omp/omp.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct omp_calls calls;

uint64_t omp_now(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void *omp_next(const char *name) {
	/* A runtime that a plug-in brought along is not in the global scope, which is where RTLD_NEXT looks. */
	static const char *const runtimes[] = {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so"};
	void *found = dlsym(RTLD_NEXT, name);
	for (size_t i = 0; !found && i < sizeof runtimes / sizeof *runtimes; i++) {
		void *runtime = dlopen(runtimes[i], RTLD_LAZY | RTLD_NOLOAD);
		if (runtime) {
			found = dlsym(runtime, name);
			dlclose(runtime);
		}
	}
	return found;
}

static pthread_once_t words_once = PTHREAD_ONCE_INIT;
static char *words[OMP_WORDS];

static void words_save(void) {
	static const char *const names[OMP_WORDS] = {"SWEETSPOT_OMP_TABLE", "SWEETSPOT_OMP_RECORD",
	                                             "SWEETSPOT_REGION_EVENTS"};
	for (size_t i = 0; i < OMP_WORDS; i++) {
		const char *text = getenv(names[i]);
		words[i] = text && *text ? strdup(text) : NULL;
	}
}

/* The program may clean its environment before its first region. Another library's constructor may come first. */
__attribute__((constructor)) static void start(void) {
	pthread_once(&words_once, words_save);
}

const char *omp_word(enum omp_word word) {
	pthread_once(&words_once, words_save);
	return words[word];
}

static void calls_find(void) {
	*(void **)&calls.level = omp_next("omp_get_level");
	*(void **)&calls.max_threads = omp_next("omp_get_max_threads");
	*(void **)&calls.num_threads = omp_next("omp_get_num_threads");
	*(void **)&calls.active_level = omp_next("omp_get_active_level");
	*(void **)&calls.max_active_levels = omp_next("omp_get_max_active_levels");
	*(void **)&calls.schedule_set = omp_next("omp_set_schedule");
	*(void **)&calls.schedule_get = omp_next("omp_get_schedule");
}

const struct omp_calls *omp_calls_get(void) {
	pthread_once(&once, calls_find);
	return &calls;
}

static atomic_bool asked;

bool omp_threads_asked(void) {
	return atomic_load_explicit(&asked, memory_order_relaxed);
}

/* Work that is divided by one of these numbers is done in part by a smaller team. */
#define ASK(NAME)                                                                                                      \
	typedef int NAME##_function(void);                                                                                 \
	OMP_EXPORT NAME##_function NAME;                                                                                   \
	int NAME(void) {                                                                                                   \
		static _Atomic(NAME##_function *) next;                                                                        \
		NAME##_function *function = next;                                                                              \
		if (!function) {                                                                                               \
			*(void **)&function = omp_next(#NAME);                                                                     \
			next = function;                                                                                           \
		}                                                                                                              \
		atomic_store_explicit(&asked, true, memory_order_relaxed);                                                     \
		return function ? function() : 1;                                                                              \
	}
ASK(omp_get_max_threads)
ASK(omp_get_max_threads_)
ASK(omp_get_num_procs)
ASK(omp_get_num_procs_)

/* The team that the program itself asked for, in C and in Fortran. */
#define SET_TEAM(NAME, TYPE)                                                                                           \
	typedef void NAME##_function(TYPE);                                                                                \
	OMP_EXPORT NAME##_function NAME;                                                                                   \
	void NAME(TYPE threads) {                                                                                          \
		NAME##_function *next;                                                                                         \
		*(void **)&next = omp_next(#NAME);                                                                             \
		omp_region_team_set();                                                                                         \
		if (next)                                                                                                      \
			next(threads);                                                                                             \
	}
SET_TEAM(omp_set_num_threads, int)
SET_TEAM(omp_set_num_threads_, const int32_t *)
SET_TEAM(omp_set_num_threads_8_, const int64_t *)
