/* SPDX-License-Identifier: BSD-3-Clause */
/* A small OpenMP program to tune: counts the points of a grid that belong to the Mandelbrot set. Rows through the set
 * take much longer than others, so the schedule matters, and `schedule(runtime)` lets OMP_SCHEDULE choose it.
 *
 *     cc -O2 -fopenmp -o mandelbrot mandelbrot.c
 *     ./mandelbrot [ROWS [STEPS [BLOCK]]]        prints the number of points and the points per second */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int inside(double x, double y, int steps) {
	double a = 0, b = 0;
	for (int i = 0; i < steps; i++) {
		double next = a * a - b * b + x;
		b = 2 * a * b + y;
		a = next;
		if (a * a + b * b > 4)
			return 0;
	}
	return 1;
}

/* Columns are worked on in blocks; the result is the same for any block. */
static long row(int at, int rows, int steps, int block) {
	double y = -1.25 + 2.5 * at / rows;
	long count = 0;
	for (int from = 0; from < rows; from += block)
		for (int i = from; i < rows && i < from + block; i++)
			count += inside(-2 + 2.5 * i / rows, y, steps);
	return count;
}

int main(int argc, char **argv) {
	int rows = argc > 1 ? atoi(argv[1]) : 400, steps = argc > 2 ? atoi(argv[2]) : 1000;
	int block = argc > 3 ? atoi(argv[3]) : 64;
	long count = 0;
	if (rows < 1 || steps < 1 || block < 1) {
		fprintf(stderr, "usage: mandelbrot [ROWS [STEPS [BLOCK]]], each at least 1\n");
		return 2;
	}
	double begun = omp_get_wtime();
#pragma omp parallel for schedule(runtime) reduction(+ : count)
	for (int at = 0; at < rows; at++)
		count += row(at, rows, steps, block);
	printf("%ld points inside\n", count);
	fprintf(stderr, "rate %.4g points/s\n", (double)rows * rows / (omp_get_wtime() - begun));
	return 0;
}
