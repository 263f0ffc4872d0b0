/* SPDX-License-Identifier: GPL-3.0-or-later */
/* If the machine became slower or faster between the search and the race, the finalists, for which the race counts,
 * would look worse or better than configurations that were only searched. The ratio of configurations that were
 * measured in both corrects this. */
#include <math.h>

#include "base/stats.h"
#include "tuner/study/study_impl.h"

enum { BOTH_MIN = 3 };
/* A smaller shift may only mean that the finalists were lucky in the search. */
static const double SHIFT_MIN = 0.05;

static bool is_both(const struct gathered *one) {
	return one->grade == GRADE_DUEL && one->searched_count && one->value_count;
}

/* The logarithm of how much longer a configuration of this problem takes in races and duels; 0: unknown. */
static double shift_of(const struct study *study, const json_t *problem, double *shifts) {
	size_t count = 0;
	for (size_t i = 0; i < study->gathering.count; i++) {
		const struct gathered *one = &study->gathering.rows[i];
		if (is_both(one) && json_equal(one->problem, problem))
			shifts[count++] =
				log(stats_median(one->values, one->value_count)) - one->searched_log / (double)one->searched_count;
	}
	double shift = count < BOTH_MIN ? 0 : stats_median(shifts, count);
	return fabs(shift) < SHIFT_MIN ? 0 : shift;
}

static void scale(struct gathered *one, double factor) {
	for (size_t i = 0; i < one->value_count; i++)
		one->values[i] *= factor;
	for (size_t i = 0; i < one->sample_count; i++)
		one->samples[i] *= factor;
}

static bool is_first(const struct study *study, size_t at) {
	for (size_t i = 0; i < at; i++)
		if (is_both(&study->gathering.rows[i]) &&
		    json_equal(study->gathering.rows[i].problem, study->gathering.rows[at].problem))
			return false;
	return true;
}

void study_drift(struct study *study) {
	double *shifts = mem_alloc(study->gathering.count + 1, sizeof *shifts);
	for (size_t at = 0; at < study->gathering.count; at++) {
		if (!is_both(&study->gathering.rows[at]) || !is_first(study, at))
			continue;
		double factor = exp(shift_of(study, study->gathering.rows[at].problem, shifts));
		for (size_t i = 0; i < study->gathering.count && factor != 1; i++)
			if (study->gathering.rows[i].grade != GRADE_DUEL &&
			    json_equal(study->gathering.rows[i].problem, study->gathering.rows[at].problem))
				scale(&study->gathering.rows[i], factor);
	}
	free(shifts);
}
