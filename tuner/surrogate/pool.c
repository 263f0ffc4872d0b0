/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The candidates: the whole space if it is small enough. Otherwise the configurations one and two steps from the best
 * measured ones and a uniform sample, drawn again whenever the model is fitted, so that no region is excluded for good.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "tuner/surrogate/impl.h"

enum { CENTRES = 4, NEAR_ROOM = 512, SECOND_STEPS = 24, ROUND_MAX = 600 };

void surrogate_codes(const struct surrogate *surrogate, uint64_t index, uint16_t *codes) {
	coding_index(surrogate->coding, index, codes);
	for (size_t s = 0; s < surrogate->source_count; s++)
		codes[surrogate->coding->count - surrogate->source_count + s] =
			source_model_code(surrogate->source[s], codes, index);
}

static void add(struct pool *pool, uint64_t index) {
	if (pool->count < pool->room)
		pool->index[pool->count++] = index;
}

static void best_of(const struct surrogate *surrogate, size_t *centres, size_t *count) {
	*count = 0;
	for (size_t i = 0; i < surrogate->count; i++) {
		size_t at = *count;
		if (surrogate->observed[i].result != STRATEGY_VALUE)
			continue;
		while (at > 0 && surrogate->observed[i].log < surrogate->observed[centres[at - 1]].log) {
			if (at < CENTRES)
				centres[at] = centres[at - 1];
			at--;
		}
		if (at < CENTRES)
			centres[at] = i;
		*count += *count < CENTRES;
	}
}

static void surround(struct surrogate *surrogate, uint64_t index) {
	const struct space *space = surrogate->task.space;
	uint64_t near[NEAR_ROOM], second[NEAR_ROOM];
	struct pool *pool = &surrogate->pool;
	size_t count = space_near(space, index, SPACE_PLAIN, near, NEAR_ROOM), begin = pool->count;
	rng_shuffle(&surrogate->rng, near, count, sizeof *near);
	for (size_t i = 0; i < count; i++)
		add(pool, near[i]);
	for (size_t i = 0; i < count && i < SECOND_STEPS && pool->count - begin < ROUND_MAX; i++) {
		size_t more = space_near(space, near[i], SPACE_PLAIN, second, NEAR_ROOM);
		for (size_t j = 0; j < more && pool->count - begin < ROUND_MAX; j++)
			add(pool, second[j]);
	}
}

static int by_index(const void *a, const void *b) {
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static void drop_twins(struct pool *pool) {
	size_t kept = 0;
	qsort(pool->index, pool->count, sizeof *pool->index, by_index);
	for (size_t i = 0; i < pool->count; i++)
		if (kept == 0 || pool->index[kept - 1] != pool->index[i])
			pool->index[kept++] = pool->index[i];
	pool->count = kept;
}

static void draw(struct surrogate *surrogate) {
	size_t centres[CENTRES], count;
	struct pool *pool = &surrogate->pool;
	pool->count = 0;
	best_of(surrogate, centres, &count);
	for (size_t i = 0; i < count; i++)
		surround(surrogate, surrogate->observed[centres[i]].index);
	while (pool->count < pool->room)
		add(pool, space_sample(surrogate->task.space, &surrogate->rng));
	drop_twins(pool);
}

static void give(struct surrogate *surrogate) {
	struct pool *pool = &surrogate->pool;
	for (size_t i = 0; i < pool->count; i++)
		coding_index(surrogate->coding, pool->index[i], pool->codes + i * surrogate->dims);
	for (size_t s = 0; s < surrogate->source_count; s++)
		source_model_codes(surrogate->source[s], pool, surrogate->dims,
		                   surrogate->coding->count - surrogate->source_count + s);
	gp_pool_set(surrogate->values, pool->codes, pool->count);
	if (surrogate->workings)
		gp_pool_set(surrogate->workings, pool->codes, pool->count);
}

void surrogate_pool_fill(struct surrogate *surrogate) {
	struct pool *pool = &surrogate->pool;
	if (!pool->whole) {
		draw(surrogate);
	} else if (pool->count == 0) {
		while (pool->count < pool->room)
			add(pool, pool->count);
	} else {
		return;
	}
	give(surrogate);
}
