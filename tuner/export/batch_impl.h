/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The demands of entries on a batch system. */
#ifndef TUNER_EXPORT_BATCH_IMPL_H
#define TUNER_EXPORT_BATCH_IMPL_H
#include <jansson.h>

/* The threads of an entry; 0 if unknown. */
long export_threads(const json_t *entry);
/* The ranks of MPI that its command starts; 0: it does not say. */
long export_ranks(const json_t *profile, const json_t *entry);
/* The cores that they need on the machine of the profile: one for each thread, or for each pair of threads that share
 * one, at most all. 0 if unknown. */
long export_cores(const json_t *profile, const json_t *entry);
/* The most of any entry. */
long export_most(const json_t *profile, long (*demand)(const json_t *profile, const json_t *entry));
/* An entry's setting of OMP_PROC_BIND or OMP_PLACES, or "". */
const char *export_bind(const json_t *entry);
const char *export_places(const json_t *entry);

#endif
