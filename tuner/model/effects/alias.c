/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aliasing: effects that the design cannot tell apart, because two parameters changed together, must not be reported. A
 * ridge of prior rows shows which differences the data determine. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "tuner/model/effects/additive.h"

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
	int *goes_with = mem_alloc(block.count + 1, sizeof *goes_with);
	bool nested = block.count > 0;
	for (size_t row = 0; row < design->table->rows && nested; row++) {
		int own = design->column[row * params + param], with = design->column[row * params + other];
		if (own < 0 || (design->table->weight && !(design->table->weight[row] > 0)))
			continue;
		if (with < 0) {
			nested = false;
			break;
		}
		int *known = &goes_with[(size_t)with - block.first];
		nested = *known == 0 || *known == own;
		*known = own;
		times++;
	}
	free(goes_with);
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

void alias_find(const struct design *design, bool *comparable) {
	size_t n = design->columns, rows = design->table->rows;
	double *matrix = mem_alloc(n * n, sizeof *matrix), *weight = mem_alloc(rows + 1, sizeof *weight);
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
	free(matrix);
	free(weight);
}
