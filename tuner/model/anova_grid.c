/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "tuner/model/anova_impl.h"

static int compare(const int *a, const int *b, size_t count) {
	for (size_t i = 0; i < count; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

struct keyed {
	const int *places;
	size_t row, params;
};

static int by_places(const void *a, const void *b) {
	const struct keyed *x = a, *y = b;
	return compare(x->places, y->places, x->params);
}

/* Log cost of a configuration: the mean of its rows that count. Returns how many there are. */
static size_t measured_at(const struct anova_work *work, const struct keyed *rows, const int *places, double *cost, double *deviation) {
	const struct response_data *m = &work->data->measured;
	struct keyed key = {.places = places, .params = m->params};
	const struct keyed *found = bsearch(&key, rows, m->rows, sizeof *rows, by_places);
	size_t n = 0;
	double sum = 0, variance = 0, noise = response_noise(work->response);
	while (found && found > rows && by_places(found - 1, &key) == 0)
		found--;
	for (; found && found < rows + m->rows && by_places(found, &key) == 0; found++) {
		if (response_is_wild(work->response, found->row) || (m->over && m->over[found->row]))
			continue;
		sum += log(m->cost[found->row]);
		variance += m->deviation && isfinite(m->deviation[found->row]) ? pow(m->deviation[found->row], 2) : noise;
		n++;
	}
	*cost = n ? sum / (double)n : NAN;
	*deviation = n ? sqrt(variance) / (double)n : NAN;
	return n;
}

/* All of the space was measured. */
bool anova_grid(struct anova_work *work) {
	const struct anova_data *data = work->data;
	const struct response_data *m = &data->measured;
	struct keyed *rows = mem_alloc(m->rows, sizeof *rows);
	bool full = data->whole;
	for (size_t i = 0; i < m->rows; i++)
		rows[i] = (struct keyed){.places = m->places + i * m->params, .row = i, .params = m->params};
	qsort(rows, m->rows, sizeof *rows, by_places);
	for (size_t i = 0; i < data->samples && full; i++)
		full = measured_at(work, rows, data->sample + i * m->params, &work->f[i], &work->deviation[i]) > 0;
	free(rows);
	return full;
}
