/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics of a ratio from paired measurements. Samples i of a and b were taken side by side in block i; the analysis
 * is of log(a[i] / b[i]), so that what slows both (a neighbour, a clock drop) cancels. */
#ifndef TUNER_MODEL_PAIRED_H
#define TUNER_MODEL_PAIRED_H
#include <stddef.h>

struct paired {
	double ratio; /* a / b: the Hodges-Lehmann estimate, exp of the median of Walsh averages */
	double ci[2]; /* of the ratio at `level`, from inverting the Wilcoxon signed-rank test; brackets ratio */
	double p;     /* two-sided Wilcoxon signed-rank, against ratio 1 */
	size_t count;
};

/* count >= 1; all values > 0. Intervals of fewer than 6 pairs are [min, max]. */
struct paired paired_analyse(const double *a, const double *b, size_t count, double level);
/* Holm 1979: adjusted[i] for p[i], in place of the caller's order. */
void paired_holm(const double *p, size_t count, double *adjusted);

enum paired_verdict { PAIRED_FASTER, PAIRED_SLOWER, PAIRED_TIE };
/* a against b: faster when the whole interval is under 1 - margin, slower when over 1 + margin. */
enum paired_verdict paired_judge(const struct paired *paired, double margin);
const char *paired_verdict_word(enum paired_verdict verdict);

#endif
