/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "tuner/model/effects/anova_impl.h"

/* The mean log cost of the rows of a configuration that were measured to the end and are not outliers; false if it has
 * none. */
static bool measured_at(const struct anova_work *work, const struct effects_key *keys, size_t i) {
	const struct effects_table *m = &work->data->measured;
	size_t first = 0, count = effects_keys_at(keys, m, work->data->sample + i * m->params, &first), n = 0;
	double sum = 0, variance = 0, noise = response_noise(work->response);
	for (size_t k = first; k < first + count; k++) {
		size_t row = keys[k].row;
		if (response_is_outlier(work->response, row) || effects_table_over(m, row))
			continue;
		sum += log(m->cost[row]);
		variance += m->deviation && isfinite(m->deviation[row]) ? pow(m->deviation[row], 2) : noise;
		n++;
	}
	work->f[i] = n ? sum / (double)n : NAN;
	work->deviation[i] = n ? sqrt(variance) / (double)n : NAN;
	return n > 0;
}

bool anova_grid(struct anova_work *work) {
	const struct anova_data *data = work->data;
	struct effects_key *keys = effects_keys_new(&data->measured);
	bool full = data->whole;
	for (size_t i = 0; i < data->samples && full; i++)
		full = measured_at(work, keys, i);
	free(keys);
	return full;
}
