/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions to a study: what changes when one thing changes and all else stays the same. */
#ifndef TUNER_STUDY_CONTRAST_H
#define TUNER_STUDY_CONTRAST_H
#include "tuner/study/study.h"

/* Marks the columns that are absent at every row of some level of `column` and present elsewhere: they depend on it. */
void study_dependent(const struct study *study, size_t column, bool *dependent);

/* Rows to look at; NULL: all. */
typedef bool (*study_filter)(void *ctx, const struct study *study, size_t row);

struct study_pair {
	size_t a, b;
};
/* Pairs of rows with level a, and b, of the column that agree in all other columns; columns that exist only for one of
 * the two levels (a chunk where the schedule is dynamic) may have any value there, then the least time counts. Rows
 * that were cut short are left out. *pairs: caller frees. Returns how many. */
size_t study_pairs(const struct study *study, size_t column, int a, int b, study_filter filter, void *ctx,
                   struct study_pair **pairs);

struct study_ratio {
	double ratio, ci[2]; /* time of a over time of b; 95 %, never narrower than the noise */
	double p;            /* two-sided, against 1 */
	size_t pairs;
	size_t agree; /* pairs on the same side of 1 as `ratio` by more than the noise */
};
/* From several pairs by the signed ranks of their log ratios; from fewer than 6 by the deviations of the rows and, with
 * two or more, by how much the pairs differ (a random-effects mean: DerSimonian and Laird 1986). pairs 0: all NAN. */
struct study_ratio study_compare(const struct study *study, const struct study_pair *pairs, size_t count);
/* Both at once. */
struct study_ratio study_contrast(const struct study *study, size_t column, int a, int b, study_filter filter,
                                  void *ctx);

/* Rows that agree in all columns but this one, which is numeric; ascending. Only series of at least `least` rows; rows
 * that were cut short are in them (row->over). fn returns false to stop. */
void study_series_each(const struct study *study, size_t column, size_t least, study_filter filter, void *ctx,
                       bool (*fn)(void *fn_ctx, const size_t *rows, size_t count), void *fn_ctx);
/* The row with the least time at each level of a column, ascending: what can be had there. rows: room for its levels.
 * Returns how many. */
size_t study_envelope(const struct study *study, size_t column, study_filter filter, void *ctx, size_t *rows);

/* Whether the values follow the configurations at all: the probability that shuffled values are predicted as well from
 * their neighbours (rows that differ in one column; numbers by one step) as the real ones. A permutation test, the same
 * each time. NAN: fewer than STUDY_ROWS_LEAST rows, or none that are neighbours. */
enum { STUDY_ROWS_LEAST = 7 };
double study_pattern(const struct study *study);

#endif
