/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/surrogate/opening.h"

#include <math.h>
#include <stdio.h>

#include "src/base/expr/expr.h"

/* The opening may take 1 / SHARE of the budget, within bounds. Words that lead to no valid configuration take time to
 * find out, too, and are limited by TRIES. */
enum { SHARE = 4, LEAST = 6, MOST = 32, TRIES = 256 };

struct opening {
	struct strategy_task task;
	size_t *params, count, at; /* parameters with words, in the order of their trial; `at`: the current one */
	size_t value;              /* next value of the current parameter */
	uint64_t from;             /* configuration around which its values are tried */
	uint64_t best, left;       /* left: remaining evaluations */
	size_t tries;
	double least;
};

static bool is_taken(const struct opening *opening, size_t param) {
	for (size_t i = 0; i < opening->count; i++)
		if (opening->params[i] == param)
			return true;
	return false;
}

static void take(struct opening *opening, size_t param) {
	const struct space *space = opening->task.space;
	const char *when = space_param_when(space, param);
	if (space_param_ordered(space, param) || is_taken(opening, param))
		return;
	struct expr *expr = when ? expr_parse(when, NULL) : NULL;
	for (size_t i = 0; expr && i < expr_name_count(expr); i++) {
		int by = space_param_find(space, expr_name(expr, i));
		if (by >= 0)
			take(opening, (size_t)by);
	}
	expr_free(expr);
	opening->params[opening->count++] = param;
}

static uint64_t room(uint64_t budget) {
	uint64_t share = budget / SHARE;
	return budget == 0 || share > MOST ? MOST : share < LEAST ? LEAST : share;
}

struct opening *opening_new(const struct strategy_task *task) {
	struct opening *opening = arena_alloc(task->arena, 1, sizeof *opening);
	size_t params = space_params(task->space);
	opening->task = *task;
	opening->from = opening->best = task->start;
	opening->least = INFINITY;
	opening->left = room(task->budget);
	opening->tries = TRIES;
	opening->params = arena_alloc(task->arena, params, sizeof *opening->params);
	if (task->start >= space_valid(task->space) || task->source_count)
		return opening; /* a source says more than single moves do */
	for (size_t p = params; p-- > 0;)
		take(opening, p);
	return opening;
}

static bool is_there(const struct opening *opening, size_t param) {
	int config[SPACE_PARAMS_MAX];
	space_config(opening->task.space, opening->from, config);
	return config[param] != SPACE_ABSENT;
}

/* The configuration with this value; all other parameters stay as they are unless the value forces them to change. */
static bool with_value(const struct opening *opening, size_t param, size_t value, uint64_t *index) {
	const struct space *space = opening->task.space;
	json_t *wish = json_object();
	json_object_set_new(wish, space_param_name(space, param), value_json(space_param_value(space, param, value)));
	int failed = space_config_nearest(space, wish, opening->from, index, NULL);
	json_decref(wish);
	return !failed && !history_taken(opening->task.history, *index);
}

/* The next proposal for the current parameter; UINT64_MAX: it has no more. */
static uint64_t next_of(struct opening *opening, size_t param) {
	uint64_t index;
	if (opening->value == 0)
		opening->from = opening->best;
	if (!is_there(opening, param))
		return UINT64_MAX;
	while (opening->value < space_param_values(opening->task.space, param) && opening->tries > 0) {
		opening->tries--;
		if (with_value(opening, param, opening->value++, &index))
			return index;
	}
	return UINT64_MAX;
}

uint64_t opening_ask(struct opening *opening) {
	for (; opening->at < opening->count && opening->left > 0; opening->at++, opening->value = 0) {
		uint64_t index = next_of(opening, opening->params[opening->at]);
		if (index == UINT64_MAX)
			continue;
		opening->left--;
		return index;
	}
	return UINT64_MAX;
}

void opening_report(struct opening *opening, uint64_t index, const struct strategy_outcome *outcome) {
	if (outcome->result != STRATEGY_VALUE || !(outcome->value < opening->least))
		return;
	opening->least = outcome->value;
	opening->best = index;
}

void opening_describe(const struct opening *opening, char *text, size_t size) {
	if (opening->at < opening->count)
		snprintf(text, size, "other words of %s around the best so far, because words cannot be interpolated",
		         space_param_name(opening->task.space, opening->params[opening->at]));
}
