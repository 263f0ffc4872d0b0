/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An expression cut into slices, one per parameter in the variable order. The terms after a level are the largest
 * subexpressions that are decided by then; a slice computes them from the terms before and one new value. */
#ifndef TUNER_SPACE_SLICE_H
#define TUNER_SPACE_SLICE_H
#include "tuner/space/part.h"

/* params[0..levels) in the variable order; a parameter that the expression does not mention leaves the terms as they
 * are. */
struct slices *slices_new(const struct space *space, const struct part_source *source, const int *params, int levels);
void slices_free(struct slices *slices);
size_t slices_terms(const struct slices *slices,
                    int level); /* after `level` parameters; after all there is one, the result */
size_t slices_terms_most(const struct slices *slices);
/* values: the terms after `level` parameters, followed by the value of the next one. */
void slices_run(const struct slices *slices, int level, const struct value *values, struct value *out);
struct value slices_constant(const struct slices *slices); /* the result if there are no parameters */

#endif
