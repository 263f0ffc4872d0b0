/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cycle STEPS: V-cycles of a multigrid solver for Poisson's equation (Briggs, Henson and McCormick, "A Multigrid
 * Tutorial", ch. 3) as users write them: every level calls the same four regions, with 2^18 points on the finest and 8
 * on the coarsest. Large calls want all threads and small ones want one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEVELS = 6, FINEST = 64, SWEEPS = 2 };

struct level {
	int n; /* points in one direction, without the border */
	double *now, *next, *right, *rest;
};

static struct level levels[LEVELS];

static int at(const struct level *l, int i, int j, int k) {
	int side = l->n + 2;
	return (i * side + j) * side + k;
}

static double around(const struct level *l, const double *u, int i, int j, int k) {
	return u[at(l, i - 1, j, k)] + u[at(l, i + 1, j, k)] + u[at(l, i, j - 1, k)] + u[at(l, i, j + 1, k)] +
	       u[at(l, i, j, k - 1)] + u[at(l, i, j, k + 1)];
}

static void smooth(struct level *l) {
	int n = l->n;
	double *now = l->now;
#pragma omp parallel for
	for (int i = 1; i <= n; i++)
		for (int j = 1; j <= n; j++)
			for (int k = 1; k <= n; k++) {
				int p = at(l, i, j, k);
				l->next[p] = now[p] + 0.8 * ((around(l, now, i, j, k) + l->right[p]) / 6 - now[p]);
			}
	l->now = l->next;
	l->next = now;
}

static void residual(const struct level *l) {
	int n = l->n;
#pragma omp parallel for
	for (int i = 1; i <= n; i++)
		for (int j = 1; j <= n; j++)
			for (int k = 1; k <= n; k++) {
				int p = at(l, i, j, k);
				l->rest[p] = l->right[p] + around(l, l->now, i, j, k) - 6 * l->now[p];
			}
}

static void coarsen(const struct level *fine, const struct level *coarse) {
	int n = coarse->n;
#pragma omp parallel for
	for (int i = 1; i <= n; i++)
		for (int j = 1; j <= n; j++)
			for (int k = 1; k <= n; k++) {
				double sum = 0;
				for (int c = 0; c < 8; c++)
					sum += fine->rest[at(fine, 2 * i - (c & 1), 2 * j - (c >> 1 & 1), 2 * k - (c >> 2))];
				coarse->right[at(coarse, i, j, k)] = sum / 4;
				coarse->now[at(coarse, i, j, k)] = 0;
			}
}

static void refine(const struct level *coarse, const struct level *fine) {
	int n = fine->n;
#pragma omp parallel for
	for (int i = 1; i <= n; i++)
		for (int j = 1; j <= n; j++)
			for (int k = 1; k <= n; k++)
				fine->now[at(fine, i, j, k)] += coarse->now[at(coarse, (i + 1) / 2, (j + 1) / 2, (k + 1) / 2)];
}

static void cycle(int number) {
	struct level *l = &levels[number];
	for (int s = 0; s < SWEEPS; s++)
		smooth(l);
	if (number + 1 == LEVELS)
		return;
	residual(l);
	coarsen(l, l + 1);
	cycle(number + 1);
	refine(l + 1, l);
	for (int s = 0; s < SWEEPS; s++)
		smooth(l);
}

int main(int argc, char **argv) {
	int steps = argc > 1 ? atoi(argv[1]) : 200;
	double sum = 0;
	for (int i = 0; i < LEVELS; i++) {
		struct level *l = &levels[i];
		l->n = FINEST >> i;
		size_t points = (size_t)(l->n + 2) * (size_t)(l->n + 2) * (size_t)(l->n + 2);
		double **arrays[] = {&l->now, &l->next, &l->right, &l->rest};
		for (int k = 0; k < 4; k++)
			if (!(*arrays[k] = calloc(points, sizeof(double))))
				return 1;
	}
	levels[0].right[at(&levels[0], FINEST / 2, FINEST / 3, FINEST / 4)] = 1;
	for (int t = 0; t < steps; t++)
		cycle(0);
	for (int i = 1; i <= FINEST; i++)
		sum += fabs(levels[0].now[at(&levels[0], i, FINEST / 3, FINEST / 4)]);
	printf("%.9e\n", sum);
	return 0;
}
