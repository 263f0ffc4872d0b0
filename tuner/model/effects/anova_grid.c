/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "tuner/model/effects/anova_impl.h"
#include "tuner/model/effects/response_impl.h"

/* Log cost of a configuration: the mean of its rows that count. Returns how many there are. */
static size_t measured_at(const struct anova_work *work, const struct response_key *keys, const int *places,
                          double *cost, double *deviation) {
	const struct response_data *m = &work->data->measured;
	size_t first = 0, count = response_keys_at(keys, m, places, &first), n = 0;
	double sum = 0, variance = 0, noise = response_noise(work->response);
	for (size_t i = first; i < first + count; i++) {
		size_t row = keys[i].row;
		if (response_is_wild(work->response, row) || (m->over && m->over[row]))
			continue;
		sum += log(m->cost[row]);
		variance += m->deviation && isfinite(m->deviation[row]) ? pow(m->deviation[row], 2) : noise;
		n++;
	}
	*cost = n ? sum / (double)n : NAN;
	*deviation = n ? sqrt(variance) / (double)n : NAN;
	return n;
}

bool anova_grid(struct anova_work *work) {
	const struct anova_data *data = work->data;
	struct response_key *keys = response_keys_new(&data->measured);
	bool full = data->whole;
	for (size_t i = 0; i < data->samples && full; i++)
		full = measured_at(work, keys, data->sample + i * data->measured.params, &work->f[i], &work->deviation[i]) > 0;
	free(keys);
	return full;
}
