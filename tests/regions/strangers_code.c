/* SPDX-License-Identifier: GPL-3.0-or-later */
/* OpenMP's constructs, by every way into a runtime. */
#include "strangers.h"

#include <omp.h>

#define OMP_(...) _Pragma(#__VA_ARGS__)
#define OMP(...)  OMP_(omp __VA_ARGS__)

#define LOOP(NAME, TYPE, FIRST, STEP, CLAUSES)                                                                         \
	void NAME(void) {                                                                                                  \
		double all = 0;                                                                                                \
		OMP(CLAUSES) for (TYPE i = FIRST; i STEP) all += (double)(i & 1023);                                           \
		say("%g", all);                                                                                                \
	}
#define PARALLEL parallel for reduction(+ : all)
LOOP(loop, int, 0, < 1000; i++, PARALLEL)
LOOP(loop_chunks, int, 0, < 1000; i += 3, PARALLEL schedule(static, 7))
LOOP(loop_dynamic, int, 0, < 1000; i++, PARALLEL schedule(dynamic))
LOOP(loop_dynamic_chunks, int, 1000, > 0; i -= 3, PARALLEL schedule(dynamic, 7))
LOOP(loop_guided, long, 0, < 1000; i++, PARALLEL schedule(guided, 3))
LOOP(loop_monotonic, int, 0, < 1000; i++, PARALLEL schedule(monotonic : dynamic, 2))
LOOP(loop_runtime, int, 0, < 1000; i++, PARALLEL schedule(runtime))
LOOP(loop_auto, int, 0, < 1000; i++, PARALLEL schedule(auto))
LOOP(loop_wide, unsigned long long, 1ull << 63, < (1ull << 63) + 1000; i += 9, PARALLEL schedule(dynamic, 2))
LOOP(loop_wide_guided, unsigned long long, 1ull << 63, < (1ull << 63) + 1000; i += 9, PARALLEL schedule(guided))
LOOP(loop_wide_runtime, unsigned long long, 1ull << 63, < (1ull << 63) + 1000; i += 9, PARALLEL schedule(runtime))
LOOP(loop_simd, int, 0, < 1000; i++, parallel for simd reduction(+ : all))
LOOP(loop_empty, int, 0, < 0; i++, PARALLEL schedule(dynamic))
LOOP(clause_one, int, 0, < 1000; i++, PARALLEL num_threads(1))
LOOP(clause_three, int, 0, < 1000; i++, PARALLEL num_threads(3) schedule(guided))
LOOP(clause_if, int, 0, < 1000; i++, PARALLEL if (all > 1))
LOOP(in_teams, int, 0, < 1000; i++, teams distribute parallel for num_teams(2) reduction(+ : all))
LOOP(task_loop, int, 0, < 1000; i++, parallel master taskloop reduction(+ : all))

/* Code that a team runs, which changes `all`. */
#define REGION(NAME, CLAUSES, ...)                                                                                     \
	void NAME(void) {                                                                                                  \
		double all = 0;                                                                                                \
		OMP(CLAUSES){__VA_ARGS__} say("%g", all);                                                                      \
	}
/* clang-format off */
REGION(region, parallel reduction(+ : all), all += 1;)
REGION(region_alone, parallel reduction(+ : all) num_threads(1), all += omp_get_num_threads();)
REGION(inner_loops, parallel reduction(+ : all),
       OMP(for schedule(dynamic, 3) nowait) for (int i = 0; i < 1000; i++) all += i;
       OMP(for schedule(guided)) for (long i = 1000; i > 0; i -= 7) all += (double)i;
       OMP(for schedule(runtime)) for (int i = 0; i < 500; i++) all += i;)
REGION(ordered_loop, parallel,
       OMP(for schedule(dynamic) ordered) for (int i = 0; i < 50; i++) { OMP(ordered) all = 2 * all + i; })
REGION(sections, parallel sections reduction(+ : all), OMP(section) all += 1; OMP(section) all += 2;)
REGION(inner_sections, parallel reduction(+ : all), OMP(sections) { OMP(section) all += 1; OMP(section) all += 2; })
REGION(single, parallel, OMP(single) all = 5;)
REGION(master, parallel, OMP(master) all += omp_get_thread_num() + 3;)
REGION(critical, parallel, OMP(critical(here)) all += 1;)
REGION(atomic, parallel, OMP(atomic) all += 1;)
REGION(barriers, parallel, for (int i = 0; i < 9; i++) { OMP(barrier) OMP(single) all += i; })
REGION(tasks, parallel,
       OMP(single) for (int i = 0; i < 20; i++) { OMP(task shared(all)) { OMP(atomic) all += i; } })
REGION(task_groups, parallel,
       OMP(single) { OMP(taskgroup) { OMP(task shared(all)) { OMP(atomic) all += 7; } } all *= 2; })
REGION(task_order, parallel,
       OMP(single) { OMP(task shared(all) depend(out : all)) all += 3; OMP(task shared(all) depend(inout : all)) all *= 5; })
REGION(task_sums, parallel reduction(task, + : all),
       OMP(single) for (int i = 0; i < 9; i++) { OMP(task in_reduction(+ : all)) all += i; })
REGION(levels, parallel, OMP(single) all = omp_get_level() + 10 * omp_in_parallel() + 100 * omp_get_num_threads();)
REGION(cancelled, parallel, OMP(cancel parallel))
REGION(private_variables, parallel firstprivate(all) num_threads(2), all += omp_get_thread_num();)
/* clang-format on */

void nested(void) {
	double all = 0;
	omp_set_max_active_levels(3);
#pragma omp parallel num_threads(2) reduction(+ : all)
#pragma omp parallel num_threads(2) reduction(+ : all)
#pragma omp parallel for num_threads(2) schedule(dynamic, 5) reduction(+ : all)
	for (int i = 0; i < 100; i++)
		all += i;
	say("%g", all);
}

void locks(void) {
	omp_lock_t lock;
	int all = 0;
	omp_init_lock(&lock);
#pragma omp parallel
	{
		omp_set_lock(&lock);
		all++;
		omp_unset_lock(&lock);
	}
	omp_destroy_lock(&lock);
	say("%d", all);
}

static int kept;
#pragma omp threadprivate(kept)
void kept_by_threads(void) {
	int all = 0;
	kept = 5;
#pragma omp parallel copyin(kept)
	kept += 2;
#pragma omp parallel reduction(+ : all)
	all += kept;
	say("%d", all);
}

void questions(void) {
	int kind, chunk;
	omp_set_schedule(omp_sched_guided, 3);
	sum(10);
	omp_get_schedule((omp_sched_t *)&kind, &chunk);
	omp_set_num_threads(1);
	say("%d %d %d %d %d", omp_get_max_threads(), omp_get_num_threads(), kind, chunk, omp_get_max_active_levels() > 0);
	sum(10);
	omp_set_num_threads(2);
	say("%d %d", omp_get_max_threads(), omp_get_thread_limit() > 1);
}

#define V4(x)   x##0 = 1, x##1 = 2, x##2 = 3, x##3 = 4
#define S4(x)   x##0 + x##1 + x##2 + x##3
#define V16(x)  V4(x##0), V4(x##1), V4(x##2), V4(x##3)
#define S16(x)  S4(x##0) + S4(x##1) + S4(x##2) + S4(x##3)
#define V64(x)  V16(x##0), V16(x##1), V16(x##2), V16(x##3)
#define S64(x)  S16(x##0) + S16(x##1) + S16(x##2) + S16(x##3)
#define V256(x) V64(x##0), V64(x##1), V64(x##2), V64(x##3)
#define S256(x) S64(x##0) + S64(x##1) + S64(x##2) + S64(x##3)
#define SHARED(NAME, VARIABLES, SUM)                                                                                   \
	void NAME(void) {                                                                                                  \
		double all = 0, VARIABLES;                                                                                     \
		OMP(parallel) {                                                                                                \
			OMP(single) all = SUM;                                                                                     \
		}                                                                                                              \
		say("%g", all);                                                                                                \
	}
SHARED(variables_16, V16(v), S16(v))
SHARED(variables_64, V64(v), S64(v))
SHARED(variables_256, V256(v), S256(v))
#define V1280 V256(v), V256(w), V256(x), V256(y), V256(z)
SHARED(variables_1280, V1280, S256(v) + S256(w) + S256(x) + S256(y) + S256(z))
