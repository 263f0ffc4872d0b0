/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances of a million points from their neighbours. The loop leaves its schedule to OMP_SCHEDULE; without that,
 * libgomp gives out one point at a time.
 *
 *     cc -O2 -fopenmp -o app points.c -lm
 *     ./app                                      prints their sum */
#include <math.h>
#include <stdio.h>

enum { POINTS = 1000000 };

int main(void) {
	double sum = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
	for (int i = 0; i < POINTS; i++)
		sum += sqrt(i % 1009 * (i % 17) + 1.0) / (i % 29 + 1);
	printf("%.4f\n", sum);
	return 0;
}
