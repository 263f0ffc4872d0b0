/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The response surface: log cost as a function of the configuration. A Gaussian process (Rasmussen and Williams,
 * Gaussian processes for machine learning, 2006) is fitted to what was measured, for questions that are asked
 * afterwards: anova.h, landscape.h and the path of `explain` all put theirs to the same surface.
 *
 * Outliers get a noise of their own, because one disturbed trial would bend the surface around it. They
 * are found in two steps: the additive model of effects.h sets suspects aside, so that they do not decide the lengths;
 * then the bisquare weights of a robust regression (Holland and Welsch, Robust regression using iteratively reweighted
 * least-squares, 1977) of the targets on their leave-one-out predictions judge all rows again, because the additive
 * model takes interactions for noise. Trials that were cut short count as what the process expects above their limit
 * (the mean of a truncated normal distribution). The noise is chosen among a few levels by the likelihood. */
#ifndef TUNER_MODEL_EFFECTS_RESPONSE_H
#define TUNER_MODEL_EFFECTS_RESPONSE_H
#include "tuner/model/effects/effects.h"
#include "tuner/model/gp/gp.h"

enum { RESPONSE_REASON = EFFECTS_REASON };

struct response;
/* NULL, with the reason in words: invalid rows, too few of them, or more parameters than GP_DIMS_MAX. The table must
 * outlive the surface. */
struct response *response_new(const struct effects_table *table, char reason[RESPONSE_REASON]);
void response_free(struct response *response);

/* 1 - (sum of squared leave-one-out errors) / (sum of squares about the mean) of log cost, without outliers and those
 * cut short. At 0 or below the parameters explain nothing. */
double response_r2(const struct response *response);
/* Does the surface predict better than the mean does? r2 is at least 0.1, and a one-sided t test of the squared errors
 * rejects chance at 1 %; under 200 rows also in an 8-fold cross-validation, where the parameters of the process are
 * fitted without the fold, because leave-one-out errors of few rows are too small. */
bool response_predicts(const struct response *response);

/* Root mean square of the leave-one-out errors over their expected deviations, at least 1: the factor by which
 * intervals of the process are too narrow. */
double response_stretch(const struct response *response);

/* The levels of a parameter by their coordinate, or by their index where it is unordered; the caller frees it. */
size_t *response_order_new(const struct effects_table *table, size_t param);

/* Log cost without noise of `count` configurations. mean may be NULL; covariance: count x count, or NULL. */
void response_predict(const struct response *response, const int *level, size_t count, double *mean,
                      double *covariance);
#endif
