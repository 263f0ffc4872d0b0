/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The definition of a space: parameters, constants, constraints and tables. */
#include <config.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "tuner/space/domain.h"
#include "tuner/space/impl.h"

enum { NAME_MAX_LENGTH = 128, RULES_MAX = 4096 };

struct space *space_new(void) {
	struct space *space = mem_alloc(1, sizeof *space);
	space->arena = arena_new();
	return space;
}

void space_free(struct space *space) {
	if (!space)
		return;
	for (size_t i = 0; i < space->param_count; i++)
		expr_free(space->params[i].when);
	for (size_t i = 0; i < space->constraint_count; i++)
		expr_free(space->constraints[i].expr);
	diagram_free(space->diagram);
	free(space->constraints);
	free(space->constants);
	free(space->tables);
	arena_free(space->arena);
	free(space);
}

static int check_open(const struct space *space, struct err *err) {
	return space->diagram ? err_set(err, ERR_FAILED, NULL, "the space was built already") : 0;
}

static int check_name(const struct space *space, const char *name, struct err *err) {
	size_t size = strlen(name);
	bool good = size > 0 && size <= NAME_MAX_LENGTH && !isdigit((unsigned char)name[0]);
	for (size_t i = 0; good && i < size; i++)
		good = isalnum((unsigned char)name[i]) || name[i] == '_';
	if (!good)
		return err_set(err, ERR_USAGE, "use letters, digits and _, and do not begin with a digit",
		               "'%.100s' cannot be the name of a parameter", name);
	if (space_param_find(space, name) >= 0 || space_constant_find(space, name) >= 0)
		return err_set(err, ERR_USAGE, NULL, "the name '%s' is taken", name);
	return 0;
}

static int check_values(const char *name, const struct value *values, size_t count, struct err *err) {
	char text[64];
	if (count == 0 || count > DOMAIN_MAX)
		return err_set(err, ERR_USAGE, NULL, "'%s' has %zu values; it needs 1 to %d", name, count, DOMAIN_MAX);
	for (size_t i = 0; i < count; i++)
		if (values[i].type == VALUE_REAL && !isfinite(values[i].as.r))
			return err_set(err, ERR_USAGE, NULL, "'%s' has a value that is not finite", name);
	const struct value *twice = domain_duplicate(values, count);
	if (!twice)
		return 0;
	value_text(*twice, text, sizeof text);
	return err_set(err, ERR_USAGE, NULL, "'%s' has the value '%s' twice", name, text);
}

static struct value keep_value(struct space *space, struct value value) {
	return value.type == VALUE_WORD ? value_word(arena_strdup(space->arena, value.as.w)) : value;
}

int space_add_param(struct space *space, const char *name, const char *summary, const struct value *values,
                    size_t count, const char *when, struct err *err) {
	if (check_open(space, err) != 0 || check_name(space, name, err) != 0 || check_values(name, values, count, err) != 0)
		return -1;
	if (space->param_count == SPACE_PARAMS_MAX)
		return err_set(err, ERR_USAGE, NULL, "more than %d parameters", SPACE_PARAMS_MAX);
	struct space_param param = {.count = count, .ordered = true};
	if (when && !(param.when = expr_parse(when, err)))
		return err_prefix(err, "the condition of '%s'", name);
	param.name = arena_strdup(space->arena, name);
	param.summary = arena_strdup(space->arena, summary ? summary : "");
	param.values = arena_alloc(space->arena, count, sizeof *param.values);
	for (size_t i = 0; i < count; i++) {
		param.values[i] = keep_value(space, values[i]);
		param.ordered &= values[i].type != VALUE_WORD;
	}
	space->params[space->param_count++] = param;
	return 0;
}

int space_add_constant(struct space *space, const char *name, struct value value, struct err *err) {
	if (check_open(space, err) != 0 || check_name(space, name, err) != 0)
		return -1;
	if (space->constant_count == RULES_MAX)
		return err_set(err, ERR_USAGE, NULL, "more than %d constants", RULES_MAX);
	space->constants = mem_grow(space->constants, space->constant_count + 1, sizeof *space->constants);
	space->constants[space->constant_count++] =
		(struct space_constant){arena_strdup(space->arena, name), keep_value(space, value)};
	return 0;
}

int space_add_constraint(struct space *space, const char *expression, struct err *err) {
	if (check_open(space, err) != 0)
		return -1;
	if (space->constraint_count == RULES_MAX)
		return err_set(err, ERR_USAGE, NULL, "more than %d constraints", RULES_MAX);
	struct expr *expr = expr_parse(expression, err);
	if (!expr)
		return -1;
	space->constraints = mem_grow(space->constraints, space->constraint_count + 1, sizeof *space->constraints);
	space->constraints[space->constraint_count++] = (struct space_rule){.expr = expr};
	return 0;
}

int space_add_table(struct space *space, const char *const *names, size_t name_count, const int *rows, size_t row_count,
                    struct err *err) {
	if (check_open(space, err) != 0)
		return -1;
	if (name_count == 0 || name_count > SPACE_PARAMS_MAX || row_count > SPACE_ROWS_MAX ||
	    space->table_count == RULES_MAX)
		return err_set(err, ERR_USAGE, NULL, "a table of %zu names and %zu rows is out of bounds", name_count,
		               row_count);
	struct space_table table = {.name_count = name_count, .row_count = row_count};
	table.names = arena_alloc(space->arena, name_count, sizeof(const char *));
	for (size_t i = 0; i < name_count; i++)
		table.names[i] = arena_strdup(space->arena, names[i]);
	table.rows = arena_alloc(space->arena, row_count, name_count * sizeof *table.rows);
	if (row_count)
		memcpy(table.rows, rows, row_count * name_count * sizeof *table.rows);
	space->tables = mem_grow(space->tables, space->table_count + 1, sizeof *space->tables);
	space->tables[space->table_count++] = table;
	return 0;
}

size_t space_params(const struct space *space) {
	return space->param_count;
}

const char *space_param_name(const struct space *space, size_t param) {
	return space->params[param].name;
}

const char *space_param_when(const struct space *space, size_t param) {
	return space->params[param].when ? expr_source(space->params[param].when) : NULL;
}

int space_param_find(const struct space *space, const char *name) {
	for (size_t i = 0; i < space->param_count; i++)
		if (strcmp(space->params[i].name, name) == 0)
			return (int)i;
	return -1;
}

int space_constant_find(const struct space *space, const char *name) {
	for (size_t i = 0; i < space->constant_count; i++)
		if (strcmp(space->constants[i].name, name) == 0)
			return (int)i;
	return -1;
}

const char *space_name_near(const struct space *space, const char *name, bool constants) {
	size_t count = 0;
	const char **known = mem_alloc(space->param_count + space->constant_count, sizeof *known);
	for (size_t i = 0; i < space->param_count; i++)
		known[count++] = space->params[i].name;
	for (size_t i = 0; constants && i < space->constant_count; i++)
		known[count++] = space->constants[i].name;
	const char *near = near_word(name, known, count);
	free(known);
	return near;
}

size_t space_param_values(const struct space *space, size_t param) {
	return space->params[param].count;
}

struct value space_param_value(const struct space *space, size_t param, size_t level) {
	return space->params[param].values[level];
}

bool space_param_ordered(const struct space *space, size_t param) {
	return space->params[param].ordered;
}

double space_cartesian(const struct space *space) {
	double product = 1;
	for (size_t i = 0; i < space->param_count; i++)
		product *= (double)space->params[i].count;
	return product;
}
