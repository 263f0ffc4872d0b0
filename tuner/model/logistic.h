/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logistic regression with a ridge: the weights of greatest likelihood times normal priors around 0. */
#ifndef TUNER_MODEL_LOGISTIC_H
#define TUNER_MODEL_LOGISTIC_H
#include <stddef.h>

struct logistic {
	size_t count, size;      /* observations, and features of each */
	const double *features;  /* count x size */
	const double *sign;      /* of each observation: 1 or -1 */
	const double *precision; /* of each weight's prior: one over its variance */
};

/* Improves the weights; the nearer they are to begin with, the fewer steps it takes. */
void logistic_fit(const struct logistic *logistic, double *weight);
#endif
