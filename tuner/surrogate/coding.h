/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Configurations as a Gaussian process sees them: a dimension for each parameter that has a choice, and one for the
 * alignment of numbers whose powers of two don't simply grow with them (48 lies between 32 and 64, and is unlike both).
 */
#ifndef TUNER_SURROGATE_CODING_H
#define TUNER_SURROGATE_CODING_H
#include "tuner/model/gp/gp.h"
#include "tuner/search/strategy.h"

struct coding {
	const struct space *space;
	size_t count;
	struct gp_dim dim[GP_DIMS_MAX];
	int param[GP_DIMS_MAX];            /* of each dimension; -1: something else */
	const uint16_t *code[GP_DIMS_MAX]; /* of each place of it, then of its absence */
};

/* In the arena. Leaves room for `spare` dimensions. */
struct coding *coding_new(struct arena *arena, const struct space *space, size_t spare);
void coding_config(const struct coding *coding, const int *config, uint16_t *codes);
void coding_index(const struct coding *coding, uint64_t index, uint16_t *codes);

#endif
