/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/surrogate/limits.h"

#include <math.h>
#include <string.h>

#include "tuner/model/logistic.h"

/* Beyond PAIRED axes products would be too many; words with more values than room is left are not used. */
enum { AXES_MAX = 64, PAIRED_MAX = 24, BLOCK = 64 };
/* Prior variances of the weights. Those of squares and products are small, because there are many of them: with 16 and
 * 32, a third fewer of the failures had low odds. */
static const double OF_CONSTANT = 4, OF_AXIS = 16, OF_SQUARE = 1, OF_PRODUCT = 1;

struct limits {
	const struct gp_dim *dim;
	size_t dims, axes, paired, size, count, room;
	int first[GP_DIMS_MAX]; /* axis of a number, or of the first value of a word; -1: none */
	double *features;       /* count x size */
	double *sign;           /* of each observation */
	double *weight, *precision;
};

/* Parameters come first and in their order. Dimensions of alignment and of sources, behind them, are left out. */
static size_t params_of(const struct coding *coding) {
	size_t dims = 0;
	while (dims < coding->count && coding->param[dims] >= 0 &&
	       (dims == 0 || coding->param[dims] > coding->param[dims - 1]))
		dims++;
	return dims;
}

/* Numbers first, so that words don't take their products. */
static void axes_make(struct limits *limits) {
	for (size_t d = 0; d < limits->dims; d++)
		limits->first[d] = limits->dim[d].at && limits->axes < AXES_MAX ? (int)limits->axes++ : -1;
	for (size_t d = 0; d < limits->dims; d++) {
		if (limits->dim[d].at || limits->axes + limits->dim[d].values > AXES_MAX)
			continue;
		limits->first[d] = (int)limits->axes;
		limits->axes += limits->dim[d].values;
	}
	limits->paired = limits->axes < PAIRED_MAX ? limits->axes : PAIRED_MAX;
	limits->size = 1 + limits->axes + limits->paired * (limits->paired + 1) / 2;
}

static void precisions_make(struct limits *limits) {
	double *precision = limits->precision;
	*precision++ = 1 / OF_CONSTANT;
	for (size_t i = 0; i < limits->axes; i++)
		*precision++ = 1 / OF_AXIS;
	for (size_t i = 0; i < limits->paired; i++)
		for (size_t j = i; j < limits->paired; j++)
			*precision++ = 1 / (i == j ? OF_SQUARE : OF_PRODUCT);
}

struct limits *limits_new(struct arena *arena, const struct coding *coding, size_t room) {
	struct limits *limits = arena_alloc(arena, 1, sizeof *limits);
	limits->dim = coding->dim;
	limits->dims = params_of(coding);
	limits->room = room;
	axes_make(limits);
	limits->features = arena_alloc(arena, room * limits->size, sizeof *limits->features);
	limits->sign = arena_alloc(arena, room, sizeof *limits->sign);
	limits->weight = arena_alloc(arena, limits->size, sizeof *limits->weight);
	limits->precision = arena_alloc(arena, limits->size, sizeof *limits->precision);
	precisions_make(limits);
	return limits;
}

void limits_clear(struct limits *limits) {
	limits->count = 0;
}

size_t limits_count(const struct limits *limits) {
	return limits->count;
}

/* Writes -1..1 for a number, 0 if it is absent, and 1 for the value that a word has. z: `step` from axis to axis,
 * zeroed */
static void axes_of(const struct limits *limits, const uint16_t *codes, float *z, size_t step) {
	for (size_t d = 0; d < limits->dims; d++) {
		const double *at = limits->dim[d].at;
		int axis = limits->first[d];
		if (axis < 0)
			continue;
		if (!at)
			z[((size_t)axis + codes[d]) * step] = 1;
		else if (!isnan(at[codes[d]]))
			z[(size_t)axis * step] = (float)(2 * at[codes[d]] - 1);
	}
}

void limits_add(struct limits *limits, const uint16_t *codes, bool works) {
	float z[AXES_MAX] = {0};
	double *x = limits->features + limits->count * limits->size;
	if (limits->count == limits->room)
		return;
	axes_of(limits, codes, z, 1);
	*x++ = 1;
	for (size_t i = 0; i < limits->axes; i++)
		*x++ = z[i];
	for (size_t i = 0; i < limits->paired; i++)
		for (size_t j = i; j < limits->paired; j++)
			*x++ = z[i] * z[j];
	limits->sign[limits->count++] = works ? 1 : -1;
}

void limits_fit(struct limits *limits) {
	const struct logistic logistic = {.count = limits->count,
	                                  .size = limits->size,
	                                  .features = limits->features,
	                                  .sign = limits->sign,
	                                  .precision = limits->precision};
	logistic_fit(&logistic, limits->weight);
}

/* A block of configurations, side by side for the compiler. z: axes x BLOCK */
static void block_logits(const struct limits *limits, const float *z, float *logit) {
	const double *of_axis = limits->weight + 1, *of_pair = of_axis + limits->axes;
	for (size_t b = 0; b < BLOCK; b++)
		logit[b] = (float)limits->weight[0];
	for (size_t i = 0; i < limits->axes; i++) {
		float inner[BLOCK];
		for (size_t b = 0; b < BLOCK; b++)
			inner[b] = (float)of_axis[i];
		for (size_t j = i; i < limits->paired && j < limits->paired; j++) {
			float weight = (float)*of_pair++;
			for (size_t b = 0; b < BLOCK; b++)
				inner[b] += weight * z[j * BLOCK + b];
		}
		for (size_t b = 0; b < BLOCK; b++)
			logit[b] += inner[b] * z[i * BLOCK + b];
	}
}

void limits_logits(const struct limits *limits, const uint16_t *codes, size_t stride, size_t count, float *logit) {
	float z[AXES_MAX * BLOCK], out[BLOCK];
	for (size_t from = 0; from < count; from += BLOCK) {
		size_t some = count - from < BLOCK ? count - from : BLOCK;
		memset(z, 0, limits->axes * BLOCK * sizeof *z);
		for (size_t b = 0; b < some; b++)
			axes_of(limits, codes + (from + b) * stride, z + b, BLOCK);
		block_logits(limits, z, out);
		memcpy(logit + from, out, some * sizeof *out);
	}
}
