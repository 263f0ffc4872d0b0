/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tuning profile of one machine, as JSON (data/schema/profile.json). */
#ifndef TUNER_PROFILE_PROFILE_H
#define TUNER_PROFILE_PROFILE_H

#include "tuner/store/store.h"

/* Recommendations of the store for a machine; kernels: NULL or a NULL-terminated list to pick from. New reference.
 * ERR_NOTHING when there are none. Results whose source hash differs from `source_of(ctx, kernel)` are marked stale
 * (source_of may be NULL, or return NULL for a kernel it does not know). */
json_t *profile_from_store(struct store *store, const char *fingerprint, const char *const *kernels,
                           const char *(*source_of)(void *ctx, const char *kernel), void *ctx, struct err *err);
/* The recommendations as they were at a time, in seconds since 1970; 0: now. The sizes are today's. New reference. */
json_t *profile_until(struct store *store, const char *fingerprint, const char *const *kernels, double until,
                      struct err *err);
/* Reads and checks a file; ERR_USAGE names the fault. New reference. */
json_t *profile_load(const char *path, struct err *err);
int profile_check(const json_t *profile, struct err *err); /* schema, types and ranges */
/* Also makes the link that leads libsweetspot to it (folder.h). */
int profile_save(const json_t *profile, const char *path, struct err *err);
/* Removes the other kernels from a profile (kernels: NULL-terminated; empty: all stay). ERR_NOTHING if no entry is
 * left. */
int profile_pick(json_t *profile, const char *const *kernels, struct err *err);
#endif
