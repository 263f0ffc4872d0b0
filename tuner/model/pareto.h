/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Pareto front of two quantities, both of which should be small. */
#ifndef TUNER_MODEL_PARETO_H
#define TUNER_MODEL_PARETO_H
#include <stddef.h>

/* Finds the points that no other point dominates (one that is at least as good in both values and better in one), and
 * writes their indexes sorted by the first value; front has room for `count`. Of equal points the first one counts;
 * points with a NAN never do. Returns their number. */
int pareto_front(const double (*points)[2], size_t count, size_t *front);
/* Thins a front: drops a point if another one is no worse in either value by more than `noise` (0.02: 2 %), and is
 * better in one by more than that or comes before it. Values > 0. Returns the number of points that remain, at least
 * one of any. */
int pareto_thin(const double (*points)[2], size_t *front, size_t count, double noise);
#endif
