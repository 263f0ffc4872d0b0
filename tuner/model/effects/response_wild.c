/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rows are wild. */
#include <config.h>

#include <stdlib.h>

#include "src/base/mem.h"
#include "tuner/model/effects/response_impl.h"
#include "tuner/model/robust.h"

enum { ROWS_PER_COLUMN = 3, SEEN_MIN = 3 };
static const double FAR = 5, FAR_OF_PREDICTED = 4; /* deviations */
static const double WILD_SHARE_MAX = 0.15;         /* more of them are no outliers, but what the model lacks */

struct design {
	double *x;
	size_t rows, columns, room;
};

static double *column_add(struct design *design) {
	return design->columns < design->room ? design->x + design->columns++ * design->rows : NULL;
}

/* A place and its square, or 0 where it is absent. */
static void ordered_add(struct design *design, const struct gp_dim *dim, const uint16_t *codes, size_t step) {
	for (int power = 1; power <= 2; power++) {
		double *column = column_add(design);
		for (size_t i = 0; column && i < design->rows; i++) {
			double at = dim->at[codes[i * step]] - 0.5;
			column[i] = isnan(at) ? 0 : power == 1 ? at : at * at;
		}
	}
}

/* A column for each code that occurs often enough, but for the first of them. */
static void code_add(struct design *design, const struct gp_dim *dim, const uint16_t *codes, size_t step) {
	bool first = true;
	for (size_t v = 0; v < dim->values; v++) {
		size_t seen = 0;
		if (dim->at && !isnan(dim->at[v]))
			continue;
		for (size_t i = 0; i < design->rows; i++)
			seen += codes[i * step] == v;
		if (seen < SEEN_MIN || seen == design->rows)
			continue;
		double *column = first && !dim->at ? NULL : column_add(design);
		for (size_t i = 0; column && i < design->rows; i++)
			column[i] = codes[i * step] == v;
		first = false;
	}
}

/* Rows beside each other, as the regression wants them. */
static double *turned(const struct design *design) {
	double *x = mem_alloc(design->rows * design->columns, sizeof *x);
	for (size_t c = 0; c < design->columns; c++)
		for (size_t i = 0; i < design->rows; i++)
			x[i * design->columns + c] = design->x[c * design->rows + i];
	return x;
}

static double *design_make(const struct response *response, size_t *columns) {
	const struct response_data *data = &response->data;
	struct design design = {.rows = response->count, .room = response->count / ROWS_PER_COLUMN};
	uint16_t *codes = mem_alloc(response->count * data->dims, sizeof *codes);
	design.x = mem_alloc(design.rows * (design.room + 1), sizeof *design.x);
	double *one = column_add(&design);
	for (size_t i = 0; i < response->count; i++) {
		one[i] = 1;
		response_codes(data, data->places + response->row[i] * data->params, codes + i * data->dims);
	}
	for (size_t d = 0; d < data->dims; d++) {
		if (data->dim[d].at)
			ordered_add(&design, &data->dim[d], codes + d, data->dims);
		code_add(&design, &data->dim[d], codes + d, data->dims);
	}
	double *x = turned(&design);
	*columns = design.columns;
	free(design.x);
	free(codes);
	return x;
}

static double *targets(const struct response *response) {
	double *y = mem_alloc(response->count, sizeof *y);
	for (size_t i = 0; i < response->count; i++)
		y[i] = response->target[response->row[i]];
	return y;
}

static void limit_wild(struct response *response) {
	size_t count = response_wild(response);
	if ((double)count > WILD_SHARE_MAX * (double)response->count)
		for (size_t row = 0; row < response->data.rows; row++)
			response->wild[row] = false;
}

void response_suspect(struct response *response) {
	struct robust robust;
	size_t columns;
	double *x = design_make(response, &columns), *y = targets(response);
	if (!robust_fit(&robust, x, y, response->count, columns)) {
		for (size_t i = 0; i < response->count; i++)
			response->wild[response->row[i]] =
				!response_is_over(response, response->row[i]) && fabs(robust.residual[i]) > FAR * robust.sigma;
		robust_clear(&robust);
	}
	limit_wild(response);
	free(x);
	free(y);
}

/* Of a row that was set aside, the prediction hardly knew it: nothing needs to be taken out. */
static bool is_far(const struct response *response, size_t i, double residual, double sigma) {
	size_t row = response->row[i];
	double own = response->wild[row] ? response->extra[row] : 0;
	double deviation = sqrt(fmax(response->error[i] - own, 0));
	return fabs(residual) > FAR * sigma &&
	       fabs(response->target[row] - response->left[i]) > FAR_OF_PREDICTED * deviation;
}

void response_judge(struct response *response) {
	size_t count = response->count;
	struct robust robust;
	double *x = mem_alloc(2 * count, sizeof *x), *y = targets(response);
	for (size_t i = 0; i < count; i++) {
		x[2 * i] = 1;
		x[2 * i + 1] = response->left[i];
	}
	if (!robust_fit(&robust, x, y, count, 2)) {
		for (size_t i = 0; i < count; i++)
			response->wild[response->row[i]] =
				!response_is_over(response, response->row[i]) && is_far(response, i, robust.residual[i], robust.sigma);
		robust_clear(&robust);
	}
	limit_wild(response);
	free(x);
	free(y);
}
