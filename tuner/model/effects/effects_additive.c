/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_sf_erf.h>
#include <math.h>

#include "base/mem.h"
#include "base/stats.h"
#include "tuner/model/effects/effects_impl.h"

/* Fits the additive model by EM, with robust weights and censored rows; effects.h names the sources. */

enum { ROUNDS_OF_HUBER = 6, ROUNDS_MAX = 40 };

/* The constants of 95 % efficiency under normal noise. */
static const double HUBER = 1.345, BISQUARE = 4.685;
/* No clock and no machine are more precise, and a perfect fit must not divide by 0. */
static const double SCALE_MIN = 1e-3;
static const double SPREAD_MIN = 1e-4; /* of effects; even a parameter without any effect has this */
static const double SETTLED = 1e-3;    /* relative to the scale; smaller changes end the iteration */
static const double FREEDOM_MIN = 2;
/* The median residual estimates the scale as precisely as the root mean square of this share of the rows. */
static const double MEDIAN_EFFICIENCY = 0.4;
/* The prior density of a spread near 0 goes with this power of it. */
static const double SPREAD_POWER = 0.75;

struct state {
	const struct design *design;
	struct fit *fit;
	double *spread; /* of each parameter: variance of its effects */
	double *weight; /* of each row: the given weight times the robust one */
	double *y;      /* of each row: log cost, or its expectation above the limit */
	double *v, *adjusted;
};

static double given(const struct state *s, size_t row) {
	return s->design->table->weight ? s->design->table->weight[row] : 1;
}

static bool is_over(const struct state *s, size_t row) {
	return s->design->table->over && s->design->table->over[row];
}

/* In place; -1 if the matrix is not positive definite. */
static int fit_invert(double *matrix, size_t size) {
	gsl_matrix_view view = gsl_matrix_view_array(matrix, size, size);
	gsl_error_handler_t *handler = gsl_set_error_handler_off(); /* GSL's own handler aborts */
	int failed = gsl_linalg_cholesky_decomp1(&view.matrix) || gsl_linalg_cholesky_invert(&view.matrix);
	gsl_set_error_handler(handler);
	for (size_t i = 0; i < size * size; i++)
		failed |= !isfinite(matrix[i]);
	return failed ? -1 : 0;
}

static void state_begin(struct state *s) {
	const struct effects_table *table = s->design->table;
	double spread = stats_mad(s->design->y, table->rows);
	double mean = stats_mean(s->design->y, table->rows), square = 0;
	for (size_t row = 0; row < table->rows; row++)
		square += pow(s->design->y[row] - mean, 2) / (double)table->rows;
	spread = fmax(fmax(spread * spread, square), SPREAD_MIN);
	s->fit->scale = fmax(sqrt(spread / 10), SCALE_MIN);
	for (size_t param = 0; param < table->params; param++)
		s->spread[param] = spread;
	for (size_t row = 0; row < table->rows; row++) {
		s->weight[row] = is_over(s, row) ? 0 : given(s, row);
		s->y[row] = s->design->y[row];
	}
}

/* The columns of a row; the first one is the mean. */
static size_t row_columns(const struct design *design, size_t row, size_t *active) {
	size_t params = design->table->params, count = 1;
	active[0] = 0;
	for (size_t param = 0; param < params; param++)
		if (design->column[row * params + param] > 0)
			active[count++] = (size_t)design->column[row * params + param];
	return count;
}

/* Multiplies numbers that lie `step` apart by the centring x - zero * sum: a vector, or one row or column of a matrix.
 */
static void centre(const struct design *design, double *x, size_t step, bool effects) {
	for (size_t param = 0; param < design->table->params; param++) {
		struct block block = design->blocks[param];
		double sum = 0;
		for (size_t c = block.first; c < block.first + block.count; c++)
			sum += x[c * step] * (effects ? design->zero[c] : 1);
		for (size_t c = block.first; c < block.first + block.count; c++)
			x[c * step] -= sum * (effects ? 1 : design->zero[c]);
	}
}

static void centre_matrix(const struct design *design, double *matrix, bool effects) {
	size_t n = design->columns;
	for (size_t c = 0; c < n; c++)
		centre(design, matrix + c * n, 1, effects);
	for (size_t c = 0; c < n; c++)
		centre(design, matrix + c, n, effects);
}

/* Make the effects of each block sum to 0, weighted by share. */
/* X'WX and, where v is not NULL, X'Wy. */
static void design_gram(const struct design *design, const double *weight, const double *y, double *gram, double *v) {
	size_t n = design->columns, *active = mem_alloc(design->table->params + 1, sizeof *active);
	for (size_t i = 0; i < n * n; i++)
		gram[i] = 0;
	for (size_t i = 0; v && i < n; i++)
		v[i] = 0;
	for (size_t row = 0; row < design->table->rows; row++) {
		size_t count = row_columns(design, row, active);
		for (size_t i = 0; i < count; i++) {
			for (size_t k = 0; k < count; k++)
				gram[active[i] * n + active[k]] += weight[row];
			if (v)
				v[active[i]] += weight[row] * y[row];
		}
	}
	centre_matrix(design, gram, false);
	if (v)
		centre(design, v, 1, false);
	free(active);
}

/* The sum of a row's effects, and its variance in units of the covariance. */
static double design_fitted(const struct design *design, size_t row, const double *effect) {
	size_t params = design->table->params;
	double sum = effect[0];
	for (size_t param = 0; param < params; param++)
		if (design->column[row * params + param] > 0)
			sum += effect[design->column[row * params + param]];
	return sum;
}

static double design_variance(const struct design *design, size_t row, const double *covariance) {
	size_t params = design->table->params, n = design->columns;
	const int *columns = design->column + row * params;
	double sum = covariance[0];
	for (size_t i = 0; i < params; i++) {
		if (columns[i] < 0)
			continue;
		const double *line = covariance + (size_t)columns[i] * n;
		sum += 2 * line[0];
		for (size_t k = 0; k < params; k++)
			sum += columns[k] > 0 ? line[columns[k]] : 0;
	}
	return sum;
}

/* Solves for the effects and their covariance, in units of the scale, with the current weights, scale and spreads. */
static int solve(struct state *s) {
	const struct design *design = s->design;
	size_t n = design->columns;
	double *matrix = s->fit->covariance;
	design_gram(design, s->weight, s->y, matrix, s->v);
	matrix[0] += 1e-9;
	for (size_t param = 0; param < design->table->params; param++)
		for (size_t i = 0, c = design->blocks[param].first; i < design->blocks[param].count; i++, c++)
			matrix[c * n + c] += s->fit->scale * s->fit->scale / s->spread[param];
	if (fit_invert(matrix, n))
		return -1;
	for (size_t i = 0; i < n; i++) {
		s->fit->effect[i] = 0;
		for (size_t k = 0; k < n; k++)
			s->fit->effect[i] += matrix[i * n + k] * s->v[k];
	}
	centre(design, s->fit->effect, 1, true);
	centre_matrix(design, matrix, true);
	return 0;
}

/* Values that were measured once do not count for the spread if others were measured more often, because a single
 * disturbed row would look like a large effect of the parameter. */
static void spread_update(struct state *s, size_t param) {
	struct block block = s->design->blocks[param];
	size_t n = s->design->columns, often = 0, count = 0;
	double sum = 0;
	for (size_t i = 0; i < block.count; i++)
		often += s->design->times[block.first + i] > 1;
	for (size_t c = block.first; c < block.first + block.count; c++) {
		if (often >= 2 && s->design->times[c] < 2)
			continue;
		sum += pow(s->fit->effect[c], 2) + s->fit->scale * s->fit->scale * s->fit->covariance[c * n + c];
		count++;
	}
	if (count)
		s->spread[param] = fmax(sum / ((double)count - 1 - SPREAD_POWER), SPREAD_MIN * SPREAD_MIN);
}

/* Residuals are leave-one-out, in units of their expected size, because a row that is alone with its value decides its
 * own fit: it is judged by how far its effect is from the other effects of the parameter. */
static void residuals_update(struct state *s) {
	const struct design *design = s->design;
	size_t count = 0, left = 0;
	double used = 0;
	for (size_t row = 0; row < design->table->rows; row++) {
		if (is_over(s, row) || !(given(s, row) > 0))
			continue;
		double variance = design_variance(design, row, s->fit->covariance);
		double others = fmax(1 - s->weight[row] * variance, 1e-9), own = variance / others;
		double residual = (design->y[row] - design_fitted(design, row, s->fit->effect)) / others;
		s->fit->residual[row] = residual / sqrt(1 / given(s, row) + own);
		s->adjusted[count++] = fabs(s->fit->residual[row]);
		used += s->weight[row] * variance;
		left += s->weight[row] > 0;
	}
	s->fit->freedom = (double)left - used;
	s->fit->scale = fmax(stats_median(s->adjusted, count) / 0.6745, SCALE_MIN);
}

/* If the model already predicts a cost far above the limit, the row carries no information. */
static void over_update(struct state *s, size_t row) {
	double fitted = design_fitted(s->design, row, s->fit->effect), z = (s->design->y[row] - fitted) / s->fit->scale;
	double hazard = z > -8 ? gsl_sf_hazard(z) : 0, ahead = hazard > z ? hazard - z : 1e-3;
	s->weight[row] = given(s, row) * fmin(hazard * ahead, 1);
	s->y[row] = fitted + s->fit->scale / ahead;
}

static double robust_weight(double u, bool huber) {
	if (huber)
		return u > HUBER ? HUBER / u : 1;
	return u < BISQUARE ? pow(1 - pow(u / BISQUARE, 2), 2) : 0;
}

static void weights_update(struct state *s, bool huber) {
	for (size_t row = 0; row < s->design->table->rows; row++)
		if (is_over(s, row))
			over_update(s, row);
		else
			s->weight[row] = given(s, row) * robust_weight(fabs(s->fit->residual[row]) / s->fit->scale, huber);
}

static int iterate(struct state *s) {
	size_t n = s->design->columns;
	mem_auto double *before = mem_alloc(n, sizeof *before);
	double moved = INFINITY;
	int failed = 0;
	for (int round = 0; round < ROUNDS_MAX && !failed && (round <= ROUNDS_OF_HUBER || moved > SETTLED); round++) {
		if (round)
			weights_update(s, round <= ROUNDS_OF_HUBER);
		failed = solve(s);
		moved = 0;
		for (size_t i = 0; i < n; i++)
			moved = fmax(moved, fabs(s->fit->effect[i] - before[i]) / s->fit->scale);
		memcpy(before, s->fit->effect, n * sizeof *before);
		for (size_t param = 0; param < s->design->table->params; param++)
			spread_update(s, param);
		residuals_update(s);
	}
	return failed;
}

/* The intervals are taken from this: rows that the weights leave out are noise, too, or interactions that the model
 * does not have, and count up to a bound. */
static double scale_of_all(const struct state *s) {
	double squares = 0, count = 0;
	for (size_t row = 0; row < s->design->table->rows; row++)
		if (!is_over(s, row) && given(s, row) > 0) {
			squares += pow(fmin(fabs(s->fit->residual[row]) / s->fit->scale, BISQUARE), 2);
			count++;
		}
	return s->fit->scale * fmax(1, sqrt(squares / count));
}

int fit_make(struct fit *fit, const struct design *design) {
	size_t n = design->columns, rows = design->table->rows;
	struct state s = {.design = design, .fit = fit};
	if (n < 2)
		return -1;
	fit->effect = mem_alloc(n, sizeof *fit->effect);
	fit->covariance = mem_alloc(n * n, sizeof *fit->covariance);
	fit->residual = mem_alloc(rows, sizeof *fit->residual);
	mem_auto double *scratch = mem_alloc(3 * rows + design->table->params + n + 1, sizeof *scratch);
	s.weight = scratch;
	s.y = s.weight + rows;
	s.adjusted = s.y + rows;
	s.spread = s.adjusted + rows;
	s.v = s.spread + design->table->params;
	state_begin(&s);
	int failed = iterate(&s);
	double scale = scale_of_all(&s);
	for (size_t i = 0; i < n * n; i++)
		fit->covariance[i] *= scale * scale;
	if (failed || !(fit->freedom >= FREEDOM_MIN))
		return -1;
	fit->freedom = fmax(MEDIAN_EFFICIENCY * fit->freedom, 1);
	return 0;
}

/* Aliasing: effects that the design cannot tell apart, because two parameters changed together, must not be reported. A
 * ridge of prior rows shows which differences the data determine. */

/* Prior knowledge that an effect is 0, in rows, so that even few data tell something. */
static const double PRIOR = 0.1;
/* The share of the difference of two values that must come from data. Two parameters that always changed together get a
 * half each. */
static const double SHARE_MIN = 0.6;
/* With this many rows per value on average, a coincidence in all of them is not chance. */
enum { ROWS_PER_VALUE = 4 };

/* Did the parameter never change unless `other` did? */
static bool is_nested(const struct design *design, size_t param, size_t other) {
	struct block block = design->blocks[other];
	size_t params = design->table->params, times = 0;
	mem_auto int *goes_with = mem_alloc(block.count + 1, sizeof *goes_with);
	bool nested = block.count > 0;
	for (size_t row = 0; row < design->table->rows && nested; row++) {
		int own = design->column[row * params + param], with = design->column[row * params + other];
		if (own < 0 || (design->table->weight && !(design->table->weight[row] > 0)))
			continue;
		int *known = with < 0 ? NULL : &goes_with[(size_t)with - block.first];
		nested = known && (*known == 0 || *known == own);
		if (known)
			*known = own;
		times++;
	}
	return nested && times >= ROWS_PER_VALUE * block.count;
}

static bool is_nested_in_any(const struct design *design, size_t param) {
	for (size_t other = 0; other < design->table->params; other++)
		if (other != param && is_nested(design, param, other))
			return true;
	return false;
}

/* The share of the difference of two values that the data leave open, 0 to 1. */
static double open_share(const double *matrix, size_t n, size_t a, size_t b) {
	return PRIOR * (matrix[a * n + a] + matrix[b * n + b] - 2 * matrix[a * n + b]) / 2;
}

/* The value whose differences to the most others (in rows) are known represents the parameter. */
static void block_compare(const struct design *design, struct block block, const double *matrix, bool *comparable) {
	size_t n = design->columns, best = block.first;
	double most = -1;
	for (size_t a = block.first; a < block.first + block.count; a++) {
		double rows = 0;
		for (size_t b = block.first; b < block.first + block.count; b++)
			rows += open_share(matrix, n, a, b) <= 1 - SHARE_MIN ? design->share[b] : 0;
		if (rows > most) {
			most = rows;
			best = a;
		}
	}
	for (size_t b = block.first; b < block.first + block.count; b++)
		comparable[b] = open_share(matrix, n, best, b) <= 1 - SHARE_MIN;
}

/* Drops values that were measured once, if two others were measured more often, or if all were measured once and could
 * be as good as the noise. */
static void singles_drop(const struct design *design, struct block block, bool *comparable) {
	size_t often = 0;
	for (size_t c = block.first; c < block.first + block.count; c++)
		often += comparable[c] && design->times[c] > 1;
	for (size_t c = block.first; often != 1 && c < block.first + block.count; c++)
		comparable[c] = comparable[c] && design->times[c] > 1;
}

/* Comparable: of each column, whether the data separate its effect from the others of its parameter. If no column of a
 * block is comparable, the parameter can't be told apart from another (aliasing). */
static void alias_find(const struct design *design, bool *comparable) {
	size_t n = design->columns, rows = design->table->rows;
	mem_auto double *matrix = mem_alloc(n * n, sizeof *matrix), *weight = mem_alloc(rows + 1, sizeof *weight);
	for (size_t row = 0; row < rows; row++)
		weight[row] = design->table->weight ? design->table->weight[row] > 0 : 1;
	design_gram(design, weight, NULL, matrix, NULL);
	matrix[0] += 1e-9;
	for (size_t c = 1; c < n; c++)
		matrix[c * n + c] += PRIOR;
	memset(comparable, 0, n * sizeof *comparable);
	int failed = fit_invert(matrix, n);
	for (size_t param = 0; param < design->table->params && !failed; param++) {
		if (design->blocks[param].count == 0 || is_nested_in_any(design, param))
			continue;
		block_compare(design, design->blocks[param], matrix, comparable);
		singles_drop(design, design->blocks[param], comparable);
	}
}

enum { ROWS_MIN = 6 };
static const double LEVEL = 0.95;

static bool is_good(const struct effects_table *table) {
	char reason[EFFECTS_REASON];
	size_t rows = 0;
	for (size_t row = 0; row < table->rows; row++)
		rows += (!table->weight || table->weight[row] > 0) && !effects_table_over(table, row);
	return rows >= ROWS_MIN && table->params > 0 && effects_table_check(table, reason) == 0;
}

/* The distance of the bounds in standard errors, such that all pairs of `count` values of so many parameters hold
 * together (Sidak, Rectangular confidence regions for the means of multivariate normal distributions, 1967). */
static double reach(size_t count, size_t params, double freedom) {
	double pairs = (double)count * (double)(count - 1) / 2 * (double)params;
	double each = -expm1(log(LEVEL) / pairs); /* 1 - LEVEL^(1 / pairs) */
	return gsl_cdf_tdist_Qinv(each / 2, freedom);
}

/* Is the parameter there in a row with the value of this column? */
static bool is_with(const struct design *design, size_t column, size_t param, size_t own) {
	for (size_t row = 0, params = design->table->params; row < design->table->rows; row++)
		if (design->column[row * params + own] == (int)column && design->column[row * params + param] > 0)
			return true;
	return false;
}

/* The difference of two values, of which one brings parameters: whose value is the one to compare the other with? Where
 * nobody has said what is run today, it may be any of them. */
static void apart(const struct fit *fit, const struct design *design, size_t own, const size_t at[2], double range[2]) {
	range[0] = range[1] = fit->effect[at[0]] - fit->effect[at[1]];
	for (size_t p = 0; !design->table->today && p < design->table->params; p++) {
		struct block block = design->blocks[p];
		double sign = is_with(design, at[0], p, own) - is_with(design, at[1], p, own), low = 0, high = 0;
		for (size_t c = block.first; p != own && c < block.first + block.count; c++) {
			low = fmin(low, sign * fit->effect[c]);
			high = fmax(high, sign * fit->effect[c]);
		}
		range[0] += low;
		range[1] += high;
	}
}

/* Bounds of the largest difference: the largest lower and the largest upper bound of all pairs. The interval of one
 * parameter begins at no difference unless that of all parameters together begins above it. */
static void interval(const struct fit *fit, const size_t *columns, size_t count, const struct design *design,
                     size_t param, double ci[2]) {
	double own = reach(count, 1, fit->freedom), all = reach(count, design->table->params, fit->freedom);
	double range[2], low = ci[0] = ci[1] = 0, *cov = fit->covariance;
	size_t n = design->columns;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++) {
			size_t a = columns[i], b = columns[k];
			double error = sqrt(fmax(cov[a * n + a] + cov[b * n + b] - 2 * cov[a * n + b], 0));
			apart(fit, design, param, (size_t[]){a, b}, range);
			double least = fmax(range[0], -range[1]);
			low = fmax(low, least - all * error);
			ci[0] = fmax(ci[0], least - own * error);
			ci[1] = fmax(ci[1], fmax(range[1], -range[0]) + own * error);
		}
	ci[0] = low > 0 ? exp(ci[0]) : 1;
	ci[1] = exp(ci[1]);
}

static void effect_set(struct effect *effect, const struct design *design, const struct fit *fit, size_t param,
                       const bool *comparable) {
	struct block block = design->blocks[param];
	mem_auto size_t *columns = mem_alloc(block.count + 1, sizeof *columns);
	size_t count = 0, best = 0, worst = 0;
	for (size_t c = block.first; c < block.first + block.count; c++) {
		if (!comparable[c])
			continue;
		columns[count++] = c;
		if (!best || fit->effect[c] < fit->effect[best])
			best = c;
		if (!worst || fit->effect[c] >= fit->effect[worst])
			worst = c;
	}
	if (count >= 2 && best != worst) {
		interval(fit, columns, count, design, param, effect->ci);
		effect->known = true;
		effect->ratio = exp(fit->effect[worst] - fit->effect[best]);
		effect->best = design->level[best];
		effect->worst = design->level[worst];
	}
}

static bool effects_set(struct effect *effects, const struct design *design, const struct fit *fit) {
	mem_auto bool *comparable = mem_alloc(design->columns, sizeof *comparable);
	bool known = false;
	alias_find(design, comparable);
	for (size_t p = 0; p < design->table->params; p++) {
		if (design->blocks[p].count)
			effect_set(&effects[p], design, fit, p, comparable);
		known = known || effects[p].known;
	}
	return known;
}

int effects_fit(const struct effects_table *table, struct effect *effects) {
	for (size_t param = 0; param < table->params; param++)
		effects[param] = (struct effect){.ratio = NAN, .ci = {NAN, NAN}, .best = -1, .worst = -1};
	if (!is_good(table))
		return -1;
	struct design design;
	struct fit fit = {0};
	design_make(&design, table);
	for (size_t param = 0; param < table->params; param++)
		effects[param].seen = design.seen[param];
	bool known = fit_make(&fit, &design) == 0 && effects_set(effects, &design, &fit);
	fit_clear(&fit);
	design_clear(&design);
	return known ? 0 : -1;
}
