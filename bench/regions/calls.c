/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calls N: nanoseconds of a parallel region with one thread that does nothing, the median of some rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 15 };
static volatile int nothing;

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int order(const void *a, const void *b) {
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv) {
	int calls = argc > 1 ? atoi(argv[1]) : 20000;
	double times[ROUNDS];
	for (int r = 0; r < ROUNDS; r++) {
		double start = now();
		for (int i = 0; i < calls; i++) {
#pragma omp parallel num_threads(1)
			nothing = i;
		}
		times[r] = (now() - start) / calls;
	}
	qsort(times, ROUNDS, sizeof *times, order);
	printf("%.1f\n", times[ROUNDS / 2]);
	return 0;
}
