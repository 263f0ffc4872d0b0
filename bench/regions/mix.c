/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mix STEPS [PART..]: a program as users have them, whose regions want different settings. It knows nothing of
 * Sweetspot.
 *
 * tiny: some microseconds of work, for which one thread is best.
 *
 * scale: arithmetic only, for all threads.
 *
 * triangle: rows of growing length in a loop of schedule(runtime), for which dynamic is best.
 *
 * stream: three large arrays, for as many threads as the memory feeds.
 *
 * grows: arithmetic whose amount doubles in the middle of the run, for all threads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 256, MEDIUM = 12000, ROWS = 700, LARGE = 1 << 20, TINY_CALLS = 60 };

static double small[SMALL], medium[MEDIUM], rows[ROWS], a[LARGE], b[LARGE], c[LARGE];

static void tiny(int t) {
#pragma omp parallel for
	for (int i = 0; i < SMALL; i++)
		small[i] += 0.5 * t;
}

static void scale(void) {
#pragma omp parallel for
	for (int i = 0; i < MEDIUM; i++)
		medium[i] = sqrt(medium[i] + i) + sin(medium[i]);
}

static void triangle(void) {
#pragma omp parallel for schedule(runtime)
	for (int i = 0; i < ROWS; i++) {
		double sum = 0;
		for (int j = 0; j < i; j++)
			sum += medium[j];
		rows[i] = sum;
	}
}

static void stream(double s) {
#pragma omp parallel for
	for (int i = 0; i < LARGE; i++)
		a[i] = b[i] + s * c[i];
}

static void grows(int times) {
#pragma omp parallel for
	for (int i = 0; i < MEDIUM / 2; i++)
		for (int k = 0; k < times; k++)
			medium[i] = sqrt(medium[i] + k + 1);
}

static int wanted(int argc, char **argv, const char *part) {
	for (int i = 2; i < argc; i++)
		if (strcmp(argv[i], part) == 0)
			return 1;
	return argc <= 2;
}

int main(int argc, char **argv) {
	int steps = argc > 1 ? atoi(argv[1]) : 200;
	int has_tiny = wanted(argc, argv, "tiny"), has_scale = wanted(argc, argv, "scale");
	int has_triangle = wanted(argc, argv, "triangle"), has_stream = wanted(argc, argv, "stream");
	int has_grows = wanted(argc, argv, "grows");
	double sum = 0;
	for (int t = 0; t < steps; t++) {
		for (int k = 0; has_tiny && k < TINY_CALLS; k++)
			tiny(t);
		if (has_scale)
			scale();
		if (has_triangle)
			triangle();
		if (has_stream)
			stream(t);
		if (has_grows)
			grows(t < steps / 2 ? 4 : 8);
	}
	for (int i = 0; i < SMALL; i++)
		sum += small[i];
	for (int i = 0; i < MEDIUM; i++)
		sum += medium[i];
	for (int i = 0; i < ROWS; i++)
		sum += rows[i];
	for (int i = 0; i < LARGE; i++)
		sum += a[i];
	printf("%.9e\n", sum);
	return 0;
}
