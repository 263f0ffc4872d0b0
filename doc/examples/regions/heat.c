/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat that spreads over a plate, with two regions. heat [N [STEPS]] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <sweetspot.h>

static double *plate_new(size_t n) {
	double *plate = calloc(n * n, sizeof *plate);
	for (size_t j = 0; plate && j < n; j++)
		plate[j] = 100; /* one edge is hot */
	return plate;
}

/* Each thread is in the region on its own: what it waits for in the end is not in it. */
static void sweep(size_t n, const double *from, double *to) {
#pragma omp parallel
	{
		sweetspot_begin("sweep");
#pragma omp for schedule(runtime) nowait
		for (size_t i = 1; i < n - 1; i++)
			for (size_t j = 1; j < n - 1; j++)
				to[i * n + j] =
					(from[(i - 1) * n + j] + from[(i + 1) * n + j] + from[i * n + j - 1] + from[i * n + j + 1]) / 4;
		sweetspot_end("sweep");
	}
}

static double change(size_t n, const double *a, const double *b) {
	double sum = 0;
	sweetspot_begin("change");
	for (size_t i = 0; i < n * n; i++)
		sum += fabs(a[i] - b[i]);
	sweetspot_end("change");
	return sum;
}

int main(int argc, char **argv) {
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 512;
	long steps = argc > 2 ? strtol(argv[2], NULL, 10) : 100;
	double *a = n >= 3 && n <= 16384 ? plate_new(n) : NULL, *b = a ? plate_new(n) : NULL;
	if (!b) {
		fprintf(stderr, "usage: heat [N from 3 to 16384 [STEPS]]\n");
		free(a);
		return 2;
	}
	for (long step = 0; step < steps; step++) {
		double *from = step % 2 ? b : a;
		sweep(n, from, step % 2 ? a : b);
	}
	printf("change %.6g\n", change(n, a, b));
	free(a);
	free(b);
	return 0;
}
