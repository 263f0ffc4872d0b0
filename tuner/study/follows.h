/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Do the times follow one column at all, everything else equal? Compares with what its labels would show if they were
 * dealt at random among the rows that agree in all other columns. A diagnosis has to pass this test before it says
 * anything about a column (ADR 10). */
#ifndef TUNER_STUDY_FOLLOWS_H
#define TUNER_STUDY_FOLLOWS_H
#include "tuner/study/contrast.h"

enum { FOLLOWS_PROBLEM = -1 /* all members of the problem together */ };

/* The probability that labels dealt at random look at least as good. weight: of each level, if a direction is expected
 * (positive: slower); NULL: any. NAN: no two rows agree in everything else. The result is the same each time. */
double follows_chance(const struct study *study, int column, const double *weight, study_filter filter, void *ctx);

/* Is that probability small enough? True as well if there are so few rows that findings get a low confidence anyway. */
bool follows(const struct study *study, int column);
/* The same with an expected direction. */
bool follows_directed(const struct study *study, int column, const double *weight, study_filter filter, void *ctx);
#endif
