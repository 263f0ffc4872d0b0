/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Does the process predict anything? Leave-one-out errors use parameters that were fitted to all rows, and are a little
 * too small: with few rows, folds are left out of the fit as well (cross-validation). */
#include <config.h>

#include <gsl/gsl_cdf.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "tuner/model/effects/response_impl.h"

static const double R2_MIN = 0.1, P_MAX = 0.01;
enum { FEW = 200, PARTS = 8, STEPS = 12 };

static bool counts(const struct response *response, size_t row) {
	return !response->outlier[row] && !effects_table_over(&response->table, row);
}

/* Returns R2, the share of squares that predictions save against the mean of all others, and the p of a t test of the
 * savings. */
static double gain_test(const struct response *response, const double *predicted, double *p) {
	double sum = 0, errors = 0, squares = 0, gain = 0, gains = 0, n = 0;
	for (size_t i = 0; i < response->count; i++) {
		n += counts(response, response->row[i]);
		sum += counts(response, response->row[i]) ? response->target[response->row[i]] : 0;
	}
	for (size_t i = 0; i < response->count; i++) {
		if (!counts(response, response->row[i]))
			continue;
		double own = response->target[response->row[i]], off = (own - sum / n) * n / fmax(n - 1, 1);
		double error = own - predicted[i];
		errors += error * error;
		squares += (own - sum / n) * (own - sum / n);
		gain += off * off - error * error;
		gains += pow(off * off - error * error, 2);
	}
	double variance = n > 1 ? fmax(gains - gain * gain / n, 0) / (n - 1) : INFINITY;
	*p = n > 2 && gain > 0 ? gsl_cdf_tdist_Q(gain / sqrt(n * variance + 1e-300), n - 1) : 1;
	return squares > 0 ? 1 - errors / squares : 0;
}

static void part_predict(const struct response *response, const size_t *part, size_t left, double *predicted) {
	const struct effects_table *table = &response->table;
	struct gp *gp = gp_new(table->dim, table->params);
	uint16_t codes[GP_DIMS_MAX];
	double *y = mem_alloc(response->count, sizeof *y), variance;
	size_t kept = 0;
	for (size_t i = 0; i < response->count; i++) {
		if (part[i] == left)
			continue;
		response_codes(table, table->level + response->row[i] * table->params, codes);
		gp_add(gp, codes, response_variance(response, response->row[i]));
		y[kept++] = response->target[response->row[i]];
	}
	gp_target(gp, y);
	gp_fit(gp, STEPS);
	gp_condition(gp);
	for (size_t i = 0; i < response->count; i++) {
		response_codes(table, table->level + response->row[i] * table->params, codes);
		if (part[i] == left)
			gp_predict(gp, codes, &predicted[i], &variance);
	}
	gp_free(gp);
	free(y);
}

/* The p of the predictions of folds that the fit did not see. */
static double parts_test(const struct response *response) {
	size_t *part = mem_alloc(response->count, sizeof *part);
	double *predicted = mem_alloc(response->count, sizeof *predicted), p;
	struct rng rng;
	rng_seed(&rng, 3);
	for (size_t i = 0; i < response->count; i++)
		part[i] = i % PARTS;
	rng_shuffle(&rng, part, response->count, sizeof *part);
	for (size_t left = 0; left < PARTS; left++)
		part_predict(response, part, left, predicted);
	if (gain_test(response, predicted, &p) <= 0)
		p = 1;
	free(predicted);
	free(part);
	return p;
}

void response_score(struct response *response) {
	double p;
	response->r2 = gain_test(response, response->left, &p);
	response->predicts = response->r2 >= R2_MIN && p < P_MAX;
	if (response->predicts && response->count < FEW)
		response->predicts = parts_test(response) < 2 * P_MAX;
}
