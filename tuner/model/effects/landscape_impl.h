/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files landscape*.c share. */
#ifndef TUNER_MODEL_EFFECTS_LANDSCAPE_IMPL_H
#define TUNER_MODEL_EFFECTS_LANDSCAPE_IMPL_H
#include "tuner/model/effects/landscape.h"
#include "tuner/model/effects/response_impl.h"

struct look {
	const struct landscape_data *data;
	const struct response_key *keys;
	const struct response *response; /* NULL: nothing is predicted */
	const int *winner;               /* its places */
	double cost, variance;           /* of the winner: log cost */
};

/* A value of a parameter, all others as the winner has them. */
struct near_value {
	double at;
	struct landscape_step step; /* place -1: nothing known of it */
	int place;
};

/* Log cost of a configuration and its variance, from the rows that have it. Returns how many; `over`: all were cut
 * short. */
size_t look_at(const struct look *look, const int *places, double *cost, double *variance, bool *over);
/* The values of a parameter by their order, the winner's among them: with ratio 1. */
struct near_value *look_values_new(const struct look *look, size_t param, size_t *count);

#endif
