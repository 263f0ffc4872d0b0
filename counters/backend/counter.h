/* SPDX-License-Identifier: BSD-3-Clause */
/* A counter backend: one const table, one file, one line in local.mk. What is asked for by name is resolved to events
 * of backends elsewhere (plan.h); a backend knows its own words only. */
#ifndef COUNTERS_BACKEND_COUNTER_H
#define COUNTERS_BACKEND_COUNTER_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COUNTER_REASON = 200, COUNTER_OPEN_MAX = 64 /* events that are opened together */ };

enum counter_status { COUNTER_COUNTED, COUNTER_SCALED, COUNTER_SIMULATED, COUNTER_UNAVAILABLE };

struct counter_value {
	const char *name, *unit;
	enum counter_status status;  /* a value that was not counted is UNAVAILABLE with a reason, never 0 */
	double value;                /* NAN where UNAVAILABLE */
	bool shared;                 /* of all threads together; thread 0 has the value */
	char reason[COUNTER_REASON]; /* why not, or what limits the value; may be empty where counted */
};

struct counter_probe {
	bool usable;
	char reason[COUNTER_REASON]; /* why not; or what it can count */
	char fix[COUNTER_REASON];    /* the exact thing to do, or empty */
};

/* What a backend counts. */
enum counter_scope {
	COUNTER_THREAD,  /* a thread: a state is opened, started, stopped and read in each */
	COUNTER_MACHINE, /* all that happens meanwhile: one state, in the main thread */
	COUNTER_RERUN    /* nothing here: the trial is run again under a simulator, by whoever runs trials */
};

/* Software-defined events of what runs: thread t counts in values[t * stride + event], or sets it to
 * COUNTER_SOFTWARE_UNKNOWN: what runs can't know it in this configuration. */
enum { COUNTER_SOFTWARE_UNKNOWN = -1 };
struct counter_software {
	const char *owner; /* the kernel's name */
	size_t count, stride;
	const char *const *names, *const *summaries;
	int64_t *values;
	int threads;
};

struct gpu;

/* What a state is opened for. */
struct counter_site {
	int thread; /* 0 .. threads - 1 */
	int threads;
	/* Not this thread but all processes that it starts from then on, from their exec to their end. start is called
	 * before they are started, stop when they have ended. */
	bool tree;
	const struct counter_software *software; /* NULL: none */
	struct gpu *gpu;                         /* what runs is there (gpu/open.h); NULL: on the CPU */
};

struct counter_backend {
	const char *name, *summary;
	enum counter_scope scope;
	bool trees;                /* can be opened for a site with `tree` */
	bool software;             /* counts software-defined events: the kernel tells them in runs for this backend only */
	size_t state_size;         /* the caller allocates it, zeroed and aligned to 64 bytes */
	const char *const *events; /* what it counts when asked for by its own name; NULL-terminated */
	void (*probe)(struct counter_probe *probe);
	/* Can this event, in the backend's own words, be counted at this site and by this user? reason says why not. The
	 * values are not known to be true by that. NULL: exactly those of `events`. software: may be NULL. */
	bool (*can)(const char *event, const struct counter_site *site, char reason[COUNTER_REASON]);
	/* In the thread that will be counted; 0, or -1 where these can't be counted together (fewer may be). The names
	 * outlive the state. At most COUNTER_OPEN_MAX. */
	int (*open)(void *state, const struct counter_site *site, const char *const *events, size_t count);
	int (*start)(void *state);
	int (*stop)(void *state);
	/* After stop: must the same be run once more, from start to stop, before it is read? Then one run is counted, not
	 * many, and there is no start and stop without one. NULL: never. */
	bool (*more)(void *state);
	/* After stop: values[i] belongs to events[i] of open, counts from the last start to the stop, and has its name. */
	int (*read)(void *state, struct counter_value *values);
	/* How often the same must be run for these together, known before any run; 0: they can't be counted together, or
	 * nobody can tell. NULL: once. */
	size_t (*passes)(const struct counter_site *site, const char *const *events, size_t count);
	/* After read: what else it has to tell of the runs, members for a JSON object; a new reference. NULL: nothing. */
	json_t *(*details)(void *state);
	void (*close)(void *state); /* also after a failed open */
};

extern const struct counter_backend *const counter_registry[]; /* ends with NULL */
const struct counter_backend *counter_find(const char *name);
const char *counter_status_name(enum counter_status status);
/* Is it usable, for such a site, and has it this event? */
bool counter_can(const struct counter_backend *backend, const char *event, const struct counter_site *site,
                 char reason[COUNTER_REASON]);
size_t counter_event_count(const struct counter_backend *backend);
/* So many states, zeroed and aligned, *stride bytes from one to the next; free(3). NULL without memory. */
void *counter_states_new(const struct counter_backend *backend, size_t count, size_t *stride);

/* For backends: fills one value. name and unit must outlive it. */
void counter_value_set(struct counter_value *value, const char *name, const char *unit, double x);
void counter_value_miss(struct counter_value *value, const char *name, const char *unit, const char *reason, ...)
	__attribute__((format(printf, 4, 5)));

#endif
