/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file in memory, gzipped or not. */
#ifndef TUNER_RECORD_LOAD_H
#define TUNER_RECORD_LOAD_H
#include <stdbool.h>
#include <stddef.h>

#include "src/base/err.h"

enum { LOAD_LIMIT = 1 << 30 };

/* SCAN_PAD bytes of 0 behind it; caller frees. NULL with err. */
char *load_text(const char *path, size_t *size, struct err *err);
/* Text or gzip in memory, to text as above. */
char *load_copy(const char *data, size_t size, const char *name, size_t *out, struct err *err);

#endif
