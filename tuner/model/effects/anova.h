/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which parameters mattered: the variance of log cost over the space, split into main effects and interactions of two
 * (functional ANOVA: Sobol 1993; of a surrogate's predictions: Hutter, Hoos, Leyton-Brown 2014, "An efficient approach
 * for assessing hyperparameter importance").
 *
 * The function is the mean of a Gaussian process (response.h) at a sample of valid configurations that the caller
 * gives, so that constraints hold; or what was measured, where that is all of the space. Constraints make parameters
 * dependent: main effects are fitted together (backfitting: Buja, Hastie, Tibshirani 1989), and the share of one is the
 * covariance of its effect with the function (Li et al. 2010, "Global sensitivity analysis for systems with independent
 * and/or correlated inputs"). What remains goes to pairs, the largest first. Both are less what a sample of this size
 * shows by chance (epsilon squared: Kelley 1935), or what the noise of the measurements does where these are all of the
 * space. A parameter that is absent has no effect there: what its being there costs belongs to the parameter that
 * brings it.
 *
 * Intervals are of draws from the posterior of the process, reflected about the estimate (basic bootstrap: Davison and
 * Hinkley 1997, section 5.2), since noise only ever adds variance. */
#ifndef TUNER_MODEL_EFFECTS_ANOVA_H
#define TUNER_MODEL_EFFECTS_ANOVA_H
#include "tuner/model/effects/response.h"

struct anova_data {
	struct effects_table measured;
	size_t samples;                  /* configurations of the space, drawn evenly; 500 to 4000 are good */
	const int *sample;               /* samples x params: levels */
	bool whole;                      /* it is all of the space, each configuration once */
	const struct response *response; /* of `measured`; NULL: it is fitted here */
};

struct anova_share {
	double share; /* of the variance; 0 where it can't be told from 0 */
	double ci[2]; /* 95 %, within 0..1; it matters where ci[0] > 0 */
	bool known;   /* false: it has not two values, its absence aside */
};

struct anova {
	size_t params;
	double total;                    /* variance of log cost over the space */
	double unexplained;              /* share that is of no parameter and no pair */
	double predicted_r2;             /* response_r2 */
	size_t rows, wild;               /* measured; of them set aside as outliers */
	bool measured;                   /* of the measured grid, not of the surrogate */
	struct anova_share *main, *pair; /* anova_pair */
	char reason[RESPONSE_REASON];    /* why there is none */
};

/* 0; or -1, with the reason, where there is too little data or where leave-one-out says that the model predicts
 * nothing. predicted_r2 (NAN where it never came to it), rows and wild are set all the same. Same data, same answer. */
int anova_make(struct anova *anova, const struct anova_data *data);
void anova_clear(struct anova *anova);
const struct anova_share *anova_pair(const struct anova *anova, size_t a, size_t b); /* a != b, in any order */

#endif
