/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random small spaces against enumeration: count, numbering, sampling, neighbours. */
#include <config.h>

#include <math.h>

#include "tests/tap.h"
#include "tests/tuner/space_help.h"
#include "src/base/expr.h"

enum { SPACES = 600, PARAMS = 6, RULES = 5, ROWS = 12, ROWS_FULL = 300 };
enum { COMBINATIONS = 46656, NEAR_MAX = 1024 };

/* The space once more, as plain as can be. */
struct model {
	struct space *space;
	size_t params, counts[PARAMS];
	struct value values[PARAMS][5];
	char names[PARAMS][4], when[PARAMS][128], rules[RULES][128];
	size_t rule_count;
	const char *table_names[PARAMS];
	int table_params[PARAMS], table[ROWS_FULL * PARAMS];
	size_t table_width, table_rows;
	int (*valid)[PARAMS];
	size_t valid_count;
};

static const char *const words[] = {"red", "green", "blue", "grey", "pink"};

static size_t below(struct rng *rng, size_t bound) {
	return rng_below(rng, bound);
}

static void random_values(struct model *m, struct rng *rng, size_t param) {
	size_t kind = below(rng, 5);
	m->counts[param] = 1 + below(rng, 5);
	for (size_t i = 0; i < m->counts[param]; i++) {
		m->values[param][i] = kind == 0   ? value_word(words[i])
		                      : kind == 1 ? value_real((double)i * 0.75 - 0.5)
		                                  : value_int((int64_t)(i * (1 + param % 2)) + (kind == 2 ? -1 : 1));
	}
}

static const char *some(struct model *m, struct rng *rng, size_t below_param) {
	return m->names[below(rng, below_param)];
}

static void random_rule(struct model *m, struct rng *rng, size_t among, char *text, size_t size) {
	const char *a = some(m, rng, among), *b = some(m, rng, among), *c = some(m, rng, among), *d = some(m, rng, among);
	int k = (int)below(rng, 12);
	switch (below(rng, 20)) {
	case 0: snprintf(text, size, "%s <= %s", a, b); break;
	case 14: snprintf(text, size, "k == 3 and k > %d and k == 3 and k < 9", k / 6); break;
	case 15: snprintf(text, size, "k == 3 and k == 3 and k == 3 and %s < %d", a, k); break;
	case 1: snprintf(text, size, "%s * %s <= %d", a, b, k); break;
	case 2: snprintf(text, size, "%s * %s * %s > %d", a, b, c, k); break;
	case 3: snprintf(text, size, "%s + %s - %s != %d", a, b, c, k); break;
	case 4: snprintf(text, size, "%s == 0 or %s %% %s == 0", a, b, a); break;
	case 5: snprintf(text, size, "%s != 'red' and %s < %d", a, b, k); break;
	case 6: snprintf(text, size, "%s in [1, 2, 'blue', %s]", a, b); break;
	case 7: snprintf(text, size, "0 <= %s <= %s < %d", a, b, k); break;
	case 8: snprintf(text, size, "not (%s > %s and %s == %s)", a, b, c, d); break;
	case 9: snprintf(text, size, "%d >= 2 * %s * %s", k, a, b); break;
	case 10: snprintf(text, size, "(%s + 2) * (%s + 3) * (%s + 2) < %d", a, b, c, 10 * k); break;
	case 11: snprintf(text, size, "min(%s, %s) <= %s // 2 + k", a, b, c); break;
	case 16: snprintf(text, size, "%s <= %d if %s > 1 else %s + %s > 2", a, k, b, c, d); break;
	case 17: snprintf(text, size, "(%s & %s | 1) << 1 > %d", a, b, k); break;
	case 18: snprintf(text, size, "int(%s / 2) + round(%s * 0.5) in range(0, %d)", a, b, 2 + k); break;
	case 19: snprintf(text, size, "any([%s > 2, %s ^ %s == 3]) or all([%s, %s])", a, b, c, b, c); break;
	case 12: snprintf(text, size, "k > %d or %s ** 2 >= %s", k, a, b); break;
	default: snprintf(text, size, "%s != %s", a, b); break;
	}
}

static void random_table(struct model *m, struct rng *rng) {
	m->table_width = 0;
	if (m->params < 2 || below(rng, 2) != 0)
		return;
	size_t first = below(rng, m->params), width = 2 + (m->params > 2 && below(rng, 2));
	bool full = below(rng, 2);
	width = full ? m->params : width;
	for (size_t i = 0; i < width; i++) {
		m->table_params[i] = (int)((first + i) % m->params);
		m->table_names[i] = m->names[m->table_params[i]];
	}
	m->table_width = width;
	m->table_rows = 1 + below(rng, full ? ROWS_FULL : ROWS);
	for (size_t i = 0; i < m->table_rows * width; i++) {
		size_t param = (size_t)m->table_params[i % width];
		bool absent = m->when[param][0] && below(rng, 3) == 0;
		m->table[i] = absent ? SPACE_ABSENT : (int)below(rng, m->counts[param]);
	}
}

/* Parameters' conditions look at those before them; or, half the time, at those after them. */
static void model_make(struct model *m, struct rng *rng) {
	struct err err;
	*m = (struct model){.space = space_new(), .params = 1 + below(rng, PARAMS)};
	bool backwards = below(rng, 2);
	for (size_t i = 0; i < m->params; i++) {
		m->names[i][0] = 'p';
		m->names[i][1] = (char)('0' + i);
		random_values(m, rng, i);
	}
	for (size_t i = 0; i < m->params; i++) {
		size_t before = backwards ? m->params - 1 - i : i;
		if (before == 0 || below(rng, 3) != 0)
			continue;
		struct model part = *m;
		for (size_t j = 0; backwards && j < before; j++)
			memcpy(part.names[j], m->names[m->params - 1 - j], sizeof part.names[j]);
		random_rule(&part, rng, before, m->when[i], sizeof m->when[i]);
	}
	m->rule_count = below(rng, RULES);
	for (size_t i = 0; i < m->rule_count; i++)
		random_rule(m, rng, m->params, m->rules[i], sizeof m->rules[i]);
	random_table(m, rng);
	must(space_add_constant(m->space, "k", value_int(3), &err), &err);
	for (size_t i = 0; i < m->params; i++)
		must(space_add_param(m->space, m->names[i], "", m->values[i], m->counts[i], m->when[i][0] ? m->when[i] : NULL,
		                     &err),
		     &err);
	for (size_t i = 0; i < m->rule_count; i++)
		add_constraint(m->space, m->rules[i]);
	if (m->table_width)
		must(space_add_table(m->space, m->table_names, m->table_width, m->table, m->table_rows, &err), &err);
}

/* 1 holds, 0 does not, -1 mentions an absent parameter */
static int rule_value(const struct model *m, const struct expr *expr, const int *config) {
	struct value values[PARAMS + 1];
	for (size_t i = 0; i < expr_name_count(expr); i++) {
		const char *name = expr_name(expr, i);
		if (name[0] == 'k') {
			values[i] = value_int(3);
			continue;
		}
		int param = name[1] - '0';
		if (config[param] == SPACE_ABSENT)
			return -1;
		values[i] = m->values[param][config[param]];
	}
	return expr_holds(expr, values);
}

static bool table_has(const struct model *m, const int *config) {
	for (size_t row = 0; row < m->table_rows; row++) {
		bool same = true;
		for (size_t i = 0; i < m->table_width; i++)
			same &= m->table[row * m->table_width + i] == config[m->table_params[i]];
		if (same)
			return true;
	}
	return m->table_width == 0;
}

static bool model_valid(const struct model *m, struct expr **whens, struct expr **rules, const int *config) {
	for (size_t i = 0; i < m->params; i++)
		if ((config[i] != SPACE_ABSENT) != (!whens[i] || rule_value(m, whens[i], config) == 1))
			return false;
	for (size_t i = 0; i < m->rule_count; i++)
		if (rule_value(m, rules[i], config) == 0)
			return false;
	return table_has(m, config);
}

static bool next_config(const struct model *m, int *config) {
	for (size_t i = 0; i < m->params; i++) {
		if (++config[i] < (int)m->counts[i])
			return true;
		config[i] = m->when[i][0] ? SPACE_ABSENT : 0;
	}
	return false;
}

static void enumerate(struct model *m) {
	struct expr *whens[PARAMS] = {0}, *rules[RULES] = {0};
	int config[PARAMS] = {0};
	for (size_t i = 0; i < m->params; i++) {
		whens[i] = m->when[i][0] ? expr_parse(m->when[i], NULL) : NULL;
		config[i] = whens[i] ? SPACE_ABSENT : 0;
	}
	for (size_t i = 0; i < m->rule_count; i++)
		rules[i] = expr_parse(m->rules[i], NULL);
	m->valid = mem_alloc(COMBINATIONS, sizeof *m->valid);
	do
		if (model_valid(m, whens, rules, config))
			memcpy(m->valid[m->valid_count++], config, sizeof config);
	while (next_config(m, config));
	for (size_t i = 0; i < PARAMS; i++)
		expr_free(whens[i]);
	for (size_t i = 0; i < RULES; i++)
		expr_free(rules[i]);
}

static bool numbering_agrees(const struct model *m) {
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

/* Every combination that is not valid is refused, places out of range too. */
static bool others_refused(const struct model *m) {
	int config[PARAMS] = {0};
	size_t accepted = 0;
	uint64_t index;
	for (size_t i = 0; i < m->params; i++)
		config[i] = m->when[i][0] ? SPACE_ABSENT : 0;
	do
		accepted += space_index(m->space, config, &index);
	while (next_config(m, config));
	for (int bad = -3; bad < 9; bad++) {
		space_config(m->space, 0, config);
		config[m->params - 1] = bad;
		if (bad < -1 || bad >= (int)m->counts[m->params - 1])
			accepted += space_index(m->space, config, &index);
	}
	return accepted == m->valid_count;
}

/* Chi-square of 30 draws for each configuration, as a deviation of about unit variance. */
static double sampling_deviation(const struct model *m, struct rng *rng) {
	size_t *hits = mem_alloc(m->valid_count, sizeof *hits), draws = 30 * m->valid_count;
	double chi = 0, freedom = (double)m->valid_count - 1;
	for (size_t i = 0; i < draws; i++)
		hits[space_sample(m->space, rng)]++;
	for (size_t i = 0; i < m->valid_count; i++)
		chi += ((double)hits[i] - 30) * ((double)hits[i] - 30) / 30;
	free(hits);
	return freedom > 0 ? (chi - freedom) / sqrt(2 * freedom) : 0;
}

/* Parameters other than `param` that are in both and differ. */
static size_t changes(const struct model *m, const int *a, const int *b, size_t param) {
	size_t count = 0;
	for (size_t i = 0; i < m->params; i++)
		count += i != param && a[i] != b[i] && a[i] != SPACE_ABSENT && b[i] != SPACE_ABSENT;
	return count;
}

/* The fewest other changes that give `param` that place; SIZE_MAX where no valid configuration has it. */
static size_t fewest(const struct model *m, const int *from, size_t param, int place) {
	size_t least = SIZE_MAX;
	for (size_t i = 0; i < m->valid_count; i++)
		if (m->valid[i][param] == place && changes(m, from, m->valid[i], param) < least)
			least = changes(m, from, m->valid[i], param);
	return least;
}

static bool is_step(const struct model *m, const int *from, const int *to) {
	for (size_t i = 0; i < m->params; i++)
		if (from[i] != SPACE_ABSENT && to[i] != SPACE_ABSENT && from[i] != to[i] &&
		    changes(m, from, to, i) == fewest(m, from, i, to[i]))
			return true;
	return false;
}

/* Does some neighbour have `place`, with as few other changes as can be? */
static bool is_reached(const struct model *m, const int *from, size_t param, int place, const uint64_t *near,
                       size_t count) {
	size_t least = fewest(m, from, param, place);
	int to[PARAMS];
	for (size_t i = 0; i < count && least != SIZE_MAX; i++) {
		space_config(m->space, near[i], to);
		if (to[param] == place && changes(m, from, to, param) == least)
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

static bool near_agrees(const struct model *m, uint64_t index, enum space_near kind) {
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
		for (int place = 0; place < (int)m->counts[param] && all && good && from[param] != SPACE_ABSENT; place++)
			good = place == from[param] || is_reached(m, from, param, place, near, count);
	}
	size_t half = space_near(m->space, index, kind, fewer, count / 2);
	return good && half == count / 2 && memcmp(near, fewer, half * sizeof *near) == 0;
}

/* One for every value that takes no other change along. */
static bool plain_agrees(const struct model *m, uint64_t index) {
	uint64_t near[NEAR_MAX];
	int from[PARAMS];
	size_t count = space_near(m->space, index, SPACE_PLAIN, near, NEAR_MAX), expected = 0;
	bool good = is_distinct(near, count, index, m->valid_count);
	space_config(m->space, index, from);
	for (size_t param = 0; param < m->params && good; param++)
		for (int place = 0; place < (int)m->counts[param] && good && from[param] != SPACE_ABSENT; place++)
			if (place != from[param] && fewest(m, from, param, place) == 0) {
				expected++;
				good = is_reached(m, from, param, place, near, count);
			}
	return good && count == expected;
}

static bool is_strict(const struct model *m, const int *from, const int *to) {
	for (size_t i = 0; i < m->params; i++) {
		int middle = space_param_ordered(m->space, i) ? (int)(m->counts[i] - 1) / 2 : 0;
		int want = from[i] == SPACE_ABSENT ? middle : from[i];
		if (to[i] != SPACE_ABSENT && abs(to[i] - want) > 1)
			return false;
	}
	return true;
}

/* All of them, those with few changes first. */
static bool strict_agrees(const struct model *m, uint64_t index) {
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
	return good && count + 1 == expected; /* it is near itself */
}

static bool all_near_agree(const struct model *m) {
	for (uint64_t index = 0; index < m->valid_count; index += 1 + m->valid_count / 40)
		if (!near_agrees(m, index, SPACE_HAMMING) || !near_agrees(m, index, SPACE_ADJACENT) ||
		    !plain_agrees(m, index) || !strict_agrees(m, index))
			return false;
	return true;
}

static void model_print(const struct model *m) {
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
		struct model m;
		struct err err = {0};
		model_make(&m, &rng);
		enumerate(&m);
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
	ok(counted == SPACES, "%d random spaces count what enumeration counts (%zu empty)", SPACES, empty);
	ok(full > SPACES / 4 && conditional > 20 && full_tables > 20,
	   "enough of them are not empty, have conditions or are tables (%zu, %zu, %zu)", full, conditional, full_tables);
	ok(numbered == full, "numbers and configurations go back and forth");
	ok(refused == full, "what is not valid has no number");
	ok(near == full, "neighbours of every kind are valid, distinct, near, and complete (%zu of %zu)", near, full);
	ok(worst < 6, "sampling is uniform (largest deviation %.2f)", worst);
	return tap_done();
}
