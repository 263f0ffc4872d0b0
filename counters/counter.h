/* SPDX-License-Identifier: BSD-3-Clause */
/* A counter backend: one const table, one file, one line in local.mk. */
#ifndef COUNTERS_COUNTER_H
#define COUNTERS_COUNTER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum counter_status { COUNTER_COUNTED, COUNTER_SCALED, COUNTER_SIMULATED, COUNTER_UNAVAILABLE };

struct counter_value {
	const char *name, *unit;
	enum counter_status status; /* a value that was not counted is UNAVAILABLE with a reason, never 0 */
	double value;               /* total over threads */
	char reason[160];
};

struct counter_probe {
	bool usable;
	char reason[200]; /* why not; or what it can count */
	char fix[200];    /* the exact thing to do, or empty */
};

struct counter_backend {
	const char *name, *summary;
	size_t state_size; /* the caller allocates it, zeroed, one for each thread */
	const char *const *events; /* NULL-terminated */
	void (*probe)(struct counter_probe *probe);
	int (*open)(void *state);  /* in the thread that will be counted; 0 or -1 */
	int (*start)(void *state);
	int (*stop)(void *state);
	/* values[i] belongs to events[i]; counts since start */
	int (*read)(void *state, struct counter_value *values);
	void (*close)(void *state);
};

extern const struct counter_backend *const counter_registry[]; /* ends with NULL */
const struct counter_backend *counter_find(const char *name);
const char *counter_status_name(enum counter_status status);

#endif
