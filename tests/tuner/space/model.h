/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A random space and a second, naive implementation of it to compare with. */
#ifndef TESTS_TUNER_SPACE_MODEL_H
#define TESTS_TUNER_SPACE_MODEL_H
#include "base/rng.h"
#include "tuner/space/space.h"

enum { PARAMS = 6, RULES = 5, ROWS_FULL = 300 };

struct space_model {
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

/* Makes a space that is not built yet. Conditions mention earlier parameters or, half the time, later ones. */
void space_model_make(struct space_model *m, struct rng *rng);
void space_model_enumerate(struct space_model *m); /* fills valid, which the caller frees */
/* Advances to the next combination of values and absences; false after the last one. */
bool space_model_next(const struct space_model *m, int *config);

#endif
