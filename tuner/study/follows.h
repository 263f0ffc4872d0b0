/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether times follow one column at all, all else the same: what its labels would show if they were dealt out anew
 * among the rows that agree in all other columns. What a diagnosis says of a column has to pass this first. */
#ifndef TUNER_STUDY_FOLLOWS_H
#define TUNER_STUDY_FOLLOWS_H
#include "tuner/study/contrast.h"

enum { FOLLOWS_PROBLEM = -1 /* all members of the problem together */ };

/* The probability that labels dealt out at random look at least as good. weight: of each level, where a direction is
 * expected (positive: slower); NULL: any. NAN: no two rows agree in all else. The same each time. */
double follows_chance(const struct study *study, int column, const double *weight, study_filter filter, void *ctx);

/* It is small enough; or there are so few rows that findings are kept low anyway. */
bool follows(const struct study *study, int column);
/* The same where a direction is expected. */
bool follows_directed(const struct study *study, int column, const double *weight, study_filter filter, void *ctx);

#endif
