/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions to a study: what changes when one thing changes and everything else stays the same. */
#ifndef TUNER_STUDY_CONTRAST_H
#define TUNER_STUDY_CONTRAST_H
#include "tuner/study/study.h"

/* Marks the columns that depend on `column`: they are absent in every row of some of its levels and present elsewhere.
 */
void study_dependent(const struct study *study, size_t column, bool *dependent);

/* Accepts the rows to look at; NULL: all. */
typedef bool (*study_filter)(void *ctx, const struct study *study, size_t row);

struct study_pair {
	size_t a, b;
};
/* Finds pairs of rows with levels a and b of the column that agree in all other columns. Columns that exist only for
 * one of the two levels (a chunk if the schedule is dynamic) may have any value there; then the smallest time counts.
 * Rows that were cut short are left out. The caller frees *pairs. Returns their number. */
size_t study_pairs(const struct study *study, size_t column, int a, int b, study_filter filter, void *ctx,
                   struct study_pair **pairs);

struct study_ratio {
	double ratio, ci[2]; /* time of a over time of b; 95 %, never narrower than the noise */
	double p;            /* two-sided, of ratio 1 */
	size_t pairs;
	size_t agree; /* number of pairs on the same side of 1 as `ratio`, by more than the noise */
};
/* Compares by the signed ranks of the log ratios; with fewer than 6 pairs by the deviations of the rows and, with two
 * or more, the differences between pairs (a random-effects mean: DerSimonian and Laird, Meta-analysis in clinical
 * trials, 1986). If there are no pairs, everything is NAN. */
struct study_ratio study_compare(const struct study *study, const struct study_pair *pairs, size_t count);
/* study_pairs and study_compare in one. */
struct study_ratio study_contrast(const struct study *study, size_t column, int a, int b, study_filter filter,
                                  void *ctx);

/* Calls fn for each series of rows that agree in all columns but this one, which is numeric, in ascending order. Only
 * series of at least `least` rows; rows that were cut short are included (row->over). fn returns false to stop. */
void study_series_each(const struct study *study, size_t column, size_t least, study_filter filter, void *ctx,
                       bool (*fn)(void *fn_ctx, const size_t *rows, size_t count), void *fn_ctx);
/* The row with the smallest time at each level of a column, ascending: the best that can be had there. rows: room for
 * its levels. Returns the number. */
size_t study_envelope(const struct study *study, size_t column, study_filter filter, void *ctx, size_t *rows);

/* Do the values follow the configurations at all? Returns the probability that shuffled values are predicted as well
 * from their neighbours (rows that differ in one column; numbers by one step) as the real ones: a permutation test,
 * with the same result each time. NAN: fewer than STUDY_ROWS_LEAST rows, or none of them are neighbours. */
enum { STUDY_ROWS_LEAST = 7 };
double study_pattern(const struct study *study);
/* The probability that shuffled values lie on as smooth a curve: the mean square of successive differences (von
 * Neumann, 1941), over all orders or 4999 of them. 1 for fewer than 4 values. */
double study_smooth_chance(const double *y, size_t count);
/* The ratio of the largest to the smallest of that many values that chance reaches in 1 of 100 cases, if each may be
 * off by twice the noise. */
double study_chance_ratio(const struct study *study, size_t count);
/* Is the table too small for tests by shuffling? Fewer than STUDY_ROWS_LEAST rows are; so are a few more of one value
 * each that do not follow a pattern, but lie farther apart than chance puts them. Findings then get a low confidence.
 */
bool study_few(const struct study *study);
#endif
