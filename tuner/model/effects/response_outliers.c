/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the outliers; response.h says why it takes two steps. */
#include <config.h>

#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/stats.h"
#include "tuner/model/effects/additive.h"
#include "tuner/model/effects/response_impl.h"
#include "tuner/model/robust.h"

static const double FAR = 5, FAR_OF_PREDICTED = 4; /* deviations */
/* Without noise, an additive model would take every interaction for an outlier: its scale counts as at least this
 * share of the spread of log cost, so that a suspect is off by more than costs differ anyway. */
static const double SPREAD_SHARE = 0.25;
/* If more rows than this share are far off, they are not outliers: the model lacks something. */
static const double OUTLIER_SHARE_MAX = 0.15;

static void outliers_limit(struct response *response) {
	size_t outliers = 0;
	for (size_t i = 0; i < response->count; i++)
		outliers += response->outlier[response->row[i]];
	if ((double)outliers > OUTLIER_SHARE_MAX * (double)response->count)
		for (size_t row = 0; row < response->table.rows; row++)
			response->outlier[row] = false;
}

void response_suspect(struct response *response) {
	const struct effects_table *table = &response->table;
	struct design design;
	struct fit fit = {0};
	design_make(&design, table);
	if (!fit_make(&fit, &design)) {
		double scale = fmax(fit.scale, SPREAD_SHARE * stats_mad(design.y, table->rows));
		for (size_t row = 0; row < table->rows; row++)
			response->outlier[row] = !effects_table_over(table, row) && fabs(fit.residual[row]) > FAR * scale;
	}
	fit_clear(&fit);
	design_clear(&design);
	outliers_limit(response);
}

/* A row that was set aside hardly influenced its own prediction, so that only its extra noise has to be taken off the
 * error. */
static bool is_far(const struct response *response, size_t i, double residual, double sigma) {
	size_t row = response->row[i];
	double own = response->outlier[row] ? response->extra[row] : 0;
	double deviation = sqrt(fmax(response->error[i] - own, 0));
	return fabs(residual) > FAR * sigma &&
	       fabs(response->target[row] - response->left[i]) > FAR_OF_PREDICTED * deviation;
}

void response_judge(struct response *response) {
	size_t count = response->count;
	struct robust robust;
	double *x = mem_alloc(2 * count, sizeof *x), *y = mem_alloc(count, sizeof *y);
	for (size_t i = 0; i < count; i++) {
		x[2 * i] = 1;
		x[2 * i + 1] = response->left[i];
		y[i] = response->target[response->row[i]];
	}
	if (!robust_fit(&robust, x, y, count, 2)) {
		for (size_t i = 0; i < count; i++)
			response->outlier[response->row[i]] = !effects_table_over(&response->table, response->row[i]) &&
			                                      is_far(response, i, robust.residual[i], robust.sigma);
		robust_clear(&robust);
	}
	outliers_limit(response);
	free(x);
	free(y);
}
