/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A time against its neighbours, for tables with too few sizes to fit a law: the other configurations tell how much
 * longer a larger problem takes (the median of their ratios, and how far they agree). A configuration that is faster at
 * the larger problem than at a smaller one, although all others take much longer, did not do the work. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/stats.h"
#include "tuner/diagnosis/impossible_impl.h"

enum { OTHERS_LEAST = 3, ROWS_MOST = 2000 };
static const double GROWTH_LEAST = 1.5, AGREE = 1.3, BELOW = 3;

/* Is the problem of `small` a smaller one in every member in which it differs? Graphs and mixes are not sizes. */
static bool is_smaller(const struct study *study, size_t small, size_t large) {
	bool differs = false;
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		int a = study_row(study, small)->level[c], b = study_row(study, large)->level[c];
		if (!column->is_problem || a == b)
			continue;
		if (!column->numeric || a == STUDY_ABSENT || b == STUDY_ABSENT || a > b)
			return false;
		differs = true;
	}
	return differs;
}

/* How much longer other configurations take at the problem of `large`; NAN if fewer than three tell, or if they
 * disagree. */
static double growth_of(const struct study *study, size_t row, size_t large, size_t small) {
	double *ratio = mem_alloc(study_rows(study) + 1, sizeof *ratio), median = NAN, spread = NAN;
	size_t count = 0;
	for (size_t r = 0; r < study_rows(study); r++) {
		if (study_row(study, r)->over || !study_same_problem(study, r, large) || study_same_config(study, r, row))
			continue;
		for (size_t s = 0; s < study_rows(study); s++)
			if (!study_row(study, s)->over && study_same_problem(study, s, small) && study_same_config(study, r, s))
				ratio[count++] = log(study_row(study, r)->value / study_row(study, s)->value);
	}
	if (count >= OTHERS_LEAST) {
		median = stats_median(ratio, count);
		for (size_t i = 0; i < count; i++)
			ratio[i] = fabs(ratio[i] - median);
		spread = stats_median(ratio, count);
	}
	free(ratio);
	return spread <= log(AGREE) ? exp(median) : NAN;
}

/* The least time of the other configurations at a problem; INFINITY if there are fewer than three. */
static double least_of(const struct study *study, size_t row, size_t problem) {
	double least = INFINITY;
	size_t count = 0;
	for (size_t r = 0; r < study_rows(study); r++)
		if (!study_row(study, r)->over && study_same_problem(study, r, problem) && !study_same_config(study, r, row)) {
			least = fmin(least, study_row(study, r)->value);
			count++;
		}
	return count >= OTHERS_LEAST ? least : INFINITY;
}

static double own_of(const struct study *study, size_t row, size_t problem) {
	for (size_t r = 0; r < study_rows(study); r++)
		if (!study_row(study, r)->over && study_same_problem(study, r, problem) && study_same_config(study, r, row))
			return study_row(study, r)->value;
	return NAN;
}

/* Is it against the smaller problem? */
static bool is_against(const struct study *study, size_t row, size_t small, struct wrong *wrong) {
	double time = study_row(study, row)->value, own = own_of(study, row, small);
	double least = isnan(own) ? least_of(study, row, small) : NAN;
	bool by_own = own > time * (1 + study_noise(study));
	bool by_all = isnan(own) && least > time && least_of(study, row, row) > BELOW * time;
	double growth = by_own || by_all ? growth_of(study, row, row, small) : NAN;
	double expected = growth * (by_own ? own : least);
	char problem[PROBE_TEXT];
	if (!(growth >= GROWTH_LEAST) || !isfinite(expected) || !(expected > BELOW * time))
		return false;
	probe_problem(study, small, problem);
	wrong->kind = EVIDENCE_SCALING;
	wrong->value = expected;
	wrong->unit = "s";
	snprintf(wrong->text, sizeof wrong->text,
	         "less time than %s takes (%.4g s), although the other configurations take %.3g times as long here, so "
	         "that about %.3g s are expected",
	         problem, by_own ? own : least, growth, expected);
	return true;
}

bool impossible_by_neighbours(const struct study *study, size_t row, struct wrong *wrong) {
	bool found = false;
	if (wrong->problems < 2 || study_rows(study) > ROWS_MOST)
		return false;
	for (size_t i = 0; i < wrong->problems && !found; i++)
		found = is_smaller(study, wrong->problem[i], row) && is_against(study, row, wrong->problem[i], wrong);
	return found;
}
