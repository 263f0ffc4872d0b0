/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The definition of a space: parameters, constants, constraints and tables. */
#include <ctype.h>
#include <math.h>

#include "base/text.h"
#include "tuner/space/space_impl.h"

enum { NAME_MAX_LENGTH = 128, RULES_MAX = 4096 };
/* The configurations that are kept of a space that cannot be counted, and those that are drawn at most. */
enum { SAMPLED_MAX = 1 << 14, DRAWS_MAX = 1 << 22 };

struct space *space_new(void) {
	struct space *space = mem_alloc(1, sizeof *space);
	space->arena = arena_new();
	return space;
}

void space_names_any(struct space *space) {
	space->any_names = true;
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

static int space_constant_find(const struct space *space, const char *name);

static int check_name(const struct space *space, const char *name, struct err *err) {
	size_t size = strlen(name);
	bool any = space->any_names,
		 good = size > 0 && size <= NAME_MAX_LENGTH && (any || !isdigit((unsigned char)name[0]));
	for (size_t i = 0; good && i < size; i++)
		good = any ? !iscntrl((unsigned char)name[i]) : isalnum((unsigned char)name[i]) || name[i] == '_';
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

static int space_constant_find(const struct space *space, const char *name) {
	for (size_t i = 0; i < space->constant_count; i++)
		if (strcmp(space->constants[i].name, name) == 0)
			return (int)i;
	return -1;
}

const char *space_name_near(const struct space *space, const char *name, bool constants) {
	size_t count = 0;
	mem_auto const char **known = mem_alloc(space->param_count + space->constant_count, sizeof *known);
	for (size_t i = 0; i < space->param_count; i++)
		known[count++] = space->params[i].name;
	for (size_t i = 0; constants && i < space->constant_count; i++)
		known[count++] = space->constants[i].name;
	return near_word(name, known, count);
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

/* Resolves names in expressions and tables to parameters and constants, and refuses circular conditions. */
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

/* Sets bind and mask of all rules and tables. */
static int space_bind(struct space *space, struct err *err) {
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

static size_t rule_count(const struct space *space) {
	return space->constraint_count + space->table_count;
}

/* Is the space empty without the rules that are off? */
static bool is_empty_without(const struct space *space, const bool *off) {
	enum diagram_status status;
	struct diagram *diagram = diagram_new(space, off, &status);
	bool empty = diagram && diagram->root == DIAGRAM_DEAD;
	diagram_free(diagram);
	return empty;
}

/* Keeps a minimal set of rules that makes the space empty, because that is what the user has to change: each rule is
 * dropped for good if the space stays empty without it. A single rule that is enough is looked for first. */
static size_t find_guilty(const struct space *space, bool *off) {
	size_t count = rule_count(space), left = 0;
	for (size_t i = 0; i < count; i++) {
		memset(off, 1, count);
		off[i] = false;
		if (is_empty_without(space, off))
			return 1;
	}
	memset(off, 0, count);
	for (size_t i = 0; i < count; i++) {
		off[i] = true;
		if (!is_empty_without(space, off)) {
			off[i] = false;
			left++;
		}
	}
	return left;
}

static int report_empty(const struct space *space, struct err *err) {
	size_t count = rule_count(space), used = 0;
	char text[160], list[400] = "";
	mem_auto bool *off = mem_alloc(count, sizeof *off);
	size_t guilty = find_guilty(space, off);
	for (size_t i = 0; i < count && used < sizeof list - 1; i++) {
		if (off[i])
			continue;
		const char *rule = space_rule_text(space, i, text, sizeof text);
		used += (size_t)snprintf(list + used, sizeof list - used, "%s'%s'", used ? " and " : "", rule);
	}
	if (guilty == 1)
		return err_set(err, ERR_USAGE, "no values of its parameters satisfy it: widen their ranges or drop it",
		               "the space is empty: nothing meets %s", list);
	return err_set(err, ERR_USAGE, "drop one of them or widen the ranges",
	               "the space is empty: nothing meets %s together", list);
}

/* Leaves out the constraints of most parameters until the others can be counted. */
static struct diagram *count_some(const struct space *space, bool *off, enum diagram_status *status) {
	struct diagram *diagram = NULL;
	do {
		size_t widest = space->constraint_count;
		for (size_t i = 0; i < space->constraint_count; i++)
			if (!off[i] &&
			    (widest == space->constraint_count || __builtin_popcountll(space->constraints[i].mask) >
			                                              __builtin_popcountll(space->constraints[widest].mask)))
				widest = i;
		if (widest == space->constraint_count)
			return NULL;
		off[widest] = true;
	} while (!(diagram = diagram_new(space, off, status)) && *status == DIAGRAM_ENTANGLED);
	return diagram;
}

static bool holds_all(const struct space *space, const bool *rules, const int *config) {
	for (size_t i = 0; i < space->constraint_count; i++)
		if (rules[i] && space_rule_holds(space, &space->constraints[i], config) == 0)
			return false;
	return true;
}

/* Draws configurations that meet the constraints that can be counted, and keeps those that meet the others as well.
 * Returns how many; draws: how many it took. */
static size_t draw_valid(const struct space *space, const bool *others, int *rows, size_t *draws) {
	struct rng rng;
	size_t kept = 0;
	rng_seed(&rng, 1);
	for (*draws = 0; *draws < DRAWS_MAX && kept < SAMPLED_MAX && !stop_asked(); ++*draws) {
		int *config = rows + kept * space->param_count;
		space_config(space, space_sample(space, &rng), config);
		kept += holds_all(space, others, config);
	}
	return kept;
}

/* Makes the space a list of configurations that were drawn. */
static struct diagram *sampled(struct space *space, enum diagram_status *status) {
	mem_auto bool *off = mem_alloc(rule_count(space) + 1, sizeof *off);
	mem_auto int *rows = mem_alloc((SAMPLED_MAX + 1) * space->param_count, sizeof *rows);
	const char *names[SPACE_PARAMS_MAX];
	size_t draws = 0, kept = 0;
	struct diagram *diagram = NULL;
	for (size_t i = 0; i < space->param_count; i++)
		names[i] = space->params[i].name;
	space->diagram = count_some(space, off, status);
	if (space->diagram && space->diagram->root != DIAGRAM_DEAD)
		kept = draw_valid(space, off, rows, &draws);
	double all = (double)space_valid(space);
	diagram_free(space->diagram);
	space->diagram = NULL;
	*status = stop_asked() ? DIAGRAM_STOPPED : DIAGRAM_ENTANGLED;
	size_t rules = rule_count(space);
	if (kept && space_add_table(space, names, space->param_count, rows, kept, NULL) == 0 &&
	    bind_table(space, &space->tables[space->table_count - 1], NULL) == 0) {
		memset(off, 1, rules);
		diagram = diagram_new(space, off, status);
		space->estimate = all * (double)kept / (double)draws;
	}
	return diagram;
}

double space_estimate(const struct space *space) {
	return space->estimate;
}

int space_build(struct space *space, struct err *err) {
	enum diagram_status status;
	if (space->diagram)
		return err_set(err, ERR_FAILED, NULL, "the space was built already");
	if (space_bind(space, err) != 0)
		return -1;
	struct diagram *diagram = diagram_new(space, NULL, &status);
	if (status == DIAGRAM_ENTANGLED)
		diagram = sampled(space, &status);
	if (status == DIAGRAM_STOPPED)
		return stop_fail(err, "while the space was counted");
	if (status == DIAGRAM_OVERFLOW)
		return err_set(err, ERR_USAGE, "give the parameters fewer values", "the space has over 2^64 configurations");
	if (status == DIAGRAM_ENTANGLED)
		return err_set(err, ERR_USAGE, "give the parameters of the largest constraint fewer values",
		               "the constraints tie too many values together to count the space");
	if (diagram->root == DIAGRAM_DEAD) {
		diagram_free(diagram);
		return report_empty(space, err);
	}
	space->diagram = diagram;
	return 0;
}

uint64_t space_valid(const struct space *space) {
	return space->diagram ? space->diagram->nodes[space->diagram->root].count : 0;
}
