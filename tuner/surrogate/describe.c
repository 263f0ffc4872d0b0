/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdio.h>

#include "tuner/surrogate/impl.h"

static const double GAIN_MAX = 100; /* largest gain, as a logarithm, so that its exponential stays finite */

/* The expected maximum of the largest gains, as if they were independent. Gains of neighbours are correlated, so that
 * this is an upper bound, and a search that stops by it stops late rather than early. */
double surrogate_promise(const struct surrogate *surrogate, uint64_t left) {
	enum { TOP = 64, STEPS_OF_GAIN = 64 };
	size_t top[TOP], count = 0, room = left < TOP ? (size_t)left : TOP;
	const float *mean = gp_pool_mean(surrogate->values);
	double widest = 0, sum = 0;
	if (!surrogate->asked || room == 0)
		return surrogate->asked ? 0 : NAN;
	for (size_t c = 0; c < surrogate->pool.count; c++) {
		size_t at = count;
		if (!(surrogate->gain[c] > 0)) /* also excludes candidates that are taken */
			continue;
		for (; at > 0 && surrogate->gain[c] > surrogate->gain[top[at - 1]]; at--)
			if (at < room)
				top[at] = top[at - 1];
		if (at < room)
			top[at] = c;
		count += count < room;
	}
	for (size_t i = 0; i < count; i++)
		widest = fmax(widest, surrogate->incumbent - mean[top[i]] + 4 * surrogate_deviation_of(surrogate, top[i]));
	for (int step = 0; step < STEPS_OF_GAIN; step++) {
		double gain = widest * (step + 0.5) / STEPS_OF_GAIN, none = 1;
		for (size_t i = 0; i < count; i++) {
			double z = (surrogate->incumbent - mean[top[i]] - gain) / surrogate_deviation_of(surrogate, top[i]);
			none *= 1 - surrogate_chance_of(surrogate, top[i]) * 0.5 * erfc(-z / sqrt(2));
		}
		sum += (1 - none) * widest / STEPS_OF_GAIN;
	}
	return expm1(fmin(sum, GAIN_MAX));
}

void surrogate_describe(const struct surrogate *surrogate, char *text, size_t size) {
	size_t first = SIZE_MAX, second = SIZE_MAX;
	const char *dropped = surrogate->dropped ? "an earlier search misled the model and was dropped; " : "";
	if (!surrogate->asked) {
		snprintf(text, size, "nothing was measured yet");
		return;
	}
	for (size_t d = 0; d < surrogate->coding->count; d++) {
		if (surrogate->coding->param[d] < 0)
			continue;
		double own = gp_relevance(surrogate->value, d);
		if (first == SIZE_MAX || own > gp_relevance(surrogate->value, first)) {
			second = first;
			first = d;
		} else if ((second == SIZE_MAX || own > gp_relevance(surrogate->value, second)) &&
		           surrogate->coding->param[d] != surrogate->coding->param[first]) {
			second = d;
		}
	}
	int used = snprintf(text, size, "%sleave-one-out predictions are off by %.1f %%", dropped,
	                    100 * (exp(surrogate->error) - 1));
	if (first == SIZE_MAX || used < 0 || (size_t)used >= size)
		return;
	const struct space *space = surrogate->task.space;
	if (second == SIZE_MAX || surrogate->coding->param[second] == surrogate->coding->param[first])
		snprintf(text + used, size - (size_t)used, "; %s matters most",
		         space_param_name(space, (size_t)surrogate->coding->param[first]));
	else
		snprintf(text + used, size - (size_t)used, "; %s and %s matter most",
		         space_param_name(space, (size_t)surrogate->coding->param[first]),
		         space_param_name(space, (size_t)surrogate->coding->param[second]));
}
