/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps the Gaussian processes of the surrogate in step with the observations. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "tuner/surrogate/impl.h"

static const double CENSORED_VARIANCE = 0.01, WORKS_VARIANCE = 0.01, DEVIATION_MAX = 10;

double observed_variance(const struct observed *observed) {
	double deviation = fmin(observed->deviation, DEVIATION_MAX);
	return observed->result == STRATEGY_CENSORED ? CENSORED_VARIANCE : deviation * deviation;
}

static void release_gp(void *gp) {
	gp_free(gp);
}

static void release_pool(void *pool) {
	gp_pool_free(pool);
}

static struct gp *model_new(struct surrogate *surrogate) {
	struct gp *gp = gp_new(surrogate->coding->dim, surrogate->dims);
	arena_defer(surrogate->task.arena, release_gp, gp);
	return gp;
}

static struct gp_pool *pool_new(struct surrogate *surrogate, struct gp *gp) {
	struct gp_pool *pool = gp_pool_new(gp, surrogate->pool.room);
	arena_defer(surrogate->task.arena, release_pool, pool);
	return pool;
}

void surrogate_models_make(struct surrogate *surrogate) {
	surrogate->dims = surrogate->coding->count;
	surrogate->value = model_new(surrogate);
	surrogate->values = pool_new(surrogate, surrogate->value);
	surrogate->works = NULL;
	surrogate->workings = NULL;
	surrogate->in_value = surrogate->in_works = 0;
}

/* Adds new observations after dropping the assumed outcomes of pending configurations, which are always the last rows.
 */
void surrogate_models_update(struct surrogate *surrogate) {
	uint16_t codes[GP_DIMS_MAX];
	gp_truncate(surrogate->value, surrogate->in_value);
	if (surrogate->failed && !surrogate->works) {
		surrogate->works = model_new(surrogate);
		surrogate->workings = pool_new(surrogate, surrogate->works);
		if (surrogate->pool.count)
			gp_pool_set(surrogate->workings, surrogate->pool.codes, surrogate->pool.count);
	}
	for (; surrogate->in_works < surrogate->count; surrogate->in_works++) {
		const struct observed *observed = &surrogate->observed[surrogate->in_works];
		surrogate_codes(surrogate, observed->index, codes);
		if (observed->result != STRATEGY_FAILURE) {
			gp_add(surrogate->value, codes, observed_variance(observed));
			surrogate->row[surrogate->in_value++] = surrogate->in_works;
		}
	}
	for (size_t i = surrogate->works ? gp_count(surrogate->works) : surrogate->count; i < surrogate->count; i++) {
		surrogate_codes(surrogate, surrogate->observed[i].index, codes);
		gp_add(surrogate->works, codes, WORKS_VARIANCE);
	}
}

/* Parameters come first, so that only dimensions of other sources move. */
void surrogate_source_drop(struct surrogate *surrogate, size_t source) {
	struct coding *coding = surrogate->coding;
	size_t dim = coding->count - surrogate->source_count + source, behind = surrogate->source_count - source - 1;
	memmove(&coding->dim[dim], &coding->dim[dim + 1], behind * sizeof *coding->dim);
	memmove(&surrogate->source[source], &surrogate->source[source + 1], behind * sizeof(struct source_model *));
	coding->count--;
	surrogate->source_count--;
	surrogate->dropped++;
	surrogate->pool.count = 0;
	surrogate_models_make(surrogate);
}
