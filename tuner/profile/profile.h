/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tuning profile of one machine: JSON by data/schema/profile.json. */
#ifndef TUNER_PROFILE_PROFILE_H
#define TUNER_PROFILE_PROFILE_H
#include <jansson.h>
#include <stddef.h>

#include "src/base/err.h"
#include "tuner/store/store.h"

/* Recommendations of the store for a machine; kernels: NULL or a NULL-terminated list to pick from. New reference.
 * ERR_NOTHING when there are none. Results whose source hash differs from `source_of(ctx, kernel)` are marked stale
 * (source_of may be NULL, or return NULL for a kernel it does not know). */
json_t *profile_from_store(struct store *store, const char *fingerprint, const char *const *kernels,
                           const char *(*source_of)(void *ctx, const char *kernel), void *ctx, struct err *err);
/* Reads and checks a file; ERR_USAGE says what is wrong with it. New reference. */
json_t *profile_load(const char *path, struct err *err);
int profile_check(const json_t *profile, struct err *err); /* schema, types and ranges */
/* Also makes the link that leads libsweetspot to it (profile_folder.h). */
int profile_save(const json_t *profile, const char *path, struct err *err);
/* Leaves out what is of other kernels than these (NULL-terminated; none: all stay). ERR_NOTHING where none is there. */
int profile_pick(json_t *profile, const char *const *kernels, struct err *err);

#endif
