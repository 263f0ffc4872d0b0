/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Log cost as a function of the configuration (a response surface): a Gaussian process over what was measured, made fit
 * for being asked afterwards. Wild rows are told from the others and get a noise of their own; rows cut short count as
 * what the process expects above their limit.
 *
 * Wild rows are found twice: by the bisquare weights of a robust regression (Holland and Welsch 1977,
 * gsl_multifit_robust) on the parameters, which has no interactions and so only sets rows aside for the moment; then by
 * those of the targets on their leave-one-out predictions, which do. Noise is set among a few by the likelihood. */
#ifndef TUNER_MODEL_EFFECTS_RESPONSE_H
#define TUNER_MODEL_EFFECTS_RESPONSE_H
#include <stdbool.h>
#include <stddef.h>

#include "tuner/model/effects/effects.h" /* EFFECTS_ABSENT */
#include "tuner/model/gp/gp.h"

/* What was measured: a row a trial. Values of parameters are places, as in effects.h; the Gaussian process sees codes,
 * as gp_dim_of makes them. With param NULL dimension d is parameter d; with code NULL a place is its code, and
 * levels[] that of absence. */
struct response_data {
	size_t rows, params;
	const size_t *levels;    /* how many values each parameter has */
	const int *places;       /* rows x params, EFFECTS_ABSENT where the parameter does not exist */
	const double *cost;      /* rows, > 0; smaller is better */
	const double *deviation; /* rows, relative standard error of the cost, or NULL; NAN: not known */
	const bool *over;        /* rows, or NULL; true: it was cut short, and costs more than `cost` */
	size_t dims;
	const struct gp_dim *dim;
	const int *param;            /* of each dimension; -1: of none, then always code 0 */
	const uint16_t *const *code; /* of each dimension: of each place, then of absence */
};

enum { RESPONSE_REASON = 200 };

struct response;
/* NULL, with the reason in words: rows that can't be, too few of them, or nothing that varies. */
struct response *response_new(const struct response_data *data, char reason[RESPONSE_REASON]);
void response_free(struct response *response);

/* Of log cost, each from all other rows: 1 - (sum of squared errors) / (sum of squares about the mean), without wild
 * rows and those cut short. 0 or less: the parameters tell nothing. */
double response_r2(const struct response *response);
/* Do they tell more than the mean does? One-sided t test of the squared errors, 1 %, and r2 of at least 0.1; of under
 * 200 rows also of an 8-fold cross-validation in which all is set anew. */
bool response_predicts(const struct response *response);
size_t response_wild(const struct response *response); /* how many rows */
bool response_is_wild(const struct response *response, size_t row);
double response_target(const struct response *response, size_t row); /* log cost, or what stands for it */

/* Root mean square of leave-one-out errors over their deviations, at least 1: how much too narrow intervals are. */
double response_stretch(const struct response *response);
double response_noise(const struct response *response); /* variance of log cost that nothing explains */

/* Where a value lies among those of its parameter, by its first ordered dimension; NAN: it is unordered, or absent. */
double response_place(const struct response_data *data, size_t param, int place);

/* Of log cost, without noise. mean and variance may be NULL; covariance: count x count or NULL. */
void response_predict(const struct response *response, const int *places, size_t count, double *mean, double *variance,
                      double *covariance);

#endif
