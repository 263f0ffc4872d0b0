/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/tuner/space/model.h"

#include <stdio.h>
#include <string.h>

#include "base/expr/expr.h"
#include "tests/tuner/space/help.h"

enum { ROWS = 12, COMBINATIONS = 46656 };

static const char *const words[] = {"red", "green", "blue", "grey", "pink"};

static size_t below(struct rng *rng, size_t bound) {
	return rng_below(rng, bound);
}

static void random_values(struct space_model *m, struct rng *rng, size_t param) {
	size_t kind = below(rng, 5);
	m->counts[param] = 1 + below(rng, 5);
	for (size_t i = 0; i < m->counts[param]; i++) {
		m->values[param][i] = kind == 0   ? value_word(words[i])
		                      : kind == 1 ? value_real((double)i * 0.75 - 0.5)
		                                  : value_int((int64_t)(i * (1 + param % 2)) + (kind == 2 ? -1 : 1));
	}
}

static const char *some(struct space_model *m, struct rng *rng, size_t below_param) {
	return m->names[below(rng, below_param)];
}

static void random_rule(struct space_model *m, struct rng *rng, size_t among, char *text, size_t size) {
	const char *a = some(m, rng, among), *b = some(m, rng, among), *c = some(m, rng, among), *d = some(m, rng, among);
	int k = (int)below(rng, 12);
	switch (below(rng, 20)) {
	case 0:
		snprintf(text, size, "%s <= %s", a, b);
		break;
	case 14:
		snprintf(text, size, "k == 3 and k > %d and k == 3 and k < 9", k / 6);
		break;
	case 15:
		snprintf(text, size, "k == 3 and k == 3 and k == 3 and %s < %d", a, k);
		break;
	case 1:
		snprintf(text, size, "%s * %s <= %d", a, b, k);
		break;
	case 2:
		snprintf(text, size, "%s * %s * %s > %d", a, b, c, k);
		break;
	case 3:
		snprintf(text, size, "%s + %s - %s != %d", a, b, c, k);
		break;
	case 4:
		snprintf(text, size, "%s == 0 or %s %% %s == 0", a, b, a);
		break;
	case 5:
		snprintf(text, size, "%s != 'red' and %s < %d", a, b, k);
		break;
	case 6:
		snprintf(text, size, "%s in [1, 2, 'blue', %s]", a, b);
		break;
	case 7:
		snprintf(text, size, "0 <= %s <= %s < %d", a, b, k);
		break;
	case 8:
		snprintf(text, size, "not (%s > %s and %s == %s)", a, b, c, d);
		break;
	case 9:
		snprintf(text, size, "%d >= 2 * %s * %s", k, a, b);
		break;
	case 10:
		snprintf(text, size, "(%s + 2) * (%s + 3) * (%s + 2) < %d", a, b, c, 10 * k);
		break;
	case 11:
		snprintf(text, size, "min(%s, %s) <= %s // 2 + k", a, b, c);
		break;
	case 16:
		snprintf(text, size, "%s <= %d if %s > 1 else %s + %s > 2", a, k, b, c, d);
		break;
	case 17:
		snprintf(text, size, "(%s & %s | 1) << 1 > %d", a, b, k);
		break;
	case 18:
		snprintf(text, size, "int(%s / 2) + round(%s * 0.5) in range(0, %d)", a, b, 2 + k);
		break;
	case 19:
		snprintf(text, size, "any([%s > 2, %s ^ %s == 3]) or all([%s, %s])", a, b, c, b, c);
		break;
	case 12:
		snprintf(text, size, "k > %d or %s ** 2 >= %s", k, a, b);
		break;
	default:
		snprintf(text, size, "%s != %s", a, b);
		break;
	}
}

static void random_table(struct space_model *m, struct rng *rng) {
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

void space_model_make(struct space_model *m, struct rng *rng) {
	struct err err;
	*m = (struct space_model){.space = space_new(), .params = 1 + below(rng, PARAMS)};
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
		struct space_model part = *m;
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

/* 1: it holds; 0: it does not; -1: it mentions an absent parameter */
static int rule_value(const struct space_model *m, const struct expr *expr, const int *config) {
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

static bool table_has(const struct space_model *m, const int *config) {
	for (size_t row = 0; row < m->table_rows; row++) {
		bool same = true;
		for (size_t i = 0; i < m->table_width; i++)
			same &= m->table[row * m->table_width + i] == config[m->table_params[i]];
		if (same)
			return true;
	}
	return m->table_width == 0;
}

static bool model_valid(const struct space_model *m, struct expr **whens, struct expr **rules, const int *config) {
	for (size_t i = 0; i < m->params; i++)
		if ((config[i] != SPACE_ABSENT) != (!whens[i] || rule_value(m, whens[i], config) == 1))
			return false;
	for (size_t i = 0; i < m->rule_count; i++)
		if (rule_value(m, rules[i], config) == 0)
			return false;
	return table_has(m, config);
}

bool space_model_next(const struct space_model *m, int *config) {
	for (size_t i = 0; i < m->params; i++) {
		if (++config[i] < (int)m->counts[i])
			return true;
		config[i] = m->when[i][0] ? SPACE_ABSENT : 0;
	}
	return false;
}

void space_model_enumerate(struct space_model *m) {
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
	while (space_model_next(m, config));
	for (size_t i = 0; i < PARAMS; i++)
		expr_free(whens[i]);
	for (size_t i = 0; i < RULES; i++)
		expr_free(rules[i]);
}
