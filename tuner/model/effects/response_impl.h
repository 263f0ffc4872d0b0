/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files response*.c only. */
#ifndef TUNER_MODEL_EFFECTS_RESPONSE_IMPL_H
#define TUNER_MODEL_EFFECTS_RESPONSE_IMPL_H
#include <math.h>
#include <stdint.h>

#include "tuner/model/effects/response.h"

struct response {
	struct effects_table table;
	struct gp *gp;
	size_t count, *row;   /* the observations: rows that the process was given */
	double centre, scale; /* target = (log cost - centre) / scale */
	double *target;       /* of each row */
	double *extra;        /* of each row: what censoring or being an outlier adds to its variance */
	bool *outlier;        /* of each row */
	double *left, *error; /* of each observation: leave-one-out mean and variance */
	double nugget;        /* variance that all rows have, in addition to what was measured */
	double r2;
	bool predicts;
};

/* Codes of a configuration: a level is its own code, and absence comes after the last level. */
void response_codes(const struct effects_table *table, const int *level, uint16_t *codes);
/* The noise of a row's target, without the process's own. */
double response_variance(const struct response *response, size_t row);

/* Sets aside the rows that are outliers of the additive model. */
void response_suspect(struct response *response);
/* Judges all rows by their leave-one-out predictions. */
void response_judge(struct response *response);
/* Sets r2 and predicts. */
void response_score(struct response *response);

#endif
