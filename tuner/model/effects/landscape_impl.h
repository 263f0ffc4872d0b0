/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files landscape*.c only. */
#ifndef TUNER_MODEL_EFFECTS_LANDSCAPE_IMPL_H
#define TUNER_MODEL_EFFECTS_LANDSCAPE_IMPL_H
#include "tuner/model/effects/landscape.h"

struct look {
	const struct landscape_data *data;
	const struct effects_key *keys;
	const struct response *response; /* NULL: nothing is predicted */
	const int *winner;               /* its levels */
	double cost, variance;           /* of the winner: log cost */
};

/* The winner with another value of one parameter. */
struct neighbour {
	int level;
	struct landscape_step step; /* level -1: nothing is known of it */
};

/* One for each value of a parameter, in order; the winner itself has ratio 1. The caller frees them. */
struct neighbour *look_around(const struct look *look, size_t param);

#endif
