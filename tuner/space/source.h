/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Constraints, conditions and tables as lists of parts: a conjunction is split, so that each conjunct is decided as
 * soon as its own parameters are placed; so is a chained comparison. */
#ifndef TUNER_SPACE_SOURCE_H
#define TUNER_SPACE_SOURCE_H
#include "tuner/space/part.h"

struct part_source *sources_new(const struct space *space, const bool *off, size_t *count); /* caller frees */

#endif
