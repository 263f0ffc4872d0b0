/* SPDX-License-Identifier: BSD-3-Clause */
/* The potential energy of particles, each pair once: rows become shorter, so equal shares of rows are unequal shares of
 * work.
 *
 *     cc -O2 -fopenmp -o app pairs.c
 *     ./app [PARTICLES]                          prints the energy */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	int n = argc > 1 ? atoi(argv[1]) : 20000;
	if (n < 1)
		return 2;
	double *x = malloc((size_t)n * sizeof *x), energy = 0;
	if (!x)
		return 1;
	for (int i = 0; i < n; i++)
		x[i] = i % 1009 + i / 1009 * 0.001;
#pragma omp parallel for schedule(runtime) reduction(+ : energy)
	for (int i = 0; i < n; i++)
		for (int j = i + 1; j < n; j++)
			energy += 1 / (1 + (x[i] - x[j]) * (x[i] - x[j]));
	printf("energy %.6g\n", energy);
	free(x);
	return 0;
}
