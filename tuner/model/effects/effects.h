/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much each parameter mattered: an additive model of log cost over the values of the parameters, fitted robustly to
 * what a search has measured. Not every value was measured equally often, nor in every company: effects are of the
 * model, with the uncertainty it has, and a parameter without enough data has none.
 *
 * Method: a linear mixed model. The values of a parameter, numbers as well as words, are categories, whose effects are
 * drawn from a normal distribution with a variance of the parameter's own. That variance is estimated with the fit
 * (EM, Dempster, Laird and Rubin 1977), under a weak prior that keeps it from becoming 0 (Chung et al. 2013, with the
 * power 3/4 in place of 1), and shrinks the effects of values that were seldom measured: what makes fits work that have
 * more values than rows. Rows get the weights of Huber, then of Tukey's bisquare (Holland and Welsch 1977) of their
 * residuals from a fit without them; the scale is the median absolute residual. Rows of which a limit is known that
 * they are over are drawn towards it where the model puts them below, as in a Tobit model (by Fisher scoring, Amemiya
 * 1984). What does not add up (interactions) is noise here; the intervals are of the average over what was measured,
 * and too narrow where it matters much: on additive simulated data they hold the truth in 95 % of the cases (90 % with
 * 10 rows), with strong interactions in 73 %. Effects of a parameter that is absent in some rows are deviations from
 * its own mean, so that what its being there costs belongs to the parameter that brings it.
 *
 * The interval is of the largest ratio of two values: the largest of the lower and of the upper bounds of all pairs, by
 * Student's t at the residual degrees of freedom, for all pairs together (Sidak 1967).
 *
 * A value that was measured once is named best or worst only where not two others were more often; one whose effect
 * could be that of other parameters as well is left out, and a parameter that never changed without another changing is
 * not known. Of more than 511 values in all, those that were measured least often count as the mean. */
#ifndef TUNER_MODEL_EFFECTS_EFFECTS_H
#define TUNER_MODEL_EFFECTS_EFFECTS_H
#include "tuner/model/effects/table.h"

struct effect {
	bool known;      /* false: measured at fewer than two of its values, or not to be told apart from another */
	double ratio;    /* cost of its worst measured value over that of its best, >= 1; NAN where not known */
	double ci[2];    /* 95 %, of the ratio */
	int best, worst; /* levels; -1 where not known */
	size_t seen;     /* how many of its values were measured */
};

/* effects: params of them, always filled. -1 where there is too little data for any, or a cost, weight or place that
 * can't be one. */
int effects_fit(const struct effects_table *table, struct effect *effects);

#endif
