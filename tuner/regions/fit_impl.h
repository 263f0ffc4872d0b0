/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The effect of each column of an exploring table on each region. */
#ifndef TUNER_REGIONS_FIT_IMPL_H
#define TUNER_REGIONS_FIT_IMPL_H
#include "tuner/regions/regions_record_impl.h"

struct regions_effect {
	double log;   /* of the time of a call, against column 0; NAN: not seen often enough */
	double error; /* standard error of that */
	int stretches;
};

/* today: a run of the same program without changes, or NULL: a region whose calls differ much there, in the same
 * number, is compared call by call, each by its length. effects: record->count rows of `columns`. A stretch is the time
 * that a column holds; stretches of one block are neighbours in time and have every column once. So log(median time of
 * a call) = block + column (two-way table, fitted by medians: Tukey 1977, "Exploratory Data Analysis", ch. 11): work
 * that grows over the run moves blocks, not columns. The first calls after a change of the column are left out, because
 * they pay for the change. */
void regions_fit(const struct regions_record *record, const struct regions_record *today, size_t columns,
                 struct regions_effect *effects);
/* When the threads of a stretch that begins with this call have settled: new ones may share a processor with one that
 * spins, until the kernel moves them. */
uint64_t regions_settled(const struct omp_record *raw, size_t call_count, size_t call);
/* Two looks at the same effects: the mean, weighted by what each saw, in a. */
void regions_effects_join(struct regions_effect *a, const struct regions_effect *b, size_t count);
#endif
