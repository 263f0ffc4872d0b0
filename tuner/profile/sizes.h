/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part "sizes" of a profile: configurations for ranges of a size, and what a size that nobody measured will take.
 */
#ifndef TUNER_PROFILE_SIZES_H
#define TUNER_PROFILE_SIZES_H
#include <jansson.h>

#include "src/base/err.h"
#include "tuner/store/store.h"

/* For each kernel and objective among the entries whose results differ in one number of the problem. New reference;
 * empty where there is none. */
json_t *profile_sizes(struct store *store, const char *fingerprint, const json_t *entries, struct err *err);
int profile_sizes_check(const json_t *sizes, struct err *err);

#endif
