/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resolves names in expressions and tables to parameters and constants, and refuses circular conditions. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "tuner/space/domain.h"
#include "tuner/space/impl.h"

#define BIT(param) (UINT64_C(1) << (param))

static bool is_some_word(const struct space *space, const char *name) {
	for (size_t i = 0; i < space->param_count; i++)
		for (size_t j = 0; j < space->params[i].count && !space->params[i].ordered; j++)
			if (value_equal(space->params[i].values[j], value_word(name)))
				return true;
	return false;
}

/* Like snprintf, what does not fit is left out; the last name may be cut. */
static void names_list(const struct space *space, char *text, size_t size) {
	size_t used = 0;
	*text = '\0';
	for (size_t i = 0; i < space->param_count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", space->params[i].name);
}

static int unknown_name(const struct space *space, const char *name, const char *where, struct err *err) {
	const char *near = space_name_near(space, name, true);
	char names[400];
	names_list(space, names, sizeof names);
	err_set(err, ERR_USAGE, NULL, "unknown parameter '%.100s' in '%.300s'", name, where);
	if (is_some_word(space, name))
		err_hint(err, "words go in quotes: '%s'", name);
	else if (near)
		err_hint(err, "did you mean '%s'?", near);
	else if (*names)
		err_hint(err, "the parameters are %s", names);
	return -1;
}

static int bind_rule(struct space *space, struct space_rule *rule, struct err *err) {
	size_t count = expr_name_count(rule->expr);
	rule->bind = arena_alloc(space->arena, count, sizeof *rule->bind);
	rule->mask = 0;
	for (size_t i = 0; i < count; i++) {
		const char *name = expr_name(rule->expr, i);
		int param = space_param_find(space, name), constant = space_constant_find(space, name);
		if (param < 0 && constant < 0)
			return unknown_name(space, name, expr_source(rule->expr), err);
		rule->bind[i] = param >= 0 ? param : -1 - constant;
		rule->mask |= param >= 0 ? BIT(param) : 0;
	}
	return 0;
}

static int check_column(const struct space *space, const struct space_table *table, size_t column, struct err *err) {
	int param = table->bind[column];
	const struct space_param *p = &space->params[param];
	for (size_t row = 0; row < table->row_count; row++) {
		int level = table->rows[row * table->name_count + column];
		if (level == SPACE_ABSENT && !p->when)
			return err_set(err, ERR_USAGE, NULL, "a table leaves out '%s', which is not conditional", p->name);
		if (level != SPACE_ABSENT && (level < 0 || (size_t)level >= p->count))
			return err_set(err, ERR_USAGE, NULL, "a table has value number %d of '%s', which has %zu values", level,
			               p->name, p->count);
	}
	return 0;
}

static int bind_table(struct space *space, struct space_table *table, struct err *err) {
	table->bind = arena_alloc(space->arena, table->name_count, sizeof *table->bind);
	table->mask = 0;
	for (size_t i = 0; i < table->name_count; i++) {
		int param = space_param_find(space, table->names[i]);
		if (param < 0)
			return unknown_name(space, table->names[i], "a table", err);
		if (table->mask & BIT(param))
			return err_set(err, ERR_USAGE, NULL, "a table names '%s' twice", table->names[i]);
		table->bind[i] = param;
		table->mask |= BIT(param);
		if (check_column(space, table, i, err) != 0)
			return -1;
	}
	if (table->name_count < space->param_count && table->row_count > DOMAIN_MAX)
		return err_set(err, ERR_USAGE, NULL, "a table of some parameters has %zu rows, more than %d", table->row_count,
		               DOMAIN_MAX);
	return 0;
}

/* Removes parameters whose conditions depend on removed ones only; those that remain form a cycle (Kahn, Topological
 * sorting of large networks, 1962). */
static int check_circles(const struct space *space, struct err *err) {
	uint64_t settled = 0, before;
	char names[256] = "";
	do {
		before = settled;
		for (size_t i = 0; i < space->param_count; i++)
			if (!(space->whens[i].mask & ~settled))
				settled |= BIT(i);
	} while (settled != before);
	for (size_t i = 0; i < space->param_count; i++) {
		size_t used = strlen(names);
		if (!(settled & BIT(i)))
			snprintf(names + used, sizeof names - used, "%s'%s'", used ? ", " : "", space->params[i].name);
	}
	if (!names[0])
		return 0;
	return err_set(err, ERR_USAGE,
	               "the condition of a parameter must not depend on the parameter itself, not even through another one",
	               "circular conditions: %s", names);
}

int space_bind(struct space *space, struct err *err) {
	for (size_t i = 0; i < space->param_count; i++) {
		space->whens[i].expr = space->params[i].when;
		if (space->params[i].when && bind_rule(space, &space->whens[i], err) != 0)
			return err_prefix(err, "the condition of '%s'", space->params[i].name);
	}
	for (size_t i = 0; i < space->constraint_count; i++)
		if (bind_rule(space, &space->constraints[i], err) != 0)
			return -1;
	for (size_t i = 0; i < space->table_count; i++)
		if (bind_table(space, &space->tables[i], err) != 0)
			return -1;
	return check_circles(space, err);
}

const char *space_rule_text(const struct space *space, size_t rule, char *text, size_t size) {
	if (rule < space->constraint_count) {
		snprintf(text, size, "%s", expr_source(space->constraints[rule].expr));
		return text;
	}
	const struct space_table *table = &space->tables[rule - space->constraint_count];
	size_t used = (size_t)snprintf(text, size, "the table of");
	for (size_t i = 0; i < table->name_count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s %s", i ? "," : "", table->names[i]);
	return text;
}
