/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics of a ratio from paired measurements. Samples i of a and b were taken one right after the other in block i;
 * the analysis is of log(a[i] / b[i]), so that whatever slows both (a neighbour, a clock drop) cancels. Ranks make it
 * robust against single disturbed pairs. */
#ifndef TUNER_MODEL_PAIRED_H
#define TUNER_MODEL_PAIRED_H
#include <stdbool.h>
#include <stddef.h>

struct paired {
	double ratio; /* a / b: the Hodges-Lehmann estimate (1963), exp of the median of Walsh averages */
	double ci[2]; /* of the ratio at `level`, by inverting the Wilcoxon signed-rank test; contains ratio */
	double p;     /* two-sided Wilcoxon signed-rank test of ratio 1 */
	size_t count;
};

/* count >= 1; all values > 0. Intervals of fewer than 6 pairs are [min, max]. */
struct paired paired_analyse(const double *a, const double *b, size_t count, double level);
/* Holm, A simple sequentially rejective multiple test procedure, 1979: adjusted[i] belongs to p[i]; keeps the order. */
void paired_holm(const double *p, size_t count, double *adjusted);

enum paired_verdict { PAIRED_FASTER, PAIRED_SLOWER, PAIRED_TIE };
/* Judges a against b: faster if the whole interval is below 1 - margin, slower if it is above 1 + margin. */
enum paired_verdict paired_judge(const struct paired *paired, double margin);
/* Is the interval so wide that a difference of 30 % is possible? Then nothing is known, which is not a tie. */
bool paired_is_vague(const struct paired *paired);
/* The same for documents: few pairs have a very wide interval or none, but documents promise numbers. */
struct paired paired_told(struct paired paired);
/* The verdict's word, "undecided" instead of "tie" for a vague interval. */
const char *paired_said(enum paired_verdict verdict, const struct paired *paired);
const char *paired_verdict_word(enum paired_verdict verdict);
#endif
