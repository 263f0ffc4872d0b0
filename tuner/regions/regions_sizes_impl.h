/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls of one region told apart by their size, as those of a V-cycle's levels are. */
#ifndef TUNER_REGIONS_REGIONS_SIZES_IMPL_H
#define TUNER_REGIONS_REGIONS_SIZES_IMPL_H

#include "tuner/regions/regions_record_impl.h"

struct regions_sizes {
	uint32_t module_number; /* of the record */
	uint64_t offset;
	unsigned measure, count;
	unsigned numbers[OMP_CLASSES]; /* from 1 */
	int64_t upto[OMP_CLASSES];     /* ascending */
};

/* Regions of a run that watched sizes whose calls differ so much in length that their classes may want settings of
 * their own, and a number that says beforehand which call it will be. Caller frees. */
struct regions_sizes *regions_sizes_choose(const struct regions_record *record, double run_s, size_t *count);
/* Whether a run with these classes shows the difference again: a number may have been an address, or chance. */
bool regions_sizes_hold(const struct regions_record *record, const struct regions_sizes *sizes, size_t count);
/* Adds the class of a region that has one; the list grows where the region is not in it yet. */
void regions_sizes_add(struct regions_sizes **sizes, size_t *count, const struct regions_region *region);
#endif
