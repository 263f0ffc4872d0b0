/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps the Gaussian processes of the surrogate in step with the observations. */
#include <math.h>

#include "tuner/surrogate/surrogate_impl.h"

static const double GAIN_MAX = 100; /* largest gain, as a logarithm, so that its exponential stays finite */

enum { TOP = 64 };

/* The candidates with the largest gains. */
static size_t top_find(const struct surrogate *surrogate, size_t *top, size_t room) {
	double most[TOP];
	size_t count = 0;
	for (size_t c = 0; c < surrogate->pool.count; c++) {
		size_t at = count;
		if (!(surrogate->worth.gain[c] > 0) || (count == room && surrogate->worth.gain[c] <= most[room - 1]))
			continue; /* taken, or too little even if it were all of that */
		double gain = surrogate_gain_at(surrogate, c);
		while (at > 0 && gain > most[at - 1])
			at--;
		if (at == room || !(gain > 0))
			continue;
		count += count < room;
		memmove(&top[at + 1], &top[at], (count - at - 1) * sizeof *top);
		memmove(&most[at + 1], &most[at], (count - at - 1) * sizeof *most);
		top[at] = c;
		most[at] = gain;
	}
	return count;
}

/* The expected maximum of the largest gains, as if they were independent. Gains of neighbours are correlated, so that
 * this is an upper bound, and a search that stops by it stops late rather than early. */
double surrogate_promise(const struct surrogate *surrogate, uint64_t left) {
	enum { STEPS_OF_GAIN = 64 };
	size_t top[TOP], room = left < TOP ? (size_t)left : TOP;
	const float *mean = gp_pool_mean(surrogate->fit.values);
	double widest = 0, sum = 0;
	if (!surrogate->asked || room == 0)
		return surrogate->asked ? 0 : NAN;
	size_t count = top_find(surrogate, top, room);
	for (size_t i = 0; i < count; i++)
		widest =
			fmax(widest, surrogate->worth.incumbent - mean[top[i]] + 4 * surrogate_deviation_of(surrogate, top[i]));
	for (int step = 0; step < STEPS_OF_GAIN; step++) {
		double gain = widest * (step + 0.5) / STEPS_OF_GAIN, none = 1;
		for (size_t i = 0; i < count; i++) {
			double z = (surrogate->worth.incumbent - mean[top[i]] - gain) / surrogate_deviation_of(surrogate, top[i]);
			none *= 1 - surrogate_chance_of(surrogate, top[i]) * 0.5 * erfc(-z / sqrt(2));
		}
		sum += (1 - none) * widest / STEPS_OF_GAIN;
	}
	return expm1(fmin(sum, GAIN_MAX));
}

/* The deviation of the predictions between the values of a dimension, as a logarithm, less what unequal numbers of
 * candidates explain (the omega squared of an analysis of variance). The lengths of the model are no measure of this:
 * they also vary where nothing does. */
static double effect_of(const struct surrogate *surrogate, size_t dim) {
	const struct pool *pool = &surrogate->pool;
	const float *mean = gp_pool_mean(surrogate->fit.values);
	size_t values = surrogate->coding->dim[dim].values + 1, used = 0;
	double *sum = mem_alloc(2 * values, sizeof *sum), *count = sum + values;
	double all = 0, squares = 0, between = 0, total = (double)pool->count;
	for (size_t c = 0; c < pool->count; c++) {
		uint16_t code = pool->codes[c * surrogate->dims + dim];
		sum[code] += mean[c];
		count[code]++;
		all += mean[c];
		squares += (double)mean[c] * mean[c];
	}
	for (size_t v = 0; v < values; v++) {
		between += count[v] > 0 ? sum[v] * sum[v] / count[v] : 0;
		used += count[v] > 0;
	}
	free(sum);
	double within = (squares - between) / fmax(1, total - (double)used);
	double variance = (between - all * all / total - ((double)used - 1) * within) / total;
	return variance > 0 ? sqrt(variance) : 0;
}

/* Finds the two parameters with the largest effects that stand out from the errors of the model; -1: there are fewer.
 */
static void most_find(const struct surrogate *surrogate, int most[2]) {
	static const double LEAST = 0.005, SECOND_LEAST = 0.2;
	double effect[2] = {fmax(LEAST, surrogate->fit.error), 0};
	most[0] = most[1] = -1;
	for (size_t d = 0; d < surrogate->coding->count; d++) {
		int param = surrogate->coding->param[d];
		double own = param < 0 ? 0 : effect_of(surrogate, d);
		if (own > effect[0]) {
			if (most[0] != param) {
				most[1] = most[0];
				effect[1] = effect[0];
			}
			most[0] = param;
			effect[0] = own;
		} else if (own > fmax(LEAST, surrogate->fit.error) && own > effect[1] && param != most[0]) {
			most[1] = param;
			effect[1] = own;
		}
	}
	if (effect[1] < SECOND_LEAST * effect[0])
		most[1] = -1;
}

void surrogate_describe(const struct surrogate *surrogate, char *text, size_t size) {
	const char *dropped = surrogate->prior.dropped ? "an earlier search misled the model and was dropped; " : "";
	const struct space *space = surrogate->task.space;
	int most[2];
	if (!surrogate->asked) {
		snprintf(text, size, "nothing was measured yet");
		return;
	}
	int used = snprintf(text, size, "%sleave-one-out predictions are off by %.1f %%", dropped,
	                    100 * (exp(surrogate->fit.error) - 1));
	most_find(surrogate, most);
	if (most[0] < 0 || used < 0 || (size_t)used >= size)
		return;
	text += used;
	size -= (size_t)used;
	if (most[1] < 0)
		snprintf(text, size, "; %s matters most", space_param_name(space, (size_t)most[0]));
	else
		snprintf(text, size, "; %s and %s matter most", space_param_name(space, (size_t)most[0]),
		         space_param_name(space, (size_t)most[1]));
}
