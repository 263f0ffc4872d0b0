/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables that are too small for tests by shuffling. */
#include <math.h>

#include "tuner/study/study_impl.h"

/* The studentized range that 1 of 100 samples of a normal distribution exceeds (Pearson, Hartley, Biometrika tables for
 * statisticians, 1966, table 29, infinite degrees of freedom). */
static const struct {
	size_t count;
	double range;
} ranges[] = {{2, 3.64},  {3, 4.12},  {4, 4.40},  {5, 4.60},  {6, 4.76},  {7, 4.88},  {8, 4.99},
              {10, 5.16}, {12, 5.29}, {15, 5.45}, {20, 5.65}, {30, 5.91}, {40, 6.09}, {60, 6.35}};
enum { RANGES = sizeof ranges / sizeof *ranges, FEW_MOST = 12 };
static const double PATTERN_MAX = 0.01, OFF_LEAST = 0.1;

double study_chance_ratio(const struct study *study, size_t count) {
	double range = ranges[RANGES - 1].range;
	for (size_t i = RANGES; i-- > 0;)
		if (count <= ranges[i].count)
			range = ranges[i].range;
	return exp(fmax(OFF_LEAST, 2 * study_noise(study)) * range);
}

/* The largest ratio of two times of one problem. */
static double spread_of(const struct study *study) {
	double most = 1;
	for (size_t a = 0; a < study->row_count; a++)
		for (size_t b = 0; b < study->row_count; b++)
			if (study_same_problem(study, a, b))
				most = fmax(most, study->rows[a].value / study->rows[b].value);
	return most;
}

/* Repeated samples show how far values are off, so that tests can be trusted to say no. */
static bool are_single(const struct study *study) {
	for (size_t i = 0; i < study->row_count; i++)
		if (study->rows[i].sample_count > 1)
			return false;
	return true;
}

bool study_few(const struct study *study) {
	size_t rows = study->row_count;
	if (rows < STUDY_ROWS_LEAST)
		return true;
	return rows <= FEW_MOST && are_single(study) && spread_of(study) > study_chance_ratio(study, rows) &&
	       study_pattern(study) > PATTERN_MAX;
}
