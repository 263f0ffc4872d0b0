/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "tuner/model/effects/anova_impl.h"

/* Sets bin[level]: at most `most` bins in the order of the values, with about the same number of configurations each.
 * Values that do not occur in the sample have none. */
static size_t bins_of(const struct anova_data *data, size_t param, size_t most, int *bin) {
	size_t params = data->measured.params, levels = data->measured.levels[param], all = 0, used = 0, before = 0;
	size_t *seen = mem_alloc(levels + 1, sizeof *seen), *order = response_order_new(&data->measured, param), last = 0;
	int bins = 0;
	for (size_t i = 0; i < data->samples; i++) {
		int level = data->sample[i * params + param];
		if (level == EFFECTS_ABSENT)
			continue;
		used += seen[level]++ == 0;
		all++;
	}
	for (size_t i = 0, v = 0; i < levels; i++) {
		size_t own = seen[order[i]], at = used <= most ? v : (2 * before + own) * most / (2 * all);
		if (own == 0)
			continue;
		bins += v++ == 0 || at != last;
		bin[order[i]] = bins - 1;
		last = at;
		before += own;
	}
	free(seen);
	free(order);
	return (size_t)bins;
}

static void param_make(struct bins_param *to, const struct anova_data *data, size_t param, size_t most,
                       const size_t *order, size_t count) {
	int *bin = mem_alloc(data->measured.levels[param] + 1, sizeof *bin);
	to->bins = bins_of(data, param, most, bin);
	to->bin = mem_alloc(count, sizeof *to->bin);
	for (size_t i = 0; i < count; i++) {
		int level = data->sample[order[i] * data->measured.params + param];
		to->bin[i] = level == EFFECTS_ABSENT ? -1 : bin[level];
	}
	free(bin);
}

void bins_make(struct bins *bins, const struct anova_data *data, const size_t *order, size_t count) {
	size_t params = data->measured.params;
	*bins = (struct bins){.count = count, .params = params};
	bins->fine = mem_alloc(params, sizeof *bins->fine);
	bins->coarse = mem_alloc(params, sizeof *bins->coarse);
	for (size_t p = 0; p < params; p++) {
		param_make(&bins->fine[p], data, p, BINS_FINE, order, count);
		param_make(&bins->coarse[p], data, p, BINS_COARSE, order, count);
	}
}

void bins_clear(struct bins *bins) {
	for (size_t p = 0; p < bins->params; p++) {
		free(bins->fine[p].bin);
		free(bins->coarse[p].bin);
	}
	free(bins->fine);
	free(bins->coarse);
}
