/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps L^-1 k(X, c) of every candidate c, one row per observation: the squares are what the observations take off the
 * variance, and the product with L^-1 (y - mean) is the mean (Rasmussen and Williams 2006, algorithm 2.1). A new
 * observation adds a row; new parameters require all rows again. Single precision halves the memory traffic, and its
 * errors are far below the noise. */
#include <gsl/gsl_blas.h>

#include "base/mem.h"
#include "tuner/model/gp/impl.h"

/* Groups of dimensions whose codes occur in few combinations among the candidates, because the alignment and the names
 * of a number follow from it, and because few parameters have few combinations. The correlations of a combination are
 * added and multiplied once instead of for each candidate that has it. */

/* A group has at most one combination per SHARE candidates, because its table is made for each observation. */
enum { COMBINATIONS_MAX = 512, SHARE = 16, PRODUCT_MAX = 1 << 18 };

struct group {
	size_t dim[GP_DIMS_MAX], dims, count; /* count: of combinations */
	uint16_t *of;                         /* of each candidate: its combination */
	uint16_t *codes;                      /* dims x count */
	struct pair {
		float sum, product;
	} * table;
};

struct gp_groups {
	struct group group[GP_DIMS_MAX];
	size_t count;
};

struct join { /* one more dimension for a group */
	const uint16_t *codes;
	size_t values, candidates;
	uint16_t *number; /* of each pair of a combination and a code: that of the new combination, plus 1; 0: none yet */
};

static void group_free(struct group *group) {
	free(group->of);
	free(group->codes);
	free(group->table);
}

static void groups_clear(struct gp_groups *groups) {
	for (size_t g = 0; g < groups->count; g++)
		group_free(&groups->group[g]);
	groups->count = 0;
}

static void gp_groups_free(struct gp_groups *groups) {
	if (groups)
		groups_clear(groups);
	free(groups);
}

/* Numbers the combinations; more than `most`: there are too many. */
static size_t join_count(const struct join *join, const struct group *group, size_t most) {
	size_t count = 0;
	if (group->count * join->values > PRODUCT_MAX)
		return most + 1;
	memset(join->number, 0, group->count * join->values * sizeof *join->number);
	for (size_t c = 0; c < join->candidates && count <= most; c++) {
		uint16_t *number = &join->number[group->of[c] * join->values + join->codes[c]];
		if (*number == 0)
			*number = (uint16_t)++count;
	}
	return count;
}

static void join_do(const struct join *join, struct group *group, size_t dim, size_t count) {
	uint16_t *codes = mem_alloc((group->dims + 1) * count, sizeof *codes);
	join_count(join, group, count);
	for (size_t c = 0; c < join->candidates; c++) {
		size_t before = group->of[c], now = join->number[before * join->values + join->codes[c]] - 1u;
		for (size_t d = 0; d < group->dims; d++)
			codes[d * count + now] = group->codes[d * group->count + before];
		codes[group->dims * count + now] = join->codes[c];
		group->of[c] = (uint16_t)now;
	}
	free(group->codes);
	group->codes = codes;
	group->count = count;
	group->dim[group->dims++] = dim;
}

static void group_begin(struct group *group, const struct join *join, size_t dim) {
	*group = (struct group){.dim = {dim}, .dims = 1, .count = join->values};
	group->of = mem_alloc(join->candidates + 1, sizeof *group->of);
	group->codes = mem_alloc(join->values, sizeof *group->codes);
	if (join->candidates)
		memcpy(group->of, join->codes, join->candidates * sizeof *group->of);
	for (size_t v = 0; v < join->values; v++)
		group->codes[v] = (uint16_t)v;
}

/* Adds a dimension to the group that grows by the smallest factor, or begins another one. */
static void dim_place(struct gp_groups *groups, const struct join *join, size_t dim) {
	size_t most = join->candidates / SHARE < COMBINATIONS_MAX ? join->candidates / SHARE : COMBINATIONS_MAX, count = 0;
	struct group *best = NULL;
	for (size_t g = 0; g < groups->count; g++) {
		size_t own = join_count(join, &groups->group[g], most);
		if (own > most || (best && own * best->count >= count * groups->group[g].count))
			continue;
		best = &groups->group[g];
		count = own;
	}
	if (best)
		join_do(join, best, dim, count);
	else
		group_begin(&groups->group[groups->count++], join, dim);
}

static void gp_groups_set(struct gp_groups *groups, const struct gp *gp, const uint16_t *codes, size_t stride,
                          size_t count) {
	struct join join = {.candidates = count, .number = mem_alloc(PRODUCT_MAX, sizeof *join.number)};
	groups_clear(groups);
	for (size_t d = 0; d < gp->dims; d++) {
		join.codes = codes + d * stride;
		join.values = gp->axis[d].values;
		dim_place(groups, &join, d);
	}
	for (size_t g = 0; g < groups->count; g++)
		groups->group[g].table = mem_alloc(groups->group[g].count, sizeof *groups->group[g].table);
	free(join.number);
}

static void group_tabulate(struct group *group, const float *table, size_t values) {
	for (size_t i = 0; i < group->count; i++)
		group->table[i] = (struct pair){0, 1};
	for (size_t d = 0; d < group->dims; d++) {
		const uint16_t *codes = group->codes + d * group->count;
		const float *own = table + group->dim[d] * values;
		for (size_t i = 0; i < group->count; i++) {
			group->table[i].sum += own[codes[i]];
			group->table[i].product *= own[codes[i]];
		}
	}
}

/* Takes the correlations of each dimension's codes with those of one observation: dims x values. */
static void gp_groups_tabulate(struct gp_groups *groups, const float *table, size_t values) {
	for (size_t g = 0; g < groups->count; g++)
		group_tabulate(&groups->group[g], table, values);
}

static void one_add(const struct group *group, size_t from, size_t width, float *sum, float *product) {
	for (size_t c = 0; c < width; c++) {
		struct pair pair = group->table[group->of[from + c]];
		sum[c] += pair.sum;
		product[c] *= pair.product;
	}
}

static void two_add(const struct group *one, const struct group *two, size_t from, size_t width, float *sum,
                    float *product) {
	for (size_t c = 0; c < width; c++) {
		struct pair a = one->table[one->of[from + c]], b = two->table[two->of[from + c]];
		sum[c] += a.sum + b.sum;
		product[c] *= a.product * b.product;
	}
}

/* Adds and multiplies the correlations of some candidates. */
static void gp_groups_add(const struct gp_groups *groups, size_t from, size_t width, float *sum, float *product) {
	size_t g = 0;
	for (; g + 2 <= groups->count; g += 2)
		two_add(&groups->group[g], &groups->group[g + 1], from, width, sum, product);
	if (g < groups->count)
		one_add(&groups->group[g], from, width, sum, product);
}

/* Up to so many new rows, a product of matrices would take longer to arrange its operands than to multiply. */
enum { FIRST_ROWS = 64, PART = 512, FEW = 8 };
struct gp_pool {
	struct gp *gp;
	struct gp_groups *groups;
	size_t room, count, rows, row_room;
	uint16_t *codes;               /* dims x room: the codes of a dimension are contiguous */
	float *solved;                 /* row_room x room */
	float *mean, *variance, *base; /* base: the mean without observations */
	float *table;                  /* dims x values */
	size_t values;                 /* most of a dimension */
	uint64_t *serial;              /* serial numbers of the rows' observations */
	uint64_t version;              /* version of gp that the rows belong to; 0: none */
};

struct gp_pool *gp_pool_new(struct gp *gp, size_t room) {
	struct gp_pool *pool = mem_alloc(1, sizeof *pool);
	size_t values = 1;
	for (size_t d = 0; d < gp->dims; d++)
		values = gp->axis[d].values > values ? gp->axis[d].values : values;
	pool->gp = gp;
	pool->room = room =
		((room + 15) / 16 | 1) * 16; /* an odd number of cache lines, so that rows do not compete for the same sets */
	pool->codes = mem_alloc(room * gp->dims, sizeof *pool->codes);
	pool->mean = mem_alloc(room, sizeof *pool->mean);
	pool->variance = mem_alloc(room, sizeof *pool->variance);
	pool->base = mem_alloc(room, sizeof *pool->base);
	pool->groups = mem_alloc(1, sizeof *pool->groups);
	pool->values = values;
	pool->table = mem_alloc(values * gp->dims + 1, sizeof *pool->table);
	return pool;
}

void gp_pool_free(struct gp_pool *pool) {
	if (!pool)
		return;
	gp_groups_free(pool->groups);
	free(pool->codes);
	free(pool->solved);
	free(pool->serial);
	free(pool->mean);
	free(pool->variance);
	free(pool->base);
	free(pool->table);
	free(pool);
}

void gp_pool_set(struct gp_pool *pool, const uint16_t *codes, size_t count) {
	size_t dims = pool->gp->dims;
	for (size_t c = 0; c < count; c++) {
		for (size_t d = 0; d < dims; d++)
			pool->codes[d * pool->room + c] = codes[c * dims + d];
		pool->base[c] = (float)gp_trend(pool->gp, codes + c * dims);
	}
	gp_groups_set(pool->groups, pool->gp, pool->codes, pool->room, count);
	pool->count = count;
	pool->version = 0;
}

/* The Matern function of each value's distance to the observation's. */
static void table_make(const struct gp *gp, const struct gp_kernel *kernel, size_t dim, unsigned own, float *table) {
	for (unsigned v = 0; v < gp->axis[dim].values; v++)
		table[v] = (float)gp_correlation(gp, kernel, dim, own, v);
}

/* row[c] = covariance of observation i and candidate c. One part of the candidates after the other, so that their sums
 * and products stay in the cache. */
static void covariance_row(struct gp_pool *pool, const struct gp_kernel *kernel, size_t i, float *row) {
	const struct gp *gp = pool->gp;
	const uint16_t *own = gp->codes + i * gp->dims;
	double dims = fmax((double)gp->dims, 1);
	float even = (float)(kernel->s2 * kernel->share / dims), joint = (float)(kernel->s2 * (1 - kernel->share));
	for (size_t d = 0; d < gp->dims; d++)
		table_make(gp, kernel, d, own[d], pool->table + d * pool->values);
	gp_groups_tabulate(pool->groups, pool->table, pool->values);
	for (size_t from = 0; from < pool->count; from += PART) {
		size_t width = pool->count - from < PART ? pool->count - from : PART;
		float sum[PART] = {0};
		for (size_t c = 0; c < width; c++)
			row[from + c] = 1;
		gp_groups_add(pool->groups, from, width, sum, row + from);
		for (size_t c = 0; c < width; c++)
			row[from + c] = even * sum[c] + joint * row[from + c];
	}
}

static void trend_row_add(const struct gp_pool *pool, size_t i, float *row) {
	const struct gp *gp = pool->gp;
	for (size_t d = 0; d < gp->dims; d++) {
		const struct gp_axis *axis = &gp->axis[d];
		if (!axis->trend)
			continue;
		const uint16_t *codes = pool->codes + d * pool->room;
		double factor = axis->slope_variance * axis->at[gp->codes[i * gp->dims + d]];
		for (size_t c = 0; c < pool->count; c++)
			row[c] += (float)(factor * axis->at[codes[c]]);
	}
}

static void variance_begin(struct gp_pool *pool, const struct gp_kernel *kernel) {
	const struct gp *gp = pool->gp;
	for (size_t c = 0; c < pool->count; c++)
		pool->variance[c] = (float)kernel->s2;
	for (size_t d = 0; d < gp->dims; d++) {
		const struct gp_axis *axis = &gp->axis[d];
		for (size_t c = 0; axis->trend && c < pool->count; c++) {
			double at = axis->at[pool->codes[d * pool->room + c]];
			pool->variance[c] += (float)(axis->slope_variance * at * at);
		}
	}
}

static float *row_at(const struct gp_pool *pool, size_t i) {
	return pool->solved + i * pool->room;
}

static void rows_reserve(struct gp_pool *pool, size_t rows) {
	while (pool->row_room < rows)
		pool->row_room = pool->row_room ? 2 * pool->row_room : FIRST_ROWS;
	pool->solved = mem_grow(pool->solved, pool->row_room * pool->room, sizeof *pool->solved);
	pool->serial = mem_grow(pool->serial, pool->row_room, sizeof *pool->serial);
}

/* Rows of a lower triangle, from `first` on. */
static gsl_matrix_float *factor_rows(const struct gp *gp, size_t first) {
	gsl_matrix_float *factor = gsl_matrix_float_calloc(gp->count - first, gp->count);
	for (size_t i = first; i < gp->count; i++)
		for (size_t j = 0; j <= i; j++)
			gsl_matrix_float_set(factor, i - first, j, (float)gsl_matrix_get(gp->lower, i, j));
	return factor;
}

/* Solves the rows from `first` on, given those before, for some of the candidates. */
static void rows_solve(struct gp_pool *pool, const gsl_matrix_float *factor, size_t first, size_t from, size_t width) {
	size_t count = factor->size1;
	gsl_matrix_float_view fresh =
		gsl_matrix_float_view_array_with_tda(row_at(pool, first) + from, count, width, pool->room);
	gsl_matrix_float_const_view corner = gsl_matrix_float_const_submatrix(factor, 0, first, count, count);
	if (first > 0) {
		gsl_matrix_float_view before =
			gsl_matrix_float_view_array_with_tda(pool->solved + from, first, width, pool->room);
		gsl_matrix_float_const_view l = gsl_matrix_float_const_submatrix(factor, 0, 0, count, first);
		for (size_t i = 0; count <= FEW && i < count; i++) {
			gsl_vector_float_const_view one = gsl_matrix_float_const_row(&l.matrix, i);
			gsl_vector_float_view own = gsl_matrix_float_row(&fresh.matrix, i);
			gsl_blas_sgemv(CblasTrans, -1, &before.matrix, &one.vector, 1, &own.vector);
		}
		if (count > FEW)
			gsl_blas_sgemm(CblasNoTrans, CblasNoTrans, -1, &l.matrix, &before.matrix, 1, &fresh.matrix);
	}
	gsl_blas_strsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1, &corner.matrix, &fresh.matrix);
}

static void variance_subtract(struct gp_pool *pool, size_t i, size_t from, size_t width) {
	const float *row = row_at(pool, i);
	for (size_t c = from; c < from + width; c++)
		pool->variance[c] -= row[c] * row[c];
}

/* Drops the rows of observations that were removed, which are always the last ones. */
static void rows_drop(struct gp_pool *pool, const struct gp_kernel *kernel) {
	const struct gp *gp = pool->gp;
	size_t kept = pool->rows;
	while (kept && (kept > gp->count || pool->serial[kept - 1] != gp->serial[kept - 1]))
		kept--;
	if (kept == 0)
		variance_begin(pool, kernel);
	for (; kept && pool->rows > kept; pool->rows--) {
		const float *row = row_at(pool, pool->rows - 1);
		for (size_t c = 0; c < pool->count; c++)
			pool->variance[c] += row[c] * row[c];
	}
	pool->rows = kept;
}

static void mean_make(struct gp_pool *pool, const float *white, size_t rows, size_t from, size_t width) {
	for (size_t c = from; c < from + width; c++)
		pool->mean[c] = (float)pool->gp->mean + pool->base[c];
	if (rows == 0)
		return;
	gsl_matrix_float_view all = gsl_matrix_float_view_array_with_tda(pool->solved + from, rows, width, pool->room);
	gsl_vector_float_const_view u = gsl_vector_float_const_view_array(white, rows);
	gsl_vector_float_view mean = gsl_vector_float_view_array(pool->mean + from, width);
	gsl_blas_sgemv(CblasTrans, 1, &all.matrix, &u.vector, 1, &mean.vector);
}

/* One part of the candidates after the other, so that its rows are used while they are in the cache. */
static void parts_make(struct gp_pool *pool) {
	const struct gp *gp = pool->gp;
	size_t first = pool->rows;
	gsl_matrix_float *factor = first < gp->count ? factor_rows(gp, first) : NULL;
	mem_auto float *white = mem_alloc(gp->count + 1, sizeof *white);
	for (size_t i = 0; i < gp->count; i++)
		white[i] = (float)gp->white[i];
	for (size_t from = 0; from < pool->count; from += PART) {
		size_t width = pool->count - from < PART ? pool->count - from : PART;
		if (factor)
			rows_solve(pool, factor, first, from, width);
		for (size_t i = first; i < gp->count; i++)
			variance_subtract(pool, i, from, width);
		mean_make(pool, white, gp->count, from, width);
	}
	gsl_matrix_float_free(factor);
}

void gp_pool_predict(struct gp_pool *pool) {
	struct gp *gp = pool->gp;
	struct gp_kernel kernel;
	if (pool->count == 0)
		return;
	gp_kernel_of(gp, gp->theta, &kernel);
	rows_reserve(pool, gp->count + 1);
	if (pool->version != gp->version) {
		pool->rows = 0;
		pool->version = gp->version;
	}
	rows_drop(pool, &kernel);
	for (size_t i = pool->rows; i < gp->count; i++) {
		covariance_row(pool, &kernel, i, row_at(pool, i));
		trend_row_add(pool, i, row_at(pool, i));
	}
	parts_make(pool);
	for (; pool->rows < gp->count; pool->rows++)
		pool->serial[pool->rows] = gp->serial[pool->rows];
}

const float *gp_pool_mean(const struct gp_pool *pool) {
	return pool->mean;
}

const float *gp_pool_variance(const struct gp_pool *pool) {
	return pool->variance;
}
