/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the winner compares to its neighbours, which differ in one parameter: it is on a plateau, where a step costs
 * nothing, or on a peak, where it does. Measured neighbours are taken as they are; others are predicted by the response
 * surface (response.h), with an interval, if leave-one-out shows that it predicts at all. */
#ifndef TUNER_MODEL_EFFECTS_LANDSCAPE_H
#define TUNER_MODEL_EFFECTS_LANDSCAPE_H
#include "tuner/model/effects/response.h"

/* Relative costs: below STEP a step counts as free, below NEAR as equally good. */
#define LANDSCAPE_STEP 0.05
#define LANDSCAPE_NEAR 0.02

struct landscape_data {
	struct effects_table measured;
	const struct response *response; /* of `measured`; NULL: it is fitted here */
	size_t winner;                   /* row */
	/* Is a configuration valid? NULL: all are. Only called for neighbours that were not measured. */
	bool (*valid)(const int *level, void *ctx);
	void *ctx;
};

enum landscape_verdict {
	LANDSCAPE_UNCLEAR, /* nothing is known, the intervals include both, or only some of the other words are costly */
	LANDSCAPE_FLAT,    /* all neighbours are within LANDSCAPE_STEP, intervals included */
	LANDSCAPE_SHARP    /* ordered: a neighbour costs more, interval included; unordered: all others do */
};

struct landscape_step {
	int level;     /* of the neighbour; -1: there is none, or nothing is known of it */
	bool measured; /* false: predicted */
	size_t rows;   /* number of its measurements */
	double ratio;  /* its cost over the winner's */
	double ci[2];  /* 95 %; ci[1] is INFINITY if the trial was cut short */
};

struct landscape_param {
	enum landscape_verdict verdict;
	bool ordered;
	/* Ordered: one step down and one up. Unordered: the best of the others and the worst. */
	struct landscape_step step[2];
	size_t measured, predicted; /* number of other values that were measured, and that were only predicted */
	/* Number of values that are about as good, the winner's included: contiguous ones if ordered, any if not. */
	size_t near, wide; /* within LANDSCAPE_NEAR and LANDSCAPE_STEP */
	int first, last;   /* ordered: levels where `wide` begins and ends */
};

struct landscape {
	size_t params;
	struct landscape_param *param;
	size_t sharp, flat, unclear;  /* number of parameters */
	bool fragile;                 /* a parameter is sharp */
	bool plateau;                 /* all parameters with a choice are flat */
	double predicted_r2;          /* NAN if there is no surface */
	char reason[RESPONSE_REASON]; /* why nothing was predicted; "" if something was */
};

/* -1 with the reason: invalid rows, or a winner that is not among them. */
int landscape_make(struct landscape *landscape, const struct landscape_data *data);
void landscape_clear(struct landscape *landscape);
const char *landscape_verdict_word(enum landscape_verdict verdict);
#endif
