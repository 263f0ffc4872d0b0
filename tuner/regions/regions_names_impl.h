/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names and places of regions: function and line where there is debug information, else symbol, else offset. */
#ifndef TUNER_REGIONS_REGIONS_NAMES_IMPL_H
#define TUNER_REGIONS_REGIONS_NAMES_IMPL_H
#include "tuner/regions/regions_record_impl.h"

/* Fills name, symbol and place. libdw reads debug information, else addr2line is asked where it is installed; clang's
 * own description of a place is taken where the compiler left one. */
void regions_names_find(struct regions_region *regions, size_t count);
#endif
