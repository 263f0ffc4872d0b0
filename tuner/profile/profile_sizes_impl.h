/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part "sizes" of a profile: configurations for ranges of a size, and predicted costs of sizes that were not
 * measured.
 */
#ifndef TUNER_PROFILE_PROFILE_SIZES_IMPL_H
#define TUNER_PROFILE_PROFILE_SIZES_IMPL_H

#include "tuner/store/store.h"

/* One member for each kernel and objective whose results differ in one number of the problem. New reference; it may be
 * empty. */
json_t *profile_sizes(struct store *store, const char *fingerprint, const json_t *entries, struct err *err);

/* A wisdom file of Kernel Launcher as a profile of its GPU, for profile_check; NULL and err if it is wrong. date: when
 * it was written. False for another file. */
bool profile_wisdom_read(const char *text, const char *date, json_t **profile, struct err *err);
#endif
