/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files that read Python lists. All functions return 0, or -1 with an error that has the place in the
 * text. */
#ifndef BASE_T1_T1_IMPL_H
#define BASE_T1_T1_IMPL_H
#include "base/t1/t1.h"

/* Values that JSON lists. */
int t1_values_json(const json_t *json, struct t1_param *param, struct err *err);
/* One Python value. */
int t1_scalar(const char *text, struct arena *arena, struct value *value, struct err *err);
#endif
