/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions and lines of regions, from the debug information of one file. */
#ifndef TUNER_REGIONS_DEBUG_IMPL_H
#define TUNER_REGIONS_DEBUG_IMPL_H
#include <stdbool.h>

#include "tuner/regions/regions_record_impl.h"

#endif
