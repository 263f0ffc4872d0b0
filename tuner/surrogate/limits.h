/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells which configurations work by a logistic regression with a ridge (Hoerl, Kennard, Ridge regression, 1970): on
 * the parameters, most of them as logarithms, their squares and their products. Resources such as threads, registers
 * and shared memory are products of parameters, so that their limits are planes here, of which a few failures on either
 * side tell more than distances do. */
#ifndef TUNER_SURROGATE_LIMITS_H
#define TUNER_SURROGATE_LIMITS_H
#include "tuner/surrogate/coding.h"

struct limits;
/* Allocated in the arena, with room for so many observations. Sources' dimensions are not used. */
struct limits *limits_new(struct arena *arena, const struct coding *coding, size_t room);
void limits_clear(struct limits *limits);
void limits_add(struct limits *limits, const uint16_t *codes, bool works);
size_t limits_count(const struct limits *limits);
/* Begins at the weights of the last fit. */
void limits_fit(struct limits *limits);
/* The logarithms of the odds that configurations work. codes: `stride` apart. */
void limits_logits(const struct limits *limits, const uint16_t *codes, size_t stride, size_t count, float *logit);

#endif
