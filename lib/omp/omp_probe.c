/* SPDX-License-Identifier: BSD-3-Clause */
/* The price of changing the team. libgomp ends threads and makes new ones when a team of another size follows, so a
 * region's best team by itself may be too dear beside its neighbours. Measured once, on empty regions. */
#include "lib/omp/omp_impl.h"

enum { WARM_UPS = 3, ROUNDS = 12, ROUNDS_LEAST = 4 };
static const uint64_t LONG_NS = 10000000; /* where new threads are that dear, a few rounds say enough */

static int order(uint64_t a, uint64_t b) {
	return a < b ? -1 : a > b;
}

/* The lower quartile: empty regions that a preempted thread delays must not count. New threads may share a processor
 * with one that spins until the kernel moves them, so that on some machines most rounds are delayed, and a median would
 * hide the price of the change behind that of the team itself. */
static uint64_t quartile(uint64_t *times, int count) {
	for (int i = 1; i < count; i++)
		for (int j = i; j > 0 && order(times[j], times[j - 1]) < 0; j--) {
			uint64_t other = times[j];
			times[j] = times[j - 1];
			times[j - 1] = other;
		}
	return times[count / 4];
}

static float cost(const struct omp_begun *begun, unsigned a, unsigned b) {
	uint64_t times[ROUNDS], begin = omp_now();
	int count = 0;
	for (int i = -WARM_UPS; i < ROUNDS && (count < ROUNDS_LEAST || omp_now() - begin < LONG_NS); i++) {
		uint64_t start = omp_now();
		begun->empty(begun->function, a);
		begun->empty(begun->function, b);
		if (i >= 0)
			times[count++] = omp_now() - start;
	}
	return (float)(0.5e-9 * (double)quartile(times, count));
}

void omp_teams_probe(struct omp_record *record, const struct omp_table *table, const struct omp_begun *begun) {
	uint32_t most = (uint32_t)OMP_REAL(omp_get_max_threads, begun->function)();
	/* Another process of the program, a rank for example, may have more threads than this one. */
	for (uint32_t i = 0; i < table->team_count; i++)
		if (table->teams[i] <= most)
			record->teams[record->team_count++] = table->teams[i];
	/* A run that only looks is told the price of an empty region. */
	if (table->busy && table->team_count == 0 && most) {
		record->team_count = 1;
		record->teams[0] = most;
	}
	for (uint32_t i = 0; i < record->team_count; i++)
		for (uint32_t j = 0; j <= i; j++)
			record->team_cost[i][j] = record->team_cost[j][i] = cost(begun, record->teams[i], record->teams[j]);
}
