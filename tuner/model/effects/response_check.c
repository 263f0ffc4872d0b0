/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdio.h>

#include "tuner/model/effects/response_impl.h"

enum { ROWS_MIN = 8 };

static uint16_t code_of(const struct response_data *data, size_t dim, int place) {
	int param = data->param ? data->param[dim] : (int)dim;
	size_t at = place == EFFECTS_ABSENT ? data->levels[param] : (size_t)place;
	return data->code ? data->code[dim][at] : (uint16_t)at;
}

void response_codes(const struct response_data *data, const int *places, uint16_t *codes) {
	for (size_t d = 0; d < data->dims; d++) {
		int param = data->param ? data->param[d] : (int)d;
		codes[d] = param < 0 ? 0 : code_of(data, d, places[param]);
	}
}

double response_place(const struct response_data *data, size_t param, int place) {
	for (size_t d = 0; d < data->dims && place != EFFECTS_ABSENT; d++) {
		bool own = data->param ? data->param[d] == (int)param : d == param;
		if (own && data->dim[d].at)
			return data->dim[d].at[code_of(data, d, place)];
	}
	return NAN;
}

static bool is_row_good(const struct response_data *data, size_t row) {
	uint16_t codes[GP_DIMS_MAX];
	const int *places = data->places + row * data->params;
	if (!(data->cost[row] > 0) || !isfinite(data->cost[row]))
		return false;
	if (data->deviation && (data->deviation[row] < 0 || isinf(data->deviation[row])))
		return false;
	for (size_t param = 0; param < data->params; param++)
		if (places[param] != EFFECTS_ABSENT && (places[param] < 0 || (size_t)places[param] >= data->levels[param]))
			return false;
	response_codes(data, places, codes);
	for (size_t d = 0; d < data->dims; d++)
		if (codes[d] >= data->dim[d].values)
			return false;
	return true;
}

static bool are_dims_good(const struct response_data *data) {
	if (data->dims == 0 || data->dims > GP_DIMS_MAX || data->params == 0)
		return false;
	for (size_t d = 0; d < data->dims; d++) {
		int param = data->param ? data->param[d] : (int)d;
		if (param >= (int)data->params || data->dim[d].values == 0)
			return false;
	}
	return true;
}

int response_check_rows(const struct response_data *data, char reason[RESPONSE_REASON]) {
	reason[0] = 0;
	if (!are_dims_good(data)) {
		snprintf(reason, RESPONSE_REASON, "no parameter has a choice, or there are more than can be modelled");
		return -1;
	}
	for (size_t row = 0; row < data->rows; row++)
		if (!is_row_good(data, row)) {
			snprintf(reason, RESPONSE_REASON, "row %zu has a cost or a value that can't be", row);
			return -1;
		}
	return 0;
}

int response_check(const struct response_data *data, char reason[RESPONSE_REASON]) {
	size_t whole = 0;
	if (response_check_rows(data, reason))
		return -1;
	for (size_t row = 0; row < data->rows; row++)
		whole += !(data->over && data->over[row]);
	if (whole < ROWS_MIN) {
		snprintf(reason, RESPONSE_REASON, "%zu configurations were measured to the end; at least %d are needed", whole,
		         ROWS_MIN);
		return -1;
	}
	return 0;
}
