/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_JSON_SAVE_H
#define BASE_JSON_SAVE_H
#include "base/json/js.h"

/* js_write to a file, and to stdout if `path` is NULL or "-". */
int js_save(const json_t *document, const char *path, struct err *err);
#endif
