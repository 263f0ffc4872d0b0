/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A parameter has the effect that it has at all other problems and settings, where these agree: a first
 * run that was not warmed up takes nine times as long as its neighbours, and only once. */
#include <math.h>

#include "base/stats.h"
#include "tuner/diagnosis/laws_impl.h"

enum { PARTNERS_LEAST = 2, ELSEWHERE_LEAST = 5, ELSEWHERE_MOST = 64, ROWS_MOST = 200 };
static const double AGREE = 1.25; /* all ratios elsewhere are within this factor of their median */

/* Do two rows differ in one column, and in nothing else? */
static bool are_beside(const struct study *study, size_t a, size_t b, size_t column) {
	for (size_t c = 0; c < study_columns(study); c++)
		if ((study_row(study, a)->level[c] == study_row(study, b)->level[c]) == (c == column))
			return false;
	return !study_row(study, b)->over;
}

/* Was the level of each column that varies seen elsewhere, too? At the largest size alone an effect may be another. */
static bool is_known(const struct study *study, size_t row, size_t column) {
	for (size_t c = 0; c < study_columns(study); c++) {
		size_t same = 0, other = 0;
		for (size_t r = 0; r < study_rows(study); r++)
			if (r != row && study_row(study, r)->level[column] == study_row(study, row)->level[column])
				*(study_row(study, r)->level[c] == study_row(study, row)->level[c] ? &same : &other) += 1;
		if (c != column && other && !same)
			return false;
	}
	return true;
}

/* The logarithm of how much longer the one level takes than the other elsewhere; NAN if it is not the same everywhere.
 * count: how often both were measured. */
static double elsewhere(const struct study *study, size_t row, size_t partner, size_t column, size_t *count) {
	double ratio[ELSEWHERE_MOST];
	*count = 0;
	for (size_t r = 0; r < study_rows(study) && *count < ELSEWHERE_MOST; r++) {
		if (r == row || study_row(study, r)->over ||
		    study_row(study, r)->level[column] != study_row(study, row)->level[column])
			continue;
		for (size_t s = 0; s < study_rows(study) && *count < ELSEWHERE_MOST; s++)
			if (study_row(study, s)->level[column] == study_row(study, partner)->level[column] &&
			    are_beside(study, r, s, column))
				ratio[(*count)++] = log(study_row(study, r)->value / study_row(study, s)->value);
	}
	double median = *count >= ELSEWHERE_LEAST ? stats_median(ratio, *count) : NAN;
	for (size_t i = 0; i < *count; i++)
		if (!(fabs(ratio[i] - median) <= log(AGREE)))
			return NAN;
	return median;
}

/* The time that the partners of a row in one column let expect, if they agree that it is another; NAN otherwise. */
static double expected(const struct study *study, size_t row, size_t column, size_t *places) {
	double sum = 0;
	size_t partners = 0, count;
	for (size_t r = 0; r < study_rows(study); r++) {
		if (!are_beside(study, row, r, column))
			continue;
		double own = study_row(study, r)->value * exp(elsewhere(study, row, r, column, &count));
		if (!law_is_far(log(study_row(study, row)->value / own)))
			return NAN;
		sum += log(own);
		partners++;
		*places = count;
	}
	return partners >= PARTNERS_LEAST ? exp(sum / (double)partners) : NAN;
}

static bool judge_contrast(const struct study *study, size_t row, struct wrong *wrong) {
	size_t places = 0;
	for (size_t c = 0; c < study_columns(study) && study_rows(study) <= ROWS_MOST; c++) {
		double other =
			study_column(study, c)->is_problem || !is_known(study, row, c) ? NAN : expected(study, row, c, &places);
		double far = log(study_row(study, row)->value / other);
		if (isfinite(far))
			return law_broken(wrong, exp(fabs(far)), "x", "%.3g times as %s as %s at %zu other places lets expect",
			                  exp(fabs(far)), far > 0 ? "slow" : "fast", study_column(study, c)->name, places);
	}
	return false;
}

const struct law laws_of_contrasts[] = {{judge_contrast, LAW_POINT}, {0}};
