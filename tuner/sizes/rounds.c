/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures all points and midpoints in rounds, alternately upwards and downwards, so that a slow drift of the machine
 * affects all sizes alike and not the law over them. */
#include <config.h>

#include <math.h>

#include "tuner/sizes/impl.h"

enum { STATIONS_MAX = SIZES_MAX + SIZES_MIDPOINTS_MAX };

struct station { /* a point if midpoint is NULL */
	size_t point;
	const struct sizes_midpoint *midpoint;
	double cost[SIZES_ROUNDS];
	size_t count;
	bool closed; /* the recommended configuration is invalid there */
};

static size_t stations_make(const struct sizes *sizes, const struct sizes_midpoint *midpoints, size_t midpoint_count,
                            struct station *stations) {
	size_t count = 0, midpoint = 0;
	for (size_t i = 0; i < sizes->count; i++) {
		stations[count++] = (struct station){.point = i};
		for (; midpoint < midpoint_count && midpoints[midpoint].near == i; midpoint++)
			stations[count++] = (struct station){.midpoint = &midpoints[midpoint]};
	}
	return count;
}

/* Returns 0, 1 if the budget allows no more, -1 with err. */
static int visit(const struct sizes *sizes, const struct sizes_bench *bench, struct station *station, int round,
                 struct err *err) {
	double one = NAN;
	int answer;
	if (station->midpoint) {
		answer = bench->between(bench->ctx, station->midpoint, round, &one, err);
		station->closed = answer > 0;
		answer = answer < 0 ? -1 : 0;
	} else {
		answer = bench->again(bench->ctx, sizes_point(sizes, station->point), round, &one, err);
	}
	if (answer == 0 && one > 0 && !station->closed)
		station->cost[station->count++] = one;
	return answer;
}

static void cost_record(struct sizes *sizes, const struct station *station) {
	if (station->midpoint)
		sizes_midpoint_record(sizes, station->midpoint->n, station->midpoint->config, station->cost, station->count);
	else
		sizes_rounds_record(sizes, station->point, station->cost, station->count);
}

int sizes_rounds(struct sizes *sizes, const struct sizes_bench *bench, struct err *err) {
	struct sizes_midpoint midpoints[SIZES_MIDPOINTS_MAX];
	struct station stations[STATIONS_MAX];
	if (!bench->again)
		return 0;
	size_t count =
		stations_make(sizes, midpoints, bench->between ? sizes_midpoints_plan(sizes, midpoints) : 0, stations);
	int answer = 0;
	for (int round = 0; round < SIZES_ROUNDS && answer == 0; round++) {
		for (size_t i = 0; i < count && answer == 0; i++) {
			struct station *station = &stations[round % 2 ? count - 1 - i : i];
			if (!station->closed)
				answer = visit(sizes, bench, station, round, err);
		}
	}
	for (size_t i = 0; i < count; i++)
		cost_record(sizes, &stations[i]);
	return answer < 0 ? -1 : 0;
}
