/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the winner stands among its neighbours, which differ from it in one parameter: on a plateau, where a step costs
 * nothing, or on a peak, where it does. Neighbours that were measured speak for themselves; for others the surrogate
 * (response.h) does, with its interval, where leave-one-out says that it predicts anything. */
#ifndef TUNER_MODEL_EFFECTS_LANDSCAPE_H
#define TUNER_MODEL_EFFECTS_LANDSCAPE_H
#include "tuner/model/effects/response.h"

/* A step costs something where it costs more than this. */
#define LANDSCAPE_STEP 0.05
#define LANDSCAPE_NEAR 0.02

struct landscape_data {
	struct effects_table measured;
	const struct response *response; /* of `measured`; NULL: it is fitted here */
	size_t winner;                   /* row */
	/* May a configuration be? NULL: any may. It is asked of neighbours that were not measured. */
	bool (*valid)(const int *level, void *ctx);
	void *ctx;
};

enum landscape_verdict {
	LANDSCAPE_UNCLEAR, /* nothing known, or the intervals hold both, or some values of many */
	LANDSCAPE_FLAT,    /* all neighbours are within LANDSCAPE_STEP, intervals too */
	LANDSCAPE_SHARP    /* ordered: a neighbour is over it, interval too; unordered: all others are */
};

struct landscape_step {
	int level;     /* of the neighbour; -1: there is none, or nothing is known of it */
	bool measured; /* false: predicted */
	size_t rows;   /* how often it was measured */
	double ratio;  /* its cost over the winner's */
	double ci[2];  /* 95 %; ci[1] is INFINITY where it was cut short */
};

struct landscape_param {
	enum landscape_verdict verdict;
	bool ordered;
	/* Ordered: one step down, one up. Unordered: the best of the others, and the worst. */
	struct landscape_step step[2];
	size_t measured, predicted; /* other values with a measurement, and with a prediction alone */
	/* Values about as good, the winner's included: around it without a gap where ordered, any where not. */
	size_t near, wide; /* within LANDSCAPE_NEAR, LANDSCAPE_STEP */
	int first, last;   /* ordered: where `wide` begins and ends */
};

struct landscape {
	size_t params;
	struct landscape_param *param;
	size_t sharp, flat, unclear;  /* how many */
	bool fragile;                 /* a parameter is sharp */
	bool plateau;                 /* all that have a choice are flat */
	double predicted_r2;          /* NAN: no surrogate */
	char reason[RESPONSE_REASON]; /* why nothing was predicted; "": it was */
};

/* -1: rows that can't be, or no such winner, with the reason. */
int landscape_make(struct landscape *landscape, const struct landscape_data *data);
void landscape_clear(struct landscape *landscape);
const char *landscape_verdict_word(enum landscape_verdict verdict);

#endif
