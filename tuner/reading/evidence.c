/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/mem.h"
#include "tuner/reading/reading.h"

enum { STRATA_LEAST = 2, SERIES_LEAST = 5 };
static const double ARRANGEMENTS_LEAST = 500, CHANCE_MAX = 0.02, CHANCE_FAR = 0.05;
/* Values that are off by 15 % would not be that far apart, whatever their order. */
static const double FAR = 1.5;

/* Parameters that vary: each of them may be followed by chance. */
static double columns_of(const struct study *study) {
	size_t count = 0;
	for (size_t c = 0; c < study_columns(study); c++)
		count += !study_column(study, c)->is_problem;
	return count ? (double)count : 1;
}

double reading_series_chance(const struct study *study, const struct reading_series *series) {
	mem_auto double *y = mem_alloc(series->count, sizeof *y);
	for (size_t i = 0; i < series->count; i++)
		y[i] = log(reading_time(study, series->rows[i]));
	return study_smooth_chance(y, series->count);
}

double reading_series_spread(const struct study *study, const struct reading_series *series) {
	double least = INFINITY, most = 0;
	for (size_t i = 0; i < series->count; i++) {
		least = fmin(least, reading_time(study, series->rows[i]));
		most = fmax(most, reading_time(study, series->rows[i]));
	}
	return most / least;
}

/* A curve that is a little rough counts if its values are farther apart than chance puts them. */
static enum reading_verdict single_follows(const struct study *study, const struct reading_series *series) {
	double chance = reading_series_chance(study, series);
	if (chance * columns_of(study) <= CHANCE_MAX)
		return READING_TESTED;
	double apart = log(reading_series_spread(study, series)) / log(study_chance_ratio(study, series->count));
	return apart > FAR || (apart > 1 && chance <= CHANCE_FAR) ? READING_UNTESTED : READING_NO;
}

/* Series may go opposite ways, or be too short for a test that expects them to agree. One of them counts if its values
 * are farther apart than chance puts all values of the table. */
static bool some_apart(const struct study *study, const struct reading_list *list) {
	size_t count = 0;
	for (size_t i = 0; i < list->count; i++)
		count += list->series[i].count;
	for (size_t i = 0; i < list->count; i++) {
		double least = INFINITY, most = 0;
		for (size_t r = 0; r < list->series[i].count; r++) {
			least = fmin(least, reading_time(study, list->series[i].rows[r]));
			most = fmax(most, reading_time(study, list->series[i].rows[r]));
		}
		if (most / least > study_chance_ratio(study, count))
			return true;
	}
	return false;
}

enum reading_verdict reading_follows(const struct study *study, size_t column, const struct reading_list *list) {
	double arrangements = 0;
	size_t longest = 0;
	for (size_t i = 0; i < list->count; i++) {
		arrangements += lgamma((double)list->series[i].count + 1);
		longest = list->series[i].count > longest ? list->series[i].count : longest;
	}
	bool numeric = study_column(study, column)->numeric;
	if (list->count == 0)
		return READING_NO;
	if (list->count == 1 && numeric && longest >= SERIES_LEAST)
		return single_follows(study, &list->series[0]);
	if (list->count < STRATA_LEAST || arrangements < log(ARRANGEMENTS_LEAST))
		return READING_UNTESTED;
	if (list->count == STRATA_LEAST && !numeric)
		return READING_UNTESTED;
	if (follows_chance(study, (int)column, NULL, NULL, NULL) * columns_of(study) <= CHANCE_MAX)
		return READING_TESTED;
	return numeric && some_apart(study, list) ? READING_UNTESTED : READING_NO;
}

double reading_limit(const struct study *study, enum reading_verdict verdict, size_t count) {
	return verdict == READING_TESTED ? 1 + probe_limit(study) : study_chance_ratio(study, count);
}

enum confidence reading_confidence(enum reading_verdict verdict) {
	return verdict == READING_TESTED ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW;
}
