/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns constraints, conditions and tables into lists of parts. A conjunction and a chained comparison are split, so
 * that each conjunct is decided as soon as its own parameters are. */
#ifndef TUNER_SPACE_SOURCE_H
#define TUNER_SPACE_SOURCE_H
#include "tuner/space/part.h"

struct part_source *sources_new(const struct space *space, const bool *off, size_t *count); /* the caller frees them */

#endif
