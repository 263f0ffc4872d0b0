/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups of dimensions whose codes occur in few combinations among the candidates, because the alignment and the names
 * of a number follow from it, and because few parameters have few combinations. The correlations of a combination are
 * added and multiplied once instead of for each candidate that has it. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "tuner/model/gp/impl.h"

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

void gp_groups_free(struct gp_groups *groups) {
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

struct gp_groups *gp_groups_new(void) {
	return mem_alloc(1, sizeof(struct gp_groups));
}

void gp_groups_set(struct gp_groups *groups, const struct gp *gp, const uint16_t *codes, size_t stride, size_t count) {
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

void gp_groups_tabulate(struct gp_groups *groups, const float *table, size_t values) {
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

void gp_groups_add(const struct gp_groups *groups, size_t from, size_t width, float *sum, float *product) {
	size_t g = 0;
	for (; g + 2 <= groups->count; g += 2)
		two_add(&groups->group[g], &groups->group[g + 1], from, width, sum, product);
	if (g < groups->count)
		one_add(&groups->group[g], from, width, sum, product);
}
