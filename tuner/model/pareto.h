/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Pareto front of two quantities that should both be small. */
#ifndef TUNER_MODEL_PARETO_H
#define TUNER_MODEL_PARETO_H
#include <stddef.h>

/* The points that no other dominates, which would be to be no worse in both and better in one: their places, ordered by
 * the first value; front has room for `count`. Of equal points the first counts; those with a NAN never do. Returns how
 * many. */
int pareto_front(const double (*points)[2], size_t count, size_t *front);
/* Thins a front: a point goes where another is no worse in either than `noise` (0.02: 2 %) makes it, and either better
 * in one by more than that or before it. Values > 0. Returns how many are left, at least one of any. */
int pareto_thin(const double (*points)[2], size_t *front, size_t count, double noise);

#endif
