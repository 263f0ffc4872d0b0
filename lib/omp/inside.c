/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of a team, while they run the region's code: how long each worked, what it counted, and which schedule
 * its loops get. All threads of a team must agree about a schedule, so the visit travels with the region's code. */
#include <stdatomic.h>

#include "lib/omp/omp.h"

OMP_TLS struct omp_visit *inside;

bool omp_visit_is_inside(const struct omp_visit *visit) {
	return visit->busy || (visit->outer && (visit->setting.kind || visit->setting.chunk));
}

uint64_t omp_inside_begin(struct omp_visit *visit) {
	inside = visit;
	if (!visit->busy)
		return 0;
	omp_counts_begin();
	return omp_now();
}

/* The wait for the others is outside. */
void omp_inside_end(struct omp_visit *visit, uint64_t start_ns) {
	inside = NULL;
	if (!visit->busy)
		return;
	uint64_t ns = omp_now() - start_ns;
	omp_counts_end(visit->slot->region);
	uint64_t most = atomic_load_explicit(&visit->busy_max, memory_order_relaxed);
	atomic_fetch_add_explicit(&visit->busy_sum, ns, memory_order_relaxed);
	atomic_fetch_add_explicit(&visit->busy_threads, 1, memory_order_relaxed);
	while (ns > most && !atomic_compare_exchange_weak_explicit(&visit->busy_max, &most, ns, memory_order_relaxed,
	                                                           memory_order_relaxed))
		;
}

struct omp_visit *omp_inside_leave(void) {
	struct omp_visit *was = inside;
	inside = NULL;
	return was;
}

void omp_inside_back(struct omp_visit *visit) {
	inside = visit;
}

struct omp_setting omp_inside_setting(void) {
	return inside && inside->outer ? inside->setting : (struct omp_setting){0};
}
