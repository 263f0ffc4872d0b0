/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The configurations that the search of one size contributes to other sizes: its best, then the others of its race. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/sizes/impl.h"

json_t *sizes_config(struct sizes *sizes, const json_t *config) {
	const json_t *known = sizes_config_find(sizes, config);
	if (!known)
		json_array_append(sizes->configs, (json_t *)config);
	return (json_t *)(known ? known : config);
}

const json_t *sizes_config_find(const struct sizes *sizes, const json_t *config) {
	size_t i;
	json_t *known;
	json_array_foreach(sizes->configs, i, known) {
		if (known == config || json_equal(known, (json_t *)config))
			return known;
	}
	return NULL;
}

struct rank {
	const json_t *config;
	bool alive;
	double median;
	size_t at;
};

/* Survivors of the race come first. */
static int by_rank(const void *a, const void *b) {
	const struct rank *x = a, *y = b;
	if (x->alive != y->alive)
		return x->alive ? -1 : 1;
	if (x->median != y->median)
		return x->median < y->median ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

json_t *sizes_candidates(struct sizes *sizes, const struct sizes_point *point) {
	json_t *candidates = json_array(), *one;
	size_t count = json_array_size(point->finalists), i;
	struct rank *ranks = mem_alloc(count + 1, sizeof *ranks);
	json_array_append(candidates, sizes_config(sizes, point->config));
	json_array_foreach((json_t *)point->finalists, i, one) {
		double median = js_real_or(one, "median", INFINITY);
		ranks[i] = (struct rank){.config = json_object_get(one, "config"),
		                         .alive = json_is_true(json_object_get(one, "alive")),
		                         .median = median > 0 ? median : INFINITY,
		                         .at = i};
	}
	qsort(ranks, count, sizeof *ranks, by_rank);
	for (i = 0; i < count && json_array_size(candidates) < SIZES_CANDIDATES_MAX; i++) {
		if (!json_is_object(ranks[i].config))
			continue;
		json_t *config = sizes_config(sizes, ranks[i].config);
		if (config != json_array_get(candidates, 0))
			json_array_append(candidates, config);
	}
	free(ranks);
	return candidates;
}
