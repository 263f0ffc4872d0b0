/* SPDX-License-Identifier: BSD-3-Clause */
/* What valgrind's cache model can tell of a region, and which caches it is given. Whoever runs trials starts it. */
#ifndef COUNTERS_CACHEGRIND_H
#define COUNTERS_CACHEGRIND_H
#include <stdbool.h>
#include <stddef.h>

#include "src/base/err.h"

enum { CACHEGRIND_EVENTS = 13, CACHEGRIND_MODEL_MAX = 3, CACHEGRIND_OPTION = 48 };

/* The place of an event in the backend's events, and of a column of callgrind's files that holds its numbers; -1 where
 * it is none of them. */
int cachegrind_event_find(const char *name);
int cachegrind_column_find(const char *column);

/* What `name` is in this process's PATH: the first file of that name that can be run. */
bool cachegrind_path_find(const char *name, char *file, size_t size);

/* Options of valgrind for the caches that are simulated. None: those of this processor. */
struct cachegrind_model {
	int count;
	char options[CACHEGRIND_MODEL_MAX][CACHEGRIND_OPTION];
};
/* "--LL=262144,16,64 --D1=..": size in bytes, ways, bytes of a line; of I1, D1 and LL each once at most. text may be
 * NULL. 0, or -1 and err. */
int cachegrind_model_read(const char *text, struct cachegrind_model *model, struct err *err);

#endif
