/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a duel looks at its pairs, and what it may conclude at each look. Pure functions, without clocks. The looks
 * share the error that `level` allows (alpha spending: Lan and DeMets, "Discrete sequential boundaries for clinical
 * trials", Biometrika 1983), so the interval of whichever look ends the duel holds at `level`
 * (doc/adr/0014-early-looks.md). */
#ifndef TUNER_RACE_LOOK_H
#define TUNER_RACE_LOOK_H

#include "base/rng.h"
#include "tuner/model/paired.h"

struct look_rule {
	int first;                /* pairs at the first early look, 3 or more; 0: there are no early looks */
	int pairs_min, pairs_max; /* the looks at the full rank intervals */
	double margin, level;
	double width; /* a verdict with a wider interval than this factor is worth pairs_min pairs; 0: any */
	double limit; /* the interval must also exclude this ratio before the verdict is final; 0: none */
};

/* The number of pairs at the next look after `count` pairs; at most pairs_max. */
int look_next(const struct look_rule *rule, int count);

/* Analyses the pairs. last: no further look will be taken, whatever this one shows. */
struct look_answer {
	struct paired paired;
	enum paired_verdict verdict;
	bool decided; /* the verdict is final: more pairs would hardly change it */
	/* More pairs are worth their time. They are not if the interval is vague and would not exclude a tie at the last
	 * look, either, if the ratio stays what it is. */
	bool promising;
	/* More pairs would hardly prove a difference, by the spread of these. Only where that is cheap to correct, because
	 * it says so of small differences, too. */
	bool hopeless;
};
struct look_answer look_take(const struct look_rule *rule, const double *a, const double *b, size_t count, bool last);

/* Student's interval in the form of a pair analysis, for few pairs. count >= 2. */
struct paired look_student(const double *a, const double *b, size_t count, double level);

/* The number of pairs that are missing for a decision in about half of the cases like this one; INFINITY where nobody
 * can tell. noise: the deviation that a pair's logarithm is otherwise known to have; NAN: not known. */
double look_missing(const struct look_rule *rule, const double *a, const double *b, size_t count, double noise);

/* The number of pairs that a duel probably needs if the true ratio is this one and the logarithm of a pair's ratio has
 * this standard deviation. */
int look_expected(const struct look_rule *rule, double ratio, double deviation);
#endif
