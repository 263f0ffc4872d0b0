/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records before their files have names, for record.c and its fuzz target. */
#ifndef TUNER_REGIONS_RECORD_IMPL_H
#define TUNER_REGIONS_RECORD_IMPL_H

#include "tuner/regions/regions_record_impl.h"

/* The program was able to write into its record, so nothing in it can be trusted before this is true. */
bool regions_raw_sound(const struct omp_record *raw, size_t size);
/* At least one sound record with regions, the one of most time first; takes them over. Regions get no names. */
struct regions_record *regions_raws_merge(struct omp_record *const *raws, size_t count, size_t processes);
#endif
