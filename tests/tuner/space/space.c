/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares random small spaces with enumeration: count, numbering, sampling, neighbours. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/tap.h"
#include "tests/tuner/space/model.h"

enum { SPACES = 600, NEAR_MAX = 1024 };

static bool numbering_agrees(const struct space_model *m) {
	bool *seen = mem_alloc(m->valid_count, sizeof *seen), good = true;
	for (size_t i = 0; i < m->valid_count; i++) {
		uint64_t index = UINT64_MAX;
		int back[PARAMS];
		good &= space_index(m->space, m->valid[i], &index) && index < m->valid_count && !seen[index];
		if (!good)
			break;
		seen[index] = true;
		space_config(m->space, index, back);
		good &= memcmp(back, m->valid[i], m->params * sizeof *back) == 0;
	}
	free(seen);
	return good;
}

/* Every invalid combination must be refused, as must levels out of range. */
static bool others_refused(const struct space_model *m) {
	int config[PARAMS] = {0};
	size_t accepted = 0;
	uint64_t index;
	for (size_t i = 0; i < m->params; i++)
		config[i] = m->when[i][0] ? SPACE_ABSENT : 0;
	do
		accepted += space_index(m->space, config, &index);
	while (space_model_next(m, config));
	for (int bad = -3; bad < 9; bad++) {
		space_config(m->space, 0, config);
		config[m->params - 1] = bad;
		if (bad < -1 || bad >= (int)m->counts[m->params - 1])
			accepted += space_index(m->space, config, &index);
	}
	return accepted == m->valid_count;
}

/* Chi-square of 30 draws per configuration, as a deviation of about unit variance. */
static double sampling_deviation(const struct space_model *m, struct rng *rng) {
	size_t *hits = mem_alloc(m->valid_count, sizeof *hits), draws = 30 * m->valid_count;
	double chi = 0, freedom = (double)m->valid_count - 1;
	for (size_t i = 0; i < draws; i++)
		hits[space_sample(m->space, rng)]++;
	for (size_t i = 0; i < m->valid_count; i++)
		chi += ((double)hits[i] - 30) * ((double)hits[i] - 30) / 30;
	free(hits);
	return freedom > 0 ? (chi - freedom) / sqrt(2 * freedom) : 0;
}

/* The number of parameters other than `param` that exist in both and differ. */
static size_t changes(const struct space_model *m, const int *a, const int *b, size_t param) {
	size_t count = 0;
	for (size_t i = 0; i < m->params; i++)
		count += i != param && a[i] != b[i] && a[i] != SPACE_ABSENT && b[i] != SPACE_ABSENT;
	return count;
}

/* The fewest other changes that give `param` that level; SIZE_MAX: no valid configuration has it. */
static size_t fewest(const struct space_model *m, const int *from, size_t param, int level) {
	size_t least = SIZE_MAX;
	for (size_t i = 0; i < m->valid_count; i++)
		if (m->valid[i][param] == level && changes(m, from, m->valid[i], param) < least)
			least = changes(m, from, m->valid[i], param);
	return least;
}

static bool is_step(const struct space_model *m, const int *from, const int *to) {
	for (size_t i = 0; i < m->params; i++)
		if (from[i] != SPACE_ABSENT && to[i] != SPACE_ABSENT && from[i] != to[i] &&
		    changes(m, from, to, i) == fewest(m, from, i, to[i]))
			return true;
	return false;
}

/* Does a neighbour have that level, with as few other changes as possible? */
static bool is_reached(const struct space_model *m, const int *from, size_t param, int level, const uint64_t *near,
                       size_t count) {
	size_t least = fewest(m, from, param, level);
	int to[PARAMS];
	for (size_t i = 0; i < count && least != SIZE_MAX; i++) {
		space_config(m->space, near[i], to);
		if (to[param] == level && changes(m, from, to, param) == least)
			return true;
	}
	return least == SIZE_MAX;
}

static bool is_distinct(const uint64_t *near, size_t count, uint64_t self, uint64_t valid) {
	for (size_t i = 0; i < count; i++) {
		if (near[i] == self || near[i] >= valid)
			return false;
		for (size_t j = 0; j < i; j++)
			if (near[i] == near[j])
				return false;
	}
	return true;
}

static bool near_agrees(const struct space_model *m, uint64_t index, enum space_near kind) {
	uint64_t near[NEAR_MAX], fewer[NEAR_MAX];
	int from[PARAMS], to[PARAMS];
	size_t count = space_near(m->space, index, kind, near, NEAR_MAX);
	bool good = is_distinct(near, count, index, m->valid_count);
	space_config(m->space, index, from);
	for (size_t i = 0; i < count && good; i++) {
		space_config(m->space, near[i], to);
		good = is_step(m, from, to);
	}
	for (size_t param = 0; param < m->params && good; param++) {
		bool all = kind == SPACE_HAMMING || !space_param_ordered(m->space, param);
		for (int level = 0; level < (int)m->counts[param] && all && good && from[param] != SPACE_ABSENT; level++)
			good = level == from[param] || is_reached(m, from, param, level, near, count);
	}
	size_t half = space_near(m->space, index, kind, fewer, count / 2);
	return good && half == count / 2 && memcmp(near, fewer, half * sizeof *near) == 0;
}

/* There must be one neighbour for every value that does not force another change. */
static bool plain_agrees(const struct space_model *m, uint64_t index) {
	uint64_t near[NEAR_MAX];
	int from[PARAMS];
	size_t count = space_near(m->space, index, SPACE_PLAIN, near, NEAR_MAX), expected = 0;
	bool good = is_distinct(near, count, index, m->valid_count);
	space_config(m->space, index, from);
	for (size_t param = 0; param < m->params && good; param++)
		for (int level = 0; level < (int)m->counts[param] && good && from[param] != SPACE_ABSENT; level++)
			if (level != from[param] && fewest(m, from, param, level) == 0) {
				expected++;
				good = is_reached(m, from, param, level, near, count);
			}
	return good && count == expected;
}

static bool is_strict(const struct space_model *m, const int *from, const int *to) {
	for (size_t i = 0; i < m->params; i++) {
		int middle = space_param_ordered(m->space, i) ? (int)(m->counts[i] - 1) / 2 : 0;
		int want = from[i] == SPACE_ABSENT ? middle : from[i];
		if (to[i] != SPACE_ABSENT && abs(to[i] - want) > 1)
			return false;
	}
	return true;
}

/* All strict neighbours must be there, those with few changes first. */
static bool strict_agrees(const struct space_model *m, uint64_t index) {
	uint64_t near[NEAR_MAX];
	int from[PARAMS], to[PARAMS];
	size_t count = space_near(m->space, index, SPACE_STRICT, near, NEAR_MAX), expected = 0, before = 0;
	bool good = is_distinct(near, count, index, m->valid_count);
	space_config(m->space, index, from);
	for (size_t i = 0; i < m->valid_count; i++)
		expected += is_strict(m, from, m->valid[i]);
	for (size_t i = 0; i < count && good; i++) {
		space_config(m->space, near[i], to);
		size_t own = changes(m, from, to, PARAMS);
		good = is_strict(m, from, to) && own >= before;
		before = own;
	}
	return good && count + 1 == expected; /* a configuration counts as near itself here */
}

static bool all_near_agree(const struct space_model *m) {
	for (uint64_t index = 0; index < m->valid_count; index += 1 + m->valid_count / 40)
		if (!near_agrees(m, index, SPACE_HAMMING) || !near_agrees(m, index, SPACE_ADJACENT) ||
		    !plain_agrees(m, index) || !strict_agrees(m, index))
			return false;
	return true;
}

static void model_print(const struct space_model *m) {
	for (size_t i = 0; i < m->params; i++)
		printf("# p%zu: %zu values, when %s\n", i, m->counts[i], m->when[i]);
	for (size_t i = 0; i < m->rule_count; i++)
		printf("# %s\n", m->rules[i]);
	printf("# table of %zu x %zu\n", m->table_rows, m->table_width);
}

int main(void) {
	struct rng rng;
	size_t full_tables = 0, empty = 0, counted = 0, numbered = 0, refused = 0, near = 0, conditional = 0;
	double worst = 0;
	rng_seed(&rng, 2024);
	for (size_t round = 0; round < SPACES; round++) {
		struct space_model m;
		struct err err = {0};
		space_model_make(&m, &rng);
		space_model_enumerate(&m);
		bool built_fine = space_build(m.space, &err) == 0;
		bool agrees = built_fine ? space_valid(m.space) == m.valid_count
		                         : m.valid_count == 0 && err.code == ERR_USAGE && strstr(err.what, "nothing meets");
		counted += agrees;
		if (!agrees) {
			printf("# round %zu: %llu counted, %zu enumerated, %s\n", round, (unsigned long long)space_valid(m.space),
			       m.valid_count, err.what);
			model_print(&m);
		}
		empty += m.valid_count == 0;
		if (agrees && m.valid_count > 0) {
			numbered += numbering_agrees(&m);
			refused += others_refused(&m);
			near += all_near_agree(&m);
			full_tables += m.table_width == m.params;
			worst = fmax(worst, fabs(sampling_deviation(&m, &rng)));
			for (size_t i = 0; i < m.params; i++)
				conditional += m.when[i][0] != 0;
		}
		free(m.valid);
		space_free(m.space);
	}
	size_t full = SPACES - empty;
	ok(counted == SPACES, "%d random spaces count the same as enumeration (%zu empty)", SPACES, empty);
	ok(full > SPACES / 4 && conditional > 20 && full_tables > 20,
	   "enough of them are not empty, have conditions or are tables (%zu, %zu, %zu)", full, conditional, full_tables);
	ok(numbered == full, "numbers and configurations go back and forth");
	ok(refused == full, "an invalid configuration does not have a number");
	ok(near == full, "neighbours of every kind are valid, distinct, near, and complete (%zu of %zu)", near, full);
	ok(worst < 6, "sampling is uniform (largest deviation %.2f)", worst);
	return tap_done();
}
