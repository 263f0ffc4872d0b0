/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The demands of entries on a batch system. */
#ifndef TUNER_EXPORT_BATCH_IMPL_H
#define TUNER_EXPORT_BATCH_IMPL_H
#include "tuner/result/result.h"

/* The threads of an entry; 0 if unknown. */
long export_threads(const struct profile_entry *entry);
/* The ranks of MPI that its command starts; 0: it does not say. */
long export_ranks(const struct profile *profile, const struct profile_entry *entry);
/* The cores that they need on the machine of the profile: one for each thread, or for each pair of threads that share
 * one, at most all. 0 if unknown. */
long export_cores(const struct profile *profile, const struct profile_entry *entry);
/* The most of any entry. */
long export_most(const struct profile *profile,
                 long (*demand)(const struct profile *profile, const struct profile_entry *entry));

#endif
