/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files that read specifications. */
#ifndef TUNER_SPEC_IMPL_H
#define TUNER_SPEC_IMPL_H
#include "src/base/mem.h"
#include "tuner/spec/spec.h"
#include "tuner/spec/list.h"

struct spec {
	struct arena *arena;
	const char *name, *folder, *hash, *word;
	enum spec_language language;
	json_t *root, *kernel, *baseline;
	struct space *space;
	int defaults[SPACE_PARAMS_MAX]; /* places among the Values; -1: the Default is not one of them */
};

/* Builds the space from ConfigurationSpace, and sets the defaults. */
int spec_read_space(struct spec *spec, const json_t *configuration, struct err *err);

/* Duplicates are removed; the array lives in the arena. */
void spec_values_keep(struct value_list *list, struct arena *arena, struct value **values, size_t *count);
/* One Python value. */
int spec_scalar(const char *text, struct arena *arena, struct value *value, struct err *err);
/* The condition in Python: && || ! of C become and, or, not unless that would change the meaning. The caller frees it;
 * NULL and err. */
char *spec_condition(const char *text, struct err *err);

#endif
