/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the worker would say of itself, known from the build that made both: for what has no time to ask it. */
#ifndef SRC_APP_BUILT_H
#define SRC_APP_BUILT_H
#include <jansson.h>

json_t *built_json(void); /* {"compiler", "cflags", "openmp"}; new reference */
/* The source hash of a built-in kernel; device "cpu", "cuda" or "cuda:N". NULL: there is none of that name. */
const char *built_source(const char *kernel, const char *device);

#endif
