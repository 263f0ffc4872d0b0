/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "tuner/model/effects/drivers_impl.h"

static const double MISSING_MAX = 0.2, ZERO_MAX = 0.5;
static const double VARIES = 1e-6; /* smallest range of the logarithm */

double drivers_time(const struct drivers_data *data, size_t row) {
	return data->time[row] / (data->work ? data->work[row] : 1);
}

double drivers_value(const struct drivers_data *data, size_t row, size_t counter) {
	double value = data->counter[row * data->counters + counter] / (data->work ? data->work[row] : 1);
	return isfinite(value) ? value : NAN;
}

struct seen {
	size_t rows, missing, zero, negative;
	double least, most; /* of the positive values */
};

static bool counts(const struct drivers_data *data, bool pair, size_t row) {
	return !pair || row == (size_t)data->winner || row == (size_t)data->baseline;
}

static struct seen look(const struct drivers_data *data, bool pair, size_t counter) {
	struct seen seen = {.least = INFINITY, .most = 0};
	for (size_t row = 0; row < data->rows; row++) {
		double value = drivers_value(data, row, counter);
		if (!counts(data, pair, row))
			continue;
		seen.rows++;
		seen.missing += isnan(value);
		seen.zero += value == 0;
		seen.negative += value < 0;
		seen.least = value > 0 ? fmin(seen.least, value) : seen.least;
		seen.most = value > 0 ? fmax(seen.most, value) : seen.most;
	}
	return seen;
}

static enum drivers_fate fate_of(const struct seen *seen, bool pair) {
	if ((double)seen->missing > (pair ? 0 : MISSING_MAX) * (double)seen->rows)
		return DRIVERS_MISSING;
	if (seen->negative)
		return DRIVERS_NEGATIVE;
	if ((double)seen->zero > ZERO_MAX * (double)(seen->rows - seen->missing))
		return DRIVERS_ZERO;
	if (seen->zero == 0 && log(seen->most / seen->least) < VARIES)
		return DRIVERS_CONSTANT;
	return DRIVERS_KEPT;
}

static bool is_complete(const struct drivers_data *data, const struct drivers_clean *clean, size_t row) {
	for (size_t k = 0; k < clean->counters; k++)
		if (isnan(drivers_value(data, row, clean->counter[k])))
			return false;
	return true;
}

static void fill(struct drivers_clean *clean, const struct drivers_data *data, size_t k, double zero) {
	for (size_t i = 0; i < clean->rows; i++) {
		double value = drivers_value(data, clean->row[i], clean->counter[k]);
		clean->x[k * clean->rows + i] = log(value > 0 ? value : zero);
	}
}

void drivers_clean_make(struct drivers_clean *clean, const struct drivers_data *data, bool pair,
                        enum drivers_fate *fate) {
	*clean = (struct drivers_clean){.row = mem_alloc(data->rows, sizeof *clean->row),
	                                .counter = mem_alloc(data->counters + 1, sizeof *clean->counter)};
	double *zero = mem_alloc(data->counters + 1, sizeof *zero);
	for (size_t c = 0; c < data->counters; c++) {
		struct seen seen = look(data, pair, c);
		fate[c] = fate_of(&seen, pair);
		zero[clean->counters] = seen.least / 2;
		if (fate[c] == DRIVERS_KEPT)
			clean->counter[clean->counters++] = c;
	}
	for (size_t row = 0; row < data->rows; row++)
		if (counts(data, pair, row) && is_complete(data, clean, row))
			clean->row[clean->rows++] = row;
	clean->x = mem_alloc(clean->rows * clean->counters + 1, sizeof *clean->x);
	clean->y = mem_alloc(clean->rows + 1, sizeof *clean->y);
	for (size_t k = 0; k < clean->counters; k++)
		fill(clean, data, k, zero[k]);
	for (size_t i = 0; i < clean->rows; i++)
		clean->y[i] = log(drivers_time(data, clean->row[i]));
	free(zero);
}

void drivers_clean_clear(struct drivers_clean *clean) {
	free(clean->row);
	free(clean->counter);
	free(clean->x);
	free(clean->y);
}
