/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the wrappers of GNU's runtime. */
#ifndef LIB_OMP_GOMP_H
#define LIB_OMP_GOMP_H
#include "lib/omp/omp.h"

/* The code of a region, where its threads are timed or get a schedule. Lives as long as the region. */
struct gomp_timed {
	void (*function)(void *data);
	void *data;
	struct omp_visit *visit, *outside;
};

/* trips: iterations of the loop, 0 for unknown. Changes function and data where the threads of the team must run code
 * of ours. */
void gomp_begin(struct omp_visit *visit, struct gomp_timed *timed, void (**function)(void *), void **data,
                enum omp_sharing sharing, unsigned threads, int64_t trips);
void gomp_finish(struct omp_visit *visit, const struct gomp_timed *timed);
int64_t gomp_trips(long start, long end, long incr);
long gomp_chunk_of(const struct omp_visit *visit, long chunk);

#endif
