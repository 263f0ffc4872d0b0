/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files response*.c share. */
#ifndef TUNER_MODEL_EFFECTS_RESPONSE_IMPL_H
#define TUNER_MODEL_EFFECTS_RESPONSE_IMPL_H
#include <math.h>
#include <stdint.h>

#include "tuner/model/effects/response.h"

struct response {
	struct response_data data;
	struct gp *gp;
	size_t count, *row;   /* observations: rows that the process has */
	double centre, scale; /* of log cost: target = (log cost - centre) / scale */
	double *target;       /* of every row */
	double *extra;        /* of every row: what censoring adds to its variance */
	bool *wild;           /* of every row */
	double *left, *error; /* of each observation: mean and variance from all others */
	double nugget;        /* variance that all have, beside what was measured */
	double r2;
	bool predicts;
};

/* Codes of a configuration: dims of them. */
void response_codes(const struct response_data *data, const int *places, uint16_t *codes);
/* Of a row's target, beside what all have by the process. */
double response_variance(const struct response *response, size_t row);
bool response_is_over(const struct response *response, size_t row);
/* Are the rows in range? -1: with the reason. The second also wants enough of them. */
int response_check_rows(const struct response_data *data, char reason[RESPONSE_REASON]);
int response_check(const struct response_data *data, char reason[RESPONSE_REASON]);

/* Rows by their configuration. */
struct response_key {
	const int *places;
	size_t params, row;
};
struct response_key *response_keys_new(const struct response_data *data);
/* How many rows have this configuration; `first` of the keys. */
size_t response_keys_at(const struct response_key *keys, const struct response_data *data, const int *places,
                        size_t *first);

/* Rows that an additive robust regression sets aside. */
void response_suspect(struct response *response);
/* Of the targets on their leave-one-out predictions. */
void response_judge(struct response *response);
/* r2 and predicts */
void response_score(struct response *response);

#endif
