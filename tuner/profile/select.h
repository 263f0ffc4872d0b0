/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recommendation of a profile for a problem, found by sweetspot_lookup as in programs. */
#ifndef TUNER_PROFILE_SELECT_H
#define TUNER_PROFILE_SELECT_H
#include <jansson.h>

#include "base/err.h"

enum profile_fit {
	PROFILE_EXACT,        /* this problem was tuned */
	PROFILE_INTERPOLATED, /* its size lies in one of the ranges between the sizes that were tuned */
	PROFILE_NEAREST       /* another problem, the nearest by the logarithms of its numbers */
};

struct profile_choice {
	enum profile_fit fit;
	const json_t *entry;         /* NULL: from a range */
	const json_t *sizes, *range; /* NULL: from an entry */
	const json_t *config, *environment;
	const char *unit, *objective;
	double predicted, measured, speedup; /* NAN: unknown */
	double distance;                     /* in natural logarithms */
};
const char *profile_fit_word(enum profile_fit fit);

/* Everything in choice is borrowed. objective NULL: time, or else the only one. ERR_NOTHING tells what was tuned. */
int profile_select(const json_t *profile, const char *kernel, const char *objective, const json_t *problem,
                   struct profile_choice *choice, struct err *err);
/* The objective that is meant, borrowed. ERR_NOTHING if the kernel was not tuned for it, ERR_USAGE if several qualify.
 */
const char *profile_select_objective(const json_t *profile, const char *kernel, const char *objective, struct err *err);
/* Adds "P=V" to `problem` if a problem of the kernel has a P; else ERR_USAGE with the nearest name. */
int profile_select_word(const json_t *profile, const char *kernel, const char *word, json_t *problem, struct err *err);
#endif
