/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>

#include "src/base/stats.h"
#include "tuner/record/build_impl.h"

void build_figures(struct record *record) {
	uint64_t rows = space_valid(record->space);
	double *values = mem_alloc(rows, sizeof *values), *costs = mem_alloc(rows, sizeof *costs);
	for (uint64_t i = 0; i < rows; i++) {
		const struct record_row *row = &record->rows[i];
		if (row->status != RECORD_CORRECT)
			continue;
		if (!record->correct || row->value < record->optimum) {
			record->optimum = row->value;
			record->best = i;
		}
		if (!record->correct || row->value > record->worst)
			record->worst = row->value;
		costs[record->correct] = record_row_cost(row);
		values[record->correct++] = row->value;
	}
	record->median = stats_median(values, record->correct);
	record->median_cost = stats_median(costs, record->correct);
	free(values);
	free(costs);
}
