/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a profile recommends for a problem: the same that sweetspot_lookup of libsweetspot finds. */
#ifndef TUNER_PROFILE_SELECT_H
#define TUNER_PROFILE_SELECT_H
#include <jansson.h>

#include "src/base/err.h"

enum profile_fit {
	PROFILE_EXACT,        /* this problem was tuned */
	PROFILE_INTERPOLATED, /* its size is within those that were tuned, which are divided into ranges */
	PROFILE_NEAREST       /* another problem: the nearest in the logarithms of its numbers */
};

struct profile_choice {
	enum profile_fit fit;
	const json_t *entry;         /* NULL: from a range */
	const json_t *sizes, *range; /* NULL: from an entry */
	const json_t *config, *environment;
	const char *unit, *objective;
	double predicted, measured, speedup; /* NAN: not known */
	double distance;                     /* in natural logarithms */
};
const char *profile_fit_word(enum profile_fit fit);

/* All borrowed. objective NULL: time, or the only one there is. ERR_NOTHING with what there is. */
int profile_select(const json_t *profile, const char *kernel, const char *objective, const json_t *problem,
                   struct profile_choice *choice, struct err *err);
/* The one that is meant: borrowed. ERR_NOTHING where the kernel was not tuned for it, ERR_USAGE where several may be.
 */
const char *profile_select_objective(const json_t *profile, const char *kernel, const char *objective, struct err *err);
/* "P=V": into `problem`, where a problem of the kernel has a P. ERR_USAGE with the nearest. */
int profile_select_word(const json_t *profile, const char *kernel, const char *word, json_t *problem, struct err *err);

#endif
