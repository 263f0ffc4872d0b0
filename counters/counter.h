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
	double value;               /* of one thread; NAN where UNAVAILABLE */
	char reason[160];           /* why not, or what limits the value; may be empty where counted */
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
	/* After stop: values[i] belongs to events[i] and counts from the last start to it. */
	int (*read)(void *state, struct counter_value *values);
	void (*close)(void *state); /* also after a failed open */
};

extern const struct counter_backend *const counter_registry[]; /* ends with NULL */
const struct counter_backend *counter_find(const char *name);
const char *counter_status_name(enum counter_status status);

/* For backends: fills one value. name and unit must outlive it. */
void counter_value_set(struct counter_value *value, const char *name, const char *unit, double x);
void counter_value_miss(struct counter_value *value, const char *name, const char *unit, const char *reason, ...)
	__attribute__((format(printf, 4, 5)));

#endif
