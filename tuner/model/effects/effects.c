/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "tuner/model/effects/additive.h"
#include "tuner/model/effects/effects.h"

enum { ROWS_MIN = 6 };

static const double LEVEL = 0.95;

static bool is_good(const struct effects_table *table) {
	char reason[EFFECTS_REASON];
	size_t rows = 0;
	for (size_t row = 0; row < table->rows; row++)
		rows += (!table->weight || table->weight[row] > 0) && !effects_table_over(table, row);
	return rows >= ROWS_MIN && table->params > 0 && effects_table_check(table, reason) == 0;
}

/* The distance of the bounds in standard errors, such that all pairs of `count` values hold together (Sidak,
 * Rectangular confidence regions for the means of multivariate normal distributions, 1967). */
static double reach(size_t count, double freedom) {
	double pairs = (double)count * (double)(count - 1) / 2;
	double each = -expm1(log(LEVEL) / pairs); /* 1 - LEVEL^(1 / pairs) */
	return gsl_cdf_tdist_Qinv(each / 2, freedom);
}

/* Bounds of the largest difference: the largest lower and the largest upper bound of all pairs. */
static void interval(const struct fit *fit, const size_t *columns, size_t count, size_t n, double ci[2]) {
	double far = reach(count, fit->freedom);
	ci[0] = ci[1] = 0;
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < i; k++) {
			size_t a = columns[i], b = columns[k];
			const double *cov = fit->covariance;
			double variance = cov[a * n + a] + cov[b * n + b] - 2 * cov[a * n + b];
			double apart = fabs(fit->effect[a] - fit->effect[b]), error = far * sqrt(fmax(variance, 0));
			ci[0] = fmax(ci[0], apart - error);
			ci[1] = fmax(ci[1], apart + error);
		}
	}
}

static void effect_set(struct effect *effect, const struct design *design, const struct fit *fit, struct block block,
                       const bool *comparable) {
	size_t *columns = mem_alloc(block.count + 1, sizeof *columns), count = 0, best = 0, worst = 0;
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
		double ci[2];
		interval(fit, columns, count, design->columns, ci);
		effect->known = true;
		effect->ratio = exp(fit->effect[worst] - fit->effect[best]);
		effect->ci[0] = exp(ci[0]);
		effect->ci[1] = exp(ci[1]);
		effect->best = design->level[best];
		effect->worst = design->level[worst];
	}
	free(columns);
}

static size_t effects_set(struct effect *effects, const struct design *design, const struct fit *fit) {
	bool *comparable = mem_alloc(design->columns, sizeof *comparable);
	size_t known = 0;
	alias_find(design, comparable);
	for (size_t param = 0; param < design->table->params; param++) {
		if (design->blocks[param].count)
			effect_set(&effects[param], design, fit, design->blocks[param], comparable);
		known += effects[param].known;
	}
	free(comparable);
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
	size_t known = fit_make(&fit, &design) ? 0 : effects_set(effects, &design, &fit);
	fit_clear(&fit);
	design_clear(&design);
	return known ? 0 : -1;
}
