/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lengths of earlier searches' models say which parameters matter, and how smoothly. They do not point to a
 * configuration, so that the search without sources may expect them, too. */
#include <config.h>

#include <math.h>

#include "tuner/surrogate/impl.h"

/* Half-way (in logarithms) between the usual length and the mean of the sources', with less doubt than usual. */
static const double WEIGHT = 0.5, DOUBT = 0.8;

const double *surrogate_lengths(const struct surrogate *surrogate, size_t *count) {
	const struct coding *coding = surrogate->coding;
	size_t sources = surrogate->source_count, dims = coding->count - sources;
	double *lengths = arena_alloc(surrogate->task.arena, dims + 1, sizeof *lengths);
	for (size_t d = 0; d < dims; d++) {
		double sum = 0;
		for (size_t s = 0; s < sources; s++)
			sum += log(source_model_length(surrogate->source[s], d) / coding->dim[d].length);
		lengths[d] = coding->dim[d].length * exp(WEIGHT * sum / fmax((double)sources, 1));
	}
	*count = dims;
	return lengths;
}

void surrogate_lengths_expect(struct coding *coding, const struct strategy_task *task) {
	for (size_t d = 0; task->lengths && d < task->length_count && d < coding->count; d++) {
		coding->dim[d].length = task->lengths[d];
		coding->dim[d].doubt = DOUBT;
	}
}
