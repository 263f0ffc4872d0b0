/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the formats that keep every configuration. */
#ifndef TUNER_EXPORT_TRIALS_IMPL_H
#define TUNER_EXPORT_TRIALS_IMPL_H

#include "tuner/result/result.h"

/* The only entry of a profile, which must have trials in seconds; ERR_USAGE for several, or another unit. */
const struct profile_entry *export_trials_entry(const struct profile *profile, const char *format, struct err *err);
double export_trial_ms(const json_t *trial); /* the median of its samples; NAN without samples */
json_t *export_samples_ms(const json_t *trial);
json_t *export_timestamp(const json_t *trial); /* "2025-01-31T12:00:00+00:00" */
#endif
