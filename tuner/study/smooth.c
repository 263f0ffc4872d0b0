/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/rng.h"
#include "tuner/study/study_impl.h"

enum { EXACT_MOST = 7, SHUFFLES = 4999 };

static double roughness(const double *y, size_t count) {
	double sum = 0;
	for (size_t i = 1; i < count; i++)
		sum += (y[i] - y[i - 1]) * (y[i] - y[i - 1]);
	return sum;
}

struct orders {
	double real;
	size_t all, smooth, count;
};

/* All orders of y, by exchanging (Heap, Permutations by interchanges, 1963). */
static void orders_try(struct orders *orders, double *y, size_t left) {
	if (left <= 1) {
		orders->all++;
		orders->smooth += roughness(y, orders->count) <= orders->real * (1 + 1e-12);
		return;
	}
	for (size_t i = 0; i < left; i++) {
		orders_try(orders, y, left - 1);
		size_t other = left % 2 ? 0 : i;
		double kept = y[other];
		y[other] = y[left - 1];
		y[left - 1] = kept;
	}
}

double study_smooth_chance(const double *y, size_t count) {
	struct orders orders = {.real = roughness(y, count), .count = count};
	mem_auto double *copy = mem_alloc(count + 1, sizeof *copy);
	struct rng rng;
	for (size_t i = 0; i < count; i++)
		copy[i] = y[i];
	if (count >= 4 && count <= EXACT_MOST)
		orders_try(&orders, copy, count);
	rng_seed(&rng, 1);
	for (int s = 0; s < SHUFFLES && count > EXACT_MOST; s++) {
		rng_shuffle(&rng, copy, count, sizeof *copy);
		orders.smooth += roughness(copy, count) <= orders.real;
		orders.all++;
	}
	if (count < 4)
		return 1;
	return count > EXACT_MOST ? (double)(orders.smooth + 1) / (double)(orders.all + 1)
	                          : (double)orders.smooth / (double)orders.all;
}
