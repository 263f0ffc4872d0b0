/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much each parameter mattered: an additive model of log cost over the values of the parameters, fitted robustly to
 * the trials of a search. A search does not measure each value equally often, nor in the same company: effects are
 * those of the model, with its uncertainty, and a parameter without enough data has none. ADR 12 says why this model
 * stays beside the response surface.
 *
 * Method: a linear mixed model. The values of a parameter, numbers as well as words, are categories whose effects are
 * drawn from a normal distribution with a variance of the parameter's own. The variance is estimated with the fit (EM:
 * Dempster, Laird, Rubin, Maximum likelihood from incomplete data via the EM algorithm, 1977) under a weak prior that
 * keeps it above 0 (Chung et al., A nondegenerate penalized likelihood estimator for variance parameters in multilevel
 * models, 2013, with the power 3/4 in place of 1), and shrinks the effects of values that were rarely measured, so that
 * a fit can have more values than rows. Rows get the weights of Huber, then of Tukey's bisquare (Holland and Welsch
 * 1977) of their residuals from a fit without them; the scale is the median absolute residual. A trial that was cut
 * short is pulled to its limit if the model puts it below, as in a Tobit model (by Fisher scoring: Amemiya, Tobit
 * models: a survey, 1984). Interactions are noise to this model; its intervals are of the average over the measured
 * rows, and their scale includes the rows that the weights leave out. Effects of a parameter that is absent in some
 * rows are relative to today's value, which those rows stand for. If nobody says what is run today, or it lacks the
 * parameter, they are relative to its mean; in the former case, the interval of what brings the parameter holds for
 * each of its values.
 *
 * The interval is that of the largest ratio of two values: the largest lower and the largest upper bound of all pairs,
 * by Student's t at the residual degrees of freedom, for all pairs of the parameter together (Sidak 1967). It begins at
 * 1 unless it begins above for all pairs of all parameters together. Of the effects that are clear in simulated logs, 1
 * to 2 % are of settings that do nothing (tests/tuner/model/effects_false).
 *
 * A value that was measured once is named best or worst only if fewer than two others were measured more often; a value
 * whose effect could be that of other parameters is left out, and a parameter that never changed without another one
 * changing is unknown. If there are more than 511 values in all, those that were measured least count as the mean. */
#ifndef TUNER_MODEL_EFFECTS_EFFECTS_H
#define TUNER_MODEL_EFFECTS_EFFECTS_H
#include <stdbool.h>
#include <stddef.h>

/* Measured configurations, one per row, as effects.h, response.h, anova.h and landscape.h take them. */
enum { EFFECTS_ABSENT = -1, EFFECTS_REASON = 200 };

struct effects_table {
	size_t rows, params;
	const size_t *levels;     /* number of values of each parameter */
	const int *level;         /* rows x params: index of the value; EFFECTS_ABSENT where the parameter does not exist */
	const double *cost;       /* rows, > 0; smaller is better */
	const bool *over;         /* rows, or NULL; true: the trial was cut short, and costs more than `cost` */
	const double *weight;     /* rows, or NULL: all count the same; only effects_fit looks at it */
	const double *deviation;  /* rows, relative standard error of the cost, or NULL; NAN: unknown */
	const int *today;         /* params, or NULL: what is run without tuning; only effects_fit looks at it */
	const struct gp_dim *dim; /* of each parameter (gp_dim_of); NULL where no response surface is fitted */
};

struct effect {
	bool known; /* false: fewer than two of its values were measured, or it cannot be told apart from another parameter
	             */
	double ratio;    /* cost of its worst measured value over that of its best, >= 1; NAN if unknown */
	double ci[2];    /* 95 %, of the ratio */
	int best, worst; /* levels; -1 if unknown */
	size_t seen;     /* number of its values that were measured */
};

/* effects: params of them, always set. -1: too little data for any of them, or an invalid cost, weight or level. */
int effects_fit(const struct effects_table *table, struct effect *effects);
#endif
