/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Splits the variance of log cost over the space into main effects and interactions of two
 * parameters (functional ANOVA: Sobol, Sensitivity estimates for nonlinear mathematical models, 1993; of a surrogate's
 * predictions: Hutter, Hoos, Leyton-Brown, An efficient approach for assessing hyperparameter importance, 2014).
 *
 * The function is the mean of a response surface (response.h) at a sample of valid configurations that the caller
 * draws, so that constraints hold; or the measurements, if they cover the space. Constraints make parameters dependent,
 * so that main effects are fitted together (backfitting: Buja, Hastie, Tibshirani, Linear smoothers and additive
 * models, 1989), and the share of an effect is its covariance with the function (Li et al., Global sensitivity analysis
 * for systems with independent and/or correlated inputs, 2010). The residual goes to pairs, the largest first. From
 * both is subtracted what a sample of this size shows by chance (epsilon squared: Kelley, An unbiased correlation ratio
 * measure, 1935) or, if the measurements cover the space, what their noise adds. A parameter has no effect where it is
 * absent: the cost of its presence belongs to the parameter that brings it.
 *
 * Intervals come from draws of the posterior of the process, reflected about the estimate (basic bootstrap: Davison and
 * Hinkley, Bootstrap methods and their application, 1997, section 5.2), because noise only ever adds variance. */
#ifndef TUNER_MODEL_EFFECTS_ANOVA_H
#define TUNER_MODEL_EFFECTS_ANOVA_H
#include "tuner/model/effects/response.h"

struct anova_data {
	struct effects_table measured;
	size_t samples;                  /* configurations of the space, drawn uniformly; 500 to 4000 are good */
	const int *sample;               /* samples x params: levels */
	bool whole;                      /* the sample is the whole space, each configuration once */
	const struct response *response; /* of `measured`; NULL: it is fitted here */
};

struct anova_share {
	double share; /* of the variance */
	double ci[2]; /* 95 %, within 0..1; the parameter matters if ci[0] > 0 */
	bool known;   /* false: it does not have two values besides its absence */
};

struct anova {
	size_t params;
	double total;                    /* variance of log cost over the space */
	double unexplained;              /* share that belongs to no parameter and no pair */
	double predicted_r2;             /* response_r2 */
	size_t rows, outliers;           /* measured rows; those of them that are outliers */
	bool measured;                   /* based on the measured grid, not on the surface */
	struct anova_share *main, *pair; /* see anova_pair */
	char reason[RESPONSE_REASON];    /* why there is no answer */
};

/* 0; or -1 with the reason: too little data, or a surface that does not predict. predicted_r2 (NAN if there is no
 * surface), rows and outliers are set in any case. The same data give the same answer. */
int anova_make(struct anova *anova, const struct anova_data *data);
void anova_clear(struct anova *anova);
const struct anova_share *anova_pair(const struct anova *anova, size_t a, size_t b); /* a != b, in any order */
#endif
