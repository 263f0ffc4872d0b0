/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of this folder only. A branch is a choice for a parameter at its depth of the diagram: the index
 * of a value or, after the last value of a parameter with a condition, its absence. */
#ifndef TUNER_SPACE_IMPL_H
#define TUNER_SPACE_IMPL_H
#include "base/mem.h"
#include "base/expr/expr.h"
#include "tuner/space/space.h"
#include "tuner/space/space_impl.h"

struct space_param {
	const char *name, *summary;
	struct value *values;
	size_t count;
	bool ordered;
	struct expr *when; /* NULL: the parameter always exists */
};

struct space_constant {
	const char *name;
	struct value value;
};

/* An expression with resolved names: bind[i] is a parameter, or -1 - c for constant c. */
struct space_rule {
	struct expr *expr;
	int *bind;
	uint64_t mask; /* parameters that it mentions */
};

struct space_table {
	const char **names;
	size_t name_count;
	int *rows;
	size_t row_count;
	int *bind;
	uint64_t mask;
};

struct space {
	struct arena *arena;
	struct space_param params[SPACE_PARAMS_MAX];
	struct space_rule whens[SPACE_PARAMS_MAX]; /* expr is NULL where there is no condition */
	size_t param_count;
	struct space_constant *constants;
	size_t constant_count;
	struct space_rule *constraints;
	size_t constraint_count;
	struct space_table *tables;
	size_t table_count;
	struct diagram *diagram; /* NULL before space_build */
	bool any_names;
	double estimate; /* of the valid configurations, if they could not be counted */
};

static inline uint32_t space_branches(const struct space *space, int param) {
	return (uint32_t)space->params[param].count + (space->params[param].when != NULL);
}

static inline int space_place(const struct space *space, int param, uint32_t branch) {
	return branch < space->params[param].count ? (int)branch : SPACE_ABSENT;
}

static inline uint32_t space_branch(const struct space *space, int param, int level) {
	return level == SPACE_ABSENT ? (uint32_t)space->params[param].count : (uint32_t)level;
}

/* The known parameter (or constant) whose name is nearest; NULL if none is near. */
const char *space_name_near(const struct space *space, const char *name, bool constants);
/* 1: the rule holds; 0: it does not; -1: it mentions an absent parameter. */
int space_rule_holds(const struct space *space, const struct space_rule *rule, const int *config);
/* Describes a rule for messages. */
const char *space_rule_text(const struct space *space, size_t rule, char *text, size_t size);
#endif
