/* SPDX-License-Identifier: BSD-3-Clause */
/* The price of changing the team. libgomp ends threads and makes new ones when a team of another size follows, so a
 * region's best team by itself may be too dear beside its neighbours. Measured once, on empty regions. */
#include "lib/omp/omp.h"

enum { WARM_UPS = 3, ROUNDS = 12 };

static int order(uint64_t a, uint64_t b) {
	return a < b ? -1 : a > b;
}

/* The median: an empty region that a preempted thread delays must not count. */
static uint64_t median(uint64_t *times, int count) {
	for (int i = 1; i < count; i++)
		for (int j = i; j > 0 && order(times[j], times[j - 1]) < 0; j--) {
			uint64_t other = times[j];
			times[j] = times[j - 1];
			times[j - 1] = other;
		}
	return times[count / 2];
}

static float cost(omp_empty_region *empty, unsigned a, unsigned b) {
	uint64_t times[ROUNDS];
	for (int i = -WARM_UPS; i < ROUNDS; i++) {
		uint64_t start = omp_now();
		empty(a);
		empty(b);
		if (i >= 0)
			times[i] = omp_now() - start;
	}
	return (float)(0.5e-9 * (double)median(times, ROUNDS));
}

void omp_teams_probe(struct omp_record *record, const struct omp_table *table, omp_empty_region *empty) {
	record->team_count = table->team_count;
	for (uint32_t i = 0; i < table->team_count; i++)
		record->teams[i] = table->teams[i];
	/* A run that only looks is told the price of an empty region. */
	if (table->busy && table->team_count == 0 && omp_calls_get()->max_threads) {
		record->team_count = 1;
		record->teams[0] = (uint32_t)omp_calls_get()->max_threads();
	}
	for (uint32_t i = 0; i < record->team_count; i++)
		for (uint32_t j = 0; j <= i; j++)
			record->team_cost[i][j] = record->team_cost[j][i] = cost(empty, record->teams[i], record->teams[j]);
}
