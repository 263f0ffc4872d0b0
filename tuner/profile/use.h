/* SPDX-License-Identifier: GPL-3.0-or-later */
/* May a recommendation be used? Only what is proven is; a tie keeps the user's own setting. Each function takes an
 * entry of a profile, or a result of `tune`. */
#ifndef TUNER_PROFILE_USE_H
#define TUNER_PROFILE_USE_H

#include "lib/profile/lookup.h" /* enum ssp_use, ssp_use_of */

/* Says what is there instead, "undecided: the measurements were too noisy", as the end of a sentence; NULL if it may be
 * used. */
const char *profile_use_why(const json_t *entry);
/* A command line that can prove it; NULL if there is nothing to prove, or its command is not known. The caller frees
 * it. */
char *profile_use_proof(const json_t *entry);
/* Replaces each recommendation that may not be used by the baseline without any variables, as if nothing had been
 * found; one without a baseline goes. values: false leaves out a program's values, too. */
void profile_settle(json_t *profile, bool values);
#endif
