/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts about the worker that are known from the common build, for callers that cannot wait for the worker to start. */
#ifndef SRC_APP_BUILT_H
#define SRC_APP_BUILT_H
#include <jansson.h>

json_t *built_json(void); /* {"compiler", "cflags", "openmp"}; new reference */
/* The source hash of a built-in kernel; device is "cpu", "cuda" or "cuda:N". NULL if the name is unknown.
 */
const char *built_source(const char *kernel, const char *device);
#endif
