/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starting points before there is a model: the best configurations of the sources, the middle of the space, then those
 * farthest from all others (a maximin design: Johnson, Moore, Ylvisaker, Minimax and maximin distance designs, 1990).
 */
#include <config.h>

#include <math.h>

#include "tuner/surrogate/impl.h"

enum { FARTHEST_OF = 40, MIDDLE_OF = 400 };
static const double MIDDLE_LATITUDE = 0.5;

static double apart(const struct coding *coding, const uint16_t *a, const uint16_t *b) {
	double sum = 0;
	for (size_t d = 0; d < coding->count; d++) {
		const double *at = coding->dim[d].at;
		if (at && !isnan(at[a[d]]) && !isnan(at[b[d]]))
			sum += fabs(at[a[d]] - at[b[d]]);
		else
			sum += a[d] != b[d];
	}
	return sum;
}

static uint64_t farthest(struct surrogate *surrogate) {
	uint64_t best = UINT64_MAX;
	double most = -1;
	uint16_t codes[GP_DIMS_MAX], other[GP_DIMS_MAX];
	for (int i = 0; i < FARTHEST_OF; i++) {
		uint64_t index = history_unseen(surrogate->task.history, surrogate->task.space, &surrogate->rng);
		double least = INFINITY;
		if (index == UINT64_MAX)
			return UINT64_MAX;
		surrogate_codes(surrogate, index, codes);
		for (size_t j = 0; j < surrogate->count + surrogate->pending_count; j++) {
			bool told = j < surrogate->count;
			uint64_t known = told ? surrogate->observed[j].index : surrogate->pending[j - surrogate->count].index;
			surrogate_codes(surrogate, known, other);
			least = fmin(least, apart(surrogate->coding, codes, other));
		}
		if (least > most) {
			most = least;
			best = index;
		}
	}
	return best;
}

static uint64_t middle(struct surrogate *surrogate) {
	uint64_t best = UINT64_MAX;
	double least = INFINITY;
	uint16_t codes[GP_DIMS_MAX];
	for (int i = 0; i < MIDDLE_OF; i++) {
		uint64_t index = history_unseen(surrogate->task.history, surrogate->task.space, &surrogate->rng);
		double off = MIDDLE_LATITUDE * rng_unit(&surrogate->rng);
		if (index == UINT64_MAX)
			return UINT64_MAX;
		surrogate_codes(surrogate, index, codes);
		for (size_t d = 0; d < surrogate->coding->count; d++) {
			const double *at = surrogate->coding->dim[d].at;
			off += at && !isnan(at[codes[d]]) ? (at[codes[d]] - 0.5) * (at[codes[d]] - 0.5) : 0.25;
		}
		if (off < least) {
			least = off;
			best = index;
		}
	}
	return best;
}

static double mean_of_sources(const struct surrogate *surrogate, const uint16_t *codes) {
	const uint16_t *own = codes + surrogate->coding->count - surrogate->source_count;
	double sum = 0;
	for (size_t s = 0; s < surrogate->source_count; s++)
		sum += own[s] * source_model_scale(surrogate->source[s]);
	return sum;
}

/* The candidate that the sources together predict to be the fastest, because the best of one is often bad elsewhere. */
static uint64_t best_by_sources(struct surrogate *surrogate) {
	const struct pool *pool = &surrogate->pool;
	uint64_t best = UINT64_MAX;
	double least = INFINITY;
	if (!surrogate->pool.count)
		surrogate_pool_fill(surrogate);
	for (size_t c = 0; c < pool->count; c++) {
		double mean = mean_of_sources(surrogate, pool->codes + c * surrogate->dims);
		if (mean < least && !history_taken(surrogate->task.history, pool->index[c])) {
			least = mean;
			best = pool->index[c];
		}
	}
	return best;
}

uint64_t surrogate_first(struct surrogate *surrogate) {
	if (surrogate->source_count && surrogate->firsts++ == 0)
		return best_by_sources(surrogate);
	return surrogate->count + surrogate->pending_count ? farthest(surrogate) : middle(surrogate);
}
