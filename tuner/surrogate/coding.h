/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Configurations as a Gaussian process sees them: one dimension for each parameter that has a choice (gp_dim_of), and
 * one for the alignment of numbers whose powers of two do not simply grow with them. (48 lies between 32 and 64, but is
 * less aligned than either.) Numbers of few values have another one, without an order. */
#ifndef TUNER_SURROGATE_CODING_H
#define TUNER_SURROGATE_CODING_H
#include "tuner/model/gp/gp.h"
#include "tuner/search/strategy.h"

struct coding {
	const struct space *space;
	size_t count, unnamed; /* unnamed: dimensions before those without an order that repeat a number */
	struct gp_dim dim[GP_DIMS_MAX];
	int param[GP_DIMS_MAX];            /* parameter of each dimension; -1: the dimension belongs to a source */
	const uint16_t *code[GP_DIMS_MAX]; /* code of each level of it, then of its absence */
};

/* Allocated in the arena. Leaves room for `spare` dimensions. */
struct coding *coding_new(struct arena *arena, const struct space *space, size_t spare);
void coding_config(const struct coding *coding, const int *config, uint16_t *codes);
void coding_index(const struct coding *coding, uint64_t index, uint16_t *codes);

#endif
