/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All configurations of a kernel on one problem, as the tuner would have them. */
#ifndef TESTS_GPU_GRID_H
#define TESTS_GPU_GRID_H
#include "tests/kernels/live.h"
#include "tests/kernels/values.h"
#include "tuner/space/space.h"

struct grid {
	const struct ss_kernel *kernel;
	struct values values[LIVE_PARAMS];
	struct space *space;
};

static inline struct value grid_value(const struct ss_param *param, const struct ss_value *value) {
	switch (param->type) {
	case SS_INT:
		return value_int(value->i);
	case SS_REAL:
		return value_real(value->r);
	default:
		return value_word(value->w ? value->w : "");
	}
}

static inline bool grid_add(struct grid *grid, int p, struct err *err) {
	const struct ss_param *param = &grid->kernel->params[p];
	struct values *values = &grid->values[p];
	struct value list[VALUES_MAX];
	if (!values_parse(param, values))
		return err_set(err, ERR_FAILED, NULL, "%s: the values can't be read", param->name) == 0;
	for (int i = 0; i < values->count; i++)
		list[i] = grid_value(param, &values->value[i]);
	return space_add_param(grid->space, param->name, NULL, list, (size_t)values->count, param->when, err) == 0;
}

static inline void grid_free(struct grid *grid) {
	if (grid)
		space_free(grid->space);
	free(grid);
}

/* only: a further constraint, or NULL. NULL: no such configuration exists, or err says more. */
static inline struct grid *grid_new(const struct ss_kernel *kernel, const struct ss_value *problem, const char *only,
                                    struct err *err) {
	struct grid *grid = calloc(1, sizeof *grid);
	grid->kernel = kernel;
	grid->space = space_new();
	bool fine = space_add_constant(grid->space, "threads", value_int(1), err) == 0;
	for (int i = 0; fine && kernel->problem[i].name; i++) {
		struct value value = grid_value(&kernel->problem[i], &problem[i]);
		fine = space_add_constant(grid->space, kernel->problem[i].name, value, err) == 0;
	}
	for (int p = 0; fine && kernel->params[p].name; p++)
		fine = grid_add(grid, p, err);
	for (int i = 0; fine && kernel->constraints && kernel->constraints[i]; i++)
		fine = space_add_constraint(grid->space, kernel->constraints[i], err) == 0;
	if (fine && only)
		fine = space_add_constraint(grid->space, only, err) == 0;
	if (fine && space_build(grid->space, err) == 0)
		return grid;
	grid_free(grid);
	return NULL;
}

static inline void grid_config(const struct grid *grid, uint64_t index, struct ss_value *config) {
	int places[SPACE_PARAMS_MAX];
	space_config(grid->space, index, places);
	for (int p = 0; grid->kernel->params[p].name; p++)
		config[p] = places[p] == SPACE_ABSENT ? live_value(&grid->kernel->params[p], grid->kernel->params[p].initial)
		                                      : grid->values[p].value[places[p]];
}

#endif
