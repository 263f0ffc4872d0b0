/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cost of a column's settings for all regions together. */
#ifndef TUNER_REGIONS_TOTAL_IMPL_H
#define TUNER_REGIONS_TOTAL_IMPL_H
#include "tuner/regions/fit_impl.h"

/* The effect of each column on the time of the calls and of what the program does between them, beside what the same
 * calls take today: a change of the team in one region costs its neighbours, whose threads begin anew with empty
 * caches. today: a run of the same program without changes. effects: one a column. */
void regions_total(const struct regions_record *record, const struct regions_record *today, size_t columns,
                   struct regions_effect *effects);
#endif
