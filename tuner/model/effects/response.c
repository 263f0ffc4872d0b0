/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_erf.h>
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/stats.h"
#include "tuner/model/effects/effects_impl.h"
#include "tuner/model/robust.h"

/* Shared by the files response*.c only. */
/* Does the process predict anything? Leave-one-out errors use parameters that were fitted to all rows, and are a little
 * too small: with few rows, folds are left out of the fit as well (cross-validation). */

static const double R2_MIN = 0.1, P_MAX = 0.01;
enum { FEW = 200, PARTS = 8, SCORE_STEPS = 12 };

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

static void response_codes(const struct effects_table *table, const int *level, uint16_t *codes);

static double response_variance(const struct response *response, size_t row);

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
	gp_fit(gp, SCORE_STEPS);
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
	mem_auto size_t *part = mem_alloc(response->count, sizeof *part);
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
	return p;
}

/* Sets r2 and predicts. */
static void response_score(struct response *response) {
	double p;
	response->r2 = gain_test(response, response->left, &p);
	response->predicts = response->r2 >= R2_MIN && p < P_MAX;
	if (response->predicts && response->count < FEW)
		response->predicts = parts_test(response) < 2 * P_MAX;
}

/* Finds the outliers; response.h says why it takes two steps. */

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

/* Sets aside the rows that are outliers of the additive model. */
static void response_suspect(struct response *response) {
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

/* Judges all rows by their leave-one-out predictions. */
static void response_judge(struct response *response) {
	size_t count = response->count;
	struct robust robust;
	mem_auto double *x = mem_alloc(2 * count, sizeof *x), *y = mem_alloc(count, sizeof *y);
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
}

/* With more rows, this many of the smallest are kept and an even choice of the others by cost. */
enum { BEST_MAX = 100, ROWS_MAX = 500, STEPS = 14, STEPS_AGAIN = 8, ROUNDS = 2, ROWS_MIN = 8 };
static const double OUTLIER_VARIANCE = 25; /* of targets, whose own variance is 1 */
static const double NUGGETS[] = {0, 0.03, 0.3};
static const double SCALE_MIN = 1e-3, OVER_VARIANCE = 0.1;

/* Fewer rows do not allow to judge whether the surface predicts anything. */
static int check(const struct effects_table *table, char reason[RESPONSE_REASON]) {
	size_t whole = 0;
	if (effects_table_check(table, reason))
		return -1;
	for (size_t row = 0; row < table->rows; row++)
		whole += !effects_table_over(table, row);
	if (table->params == 0 || table->params > GP_DIMS_MAX)
		snprintf(reason, RESPONSE_REASON, "there are %zu parameters; a surface takes 1 to %d", table->params,
		         GP_DIMS_MAX);
	else if (whole < ROWS_MIN)
		snprintf(reason, RESPONSE_REASON, "%zu configuration%s measured to the end; at least %d are needed", whole,
		         whole == 1 ? " was" : "s were", ROWS_MIN);
	return *reason ? -1 : 0;
}

/* Codes of a configuration: a level is its own code, and absence comes after the last level. */
static void response_codes(const struct effects_table *table, const int *level, uint16_t *codes) {
	for (size_t p = 0; p < table->params; p++)
		codes[p] = (uint16_t)(level[p] == EFFECTS_ABSENT ? table->levels[p] : (size_t)level[p]);
}

static void choose(struct response *response) {
	size_t rows = response->table.rows;
	response->row = mem_alloc(rows, sizeof *response->row);
	response->count = gp_choose(response->target, rows, BEST_MAX, ROWS_MAX - BEST_MAX, response->row);
}

/* Targets are log cost in units of its deviation, both without outliers. */
static void scale(struct response *response) {
	size_t rows = response->table.rows, n = 0;
	double *kept = mem_alloc(rows, sizeof *kept), square = 0;
	for (size_t row = 0; row < rows; row++)
		if (!response->outlier[row])
			kept[n++] = log(response->table.cost[row]);
	response->centre = stats_mean(kept, n);
	for (size_t i = 0; i < n; i++)
		square += pow(kept[i] - response->centre, 2) / (double)n;
	response->scale = fmax(sqrt(square), SCALE_MIN);
	for (size_t row = 0; row < rows; row++)
		response->target[row] = (log(response->table.cost[row]) - response->centre) / response->scale;
	free(kept);
}

/* The noise of a row's target, without the process's own. */
static double response_variance(const struct response *response, size_t row) {
	const struct effects_table *table = &response->table;
	double deviation =
		table->deviation && isfinite(table->deviation[row]) ? table->deviation[row] / response->scale : 0;
	return response->nugget + deviation * deviation + response->extra[row];
}

static void observe(struct response *response) {
	const struct effects_table *table = &response->table;
	uint16_t codes[GP_DIMS_MAX];
	mem_auto double *y = mem_alloc(response->count, sizeof *y);
	gp_truncate(response->gp, 0);
	for (size_t i = 0; i < response->count; i++) {
		size_t row = response->row[i];
		response_codes(table, table->level + row * table->params, codes);
		gp_add(response->gp, codes, response_variance(response, row));
		y[i] = response->target[row];
	}
	gp_target(response->gp, y);
}

static void extra_set(struct response *response) {
	for (size_t row = 0; row < response->table.rows; row++)
		if (!effects_table_over(&response->table, row))
			response->extra[row] = response->outlier[row] ? OUTLIER_VARIANCE : 0;
}

/* Mean and variance of a normal distribution that is cut off below, z deviations of the mean below the cut. */
static void over_update(struct response *response) {
	for (size_t i = 0; i < response->count; i++) {
		size_t row = response->row[i];
		if (!effects_table_over(&response->table, row))
			continue;
		double limit = (log(response->table.cost[row]) - response->centre) / response->scale;
		double own = response->nugget + response->extra[row], mean = response->left[i];
		double deviation = sqrt(fmax(response->error[i] - own, 1e-6)), z = (limit - mean) / deviation;
		double hazard = z > -8 ? gsl_sf_hazard(z) : 0, share = 1 + z * hazard - hazard * hazard;
		response->target[row] = fmax(mean + deviation * hazard, limit);
		response->extra[row] = deviation * deviation * fmin(fmax(share, 0.01), 1);
	}
}

static void leave_out(struct response *response) {
	gp_condition(response->gp);
	gp_leave_one_out(response->gp, response->left, response->error);
}

/* Chooses the noise under which the targets are most likely. */
static void nugget_choose(struct response *response) {
	struct gp *best = NULL;
	double nugget = 0;
	for (size_t i = 0; i < sizeof NUGGETS / sizeof *NUGGETS; i++) {
		response->gp = gp_new(response->table.dim, response->table.params);
		response->nugget = NUGGETS[i];
		observe(response);
		gp_fit(response->gp, STEPS);
		bool better = !best || gp_likelihood(response->gp) > gp_likelihood(best);
		gp_free(better ? best : response->gp);
		nugget = better ? NUGGETS[i] : nugget;
		best = better ? response->gp : best;
	}
	response->gp = best;
	response->nugget = nugget;
}

static void fit(struct response *response) {
	scale(response);
	choose(response);
	response_suspect(response);
	scale(response);
	for (size_t row = 0; row < response->table.rows; row++)
		response->extra[row] = effects_table_over(&response->table, row) ? OVER_VARIANCE : 0;
	extra_set(response);
	nugget_choose(response);
	leave_out(response);
	for (int round = 0; round < ROUNDS; round++) {
		response_judge(response);
		extra_set(response);
		over_update(response);
		observe(response);
		gp_fit(response->gp, STEPS_AGAIN);
		leave_out(response);
	}
	response_score(response);
}

struct response *response_new(const struct effects_table *table, char reason[RESPONSE_REASON]) {
	if (check(table, reason))
		return NULL;
	struct response *response = mem_alloc(1, sizeof *response);
	response->table = *table;
	response->target = mem_alloc(table->rows, sizeof *response->target);
	response->extra = mem_alloc(table->rows, sizeof *response->extra);
	response->outlier = mem_alloc(table->rows, sizeof *response->outlier);
	response->left = mem_alloc(table->rows, sizeof *response->left);
	response->error = mem_alloc(table->rows, sizeof *response->error);
	fit(response);
	return response;
}

void response_free(struct response *response) {
	if (!response)
		return;
	gp_free(response->gp);
	free(response->row);
	free(response->target);
	free(response->extra);
	free(response->outlier);
	free(response->left);
	free(response->error);
	free(response);
}

double response_r2(const struct response *response) {
	return response->r2;
}

bool response_predicts(const struct response *response) {
	return response->predicts;
}

double response_stretch(const struct response *response) {
	double sum = 0, n = 0;
	for (size_t i = 0; i < response->count; i++) {
		size_t row = response->row[i];
		if (response->outlier[row] || effects_table_over(&response->table, row))
			continue;
		sum += pow(response->target[row] - response->left[i], 2) / response->error[i];
		n++;
	}
	return n > 0 ? fmax(sqrt(sum / n), 1) : 1;
}

static int by_coordinate(const void *a, const void *b, void *ctx) {
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	const double *at = ctx;
	return at && at[i] != at[j] ? (at[i] > at[j]) - (at[i] < at[j]) : (i > j) - (i < j);
}

size_t *response_order_new(const struct effects_table *table, size_t param) {
	size_t *order = mem_alloc(table->levels[param] + 1, sizeof *order);
	for (size_t v = 0; v < table->levels[param]; v++)
		order[v] = v;
	qsort_r(order, table->levels[param], sizeof *order, by_coordinate, (void *)table->dim[param].at);
	return order;
}

/* Means of thousands of configurations come from a pool, which solves for all of them at once. */
void response_predict(const struct response *response, const int *level, size_t count, double *mean,
                      double *covariance) {
	const struct effects_table *table = &response->table;
	mem_auto uint16_t *codes = mem_alloc(count * table->params, sizeof *codes);
	double scale = response->scale;
	for (size_t c = 0; c < count; c++)
		response_codes(table, level + c * table->params, codes + c * table->params);
	if (mean) {
		struct gp_pool *pool = gp_pool_new(response->gp, count);
		gp_pool_set(pool, codes, count);
		gp_pool_predict(pool);
		for (size_t c = 0; c < count; c++)
			mean[c] = response->centre + scale * (double)gp_pool_mean(pool)[c];
		gp_pool_free(pool);
	}
	if (covariance)
		gp_covariances(response->gp, codes, count, covariance);
	for (size_t i = 0; covariance && i < count * count; i++)
		covariance[i] *= scale * scale;
}
