/* SPDX-License-Identifier: BSD-3-Clause */
/* The events that valgrind's cache model reports for a region, and the caches that it simulates. The code that runs
 * trials starts valgrind. */
#ifndef COUNTERS_CACHEGRIND_H
#define COUNTERS_CACHEGRIND_H
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { CACHEGRIND_EVENTS = 13, CACHEGRIND_MODEL_MAX = 3, CACHEGRIND_OPTION = 48 };

/* Return the index of an event in the backend's list, and of the event that a column of callgrind's files holds; -1 if
 * it is unknown. */
int cachegrind_event_find(const char *name);
int cachegrind_column_find(const char *column);

/* Finds the first executable file of this name in PATH. */
bool cachegrind_path_find(const char *name, char *file, size_t size);

/* Options of valgrind that describe the simulated caches. Without any it simulates those of this processor. */
struct cachegrind_model {
	int count;
	char options[CACHEGRIND_MODEL_MAX][CACHEGRIND_OPTION];
};
/* "--LL=262144,16,64 --D1=..": size in bytes, ways, bytes of a line; I1, D1 and LL at most once each. text may be
 * NULL. 0, or -1 and err. */
int cachegrind_model_read(const char *text, struct cachegrind_model *model, struct err *err);
#endif
