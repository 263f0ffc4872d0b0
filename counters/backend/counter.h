/* SPDX-License-Identifier: BSD-3-Clause */
/* A counter backend is one const table, one file and one line in local.mk. plan.h resolves names that users give to
 * events of backends; a backend knows only its own words. */
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
	double value;                /* NAN if UNAVAILABLE */
	bool shared;                 /* covers all threads together; thread 0 has the value */
	char reason[COUNTER_REASON]; /* why it is unavailable, or what limits the value; may be empty if counted */
};

struct counter_probe {
	bool usable;
	bool hardware;               /* it counts events of the processor, not only of the system's software */
	char reason[COUNTER_REASON]; /* why it cannot be used; or what it can count */
	char fix[COUNTER_REASON];    /* the exact remedy, or empty */
};

/* The extent of a backend's counts. */
enum counter_scope {
	COUNTER_THREAD,  /* a thread: a state is opened, started, stopped and read in each */
	COUNTER_MACHINE, /* everything on the machine: one state, in the main thread */
	COUNTER_RERUN    /* nothing in this process: the caller reruns the trial under a simulator */
};

/* Software-defined events of the running kernel: thread t counts in values[t * stride + event]. It stores
 * COUNTER_SOFTWARE_UNKNOWN for an event that it cannot count in this configuration. */
enum { COUNTER_SOFTWARE_UNKNOWN = -1 };
struct counter_software {
	const char *owner; /* the kernel's name */
	size_t count, stride;
	const char *const *names;
	int64_t *values;
	int threads;
};

struct gpu;
struct gpu_facts;

/* The thread, processes or device that a state counts. */
struct counter_site {
	int thread; /* 0 .. threads - 1 */
	int threads;
	/* Counts not this thread but all processes that it starts from then on, from their exec to their end. start is
	 * called before they are started, stop after they have ended. */
	bool tree;
	const struct counter_software *software; /* NULL: none */
	struct gpu *gpu;                         /* the device of the kernel (gpu/open.h); NULL: it runs on the CPU */
	const struct gpu_facts *device;          /* of a program, whose kernels are counted inside it; NULL: none */
};

struct counter_backend {
	const char *name, *summary;
	enum counter_scope scope;
	bool trees;        /* can be opened for a site with `tree` */
	bool software;     /* counts software-defined events, which kernels report only in runs for such a backend */
	size_t state_size; /* the caller allocates it, zeroed and aligned to 64 bytes */
	const char *const *events; /* the events that its own name stands for; NULL-terminated */
	void (*probe)(struct counter_probe *probe);
	/* Can this user count this event, in the backend's own words, at this site? reason says why not. True does not
	 * promise that the values are right. NULL: exactly those of `events`. software: may be NULL. */
	bool (*can)(const char *event, const struct counter_site *site, char reason[COUNTER_REASON]);
	/* Called in the thread that will be counted. Returns 0, or -1 if these events can't be counted together (fewer may
	 * be). The names outlive the state. At most COUNTER_OPEN_MAX. */
	int (*open)(void *state, const struct counter_site *site, const char *const *events, size_t count);
	int (*start)(void *state);
	int (*stop)(void *state);
	/* After stop: must the same work run once more, from start to stop, before it is read? Such a backend counts one
	 * run instead of many, and is never started outside of one. NULL: never. */
	bool (*more)(void *state);
	/* After stop: values[i] belongs to events[i] of open, covers the last start to the stop, and has its name. */
	int (*read)(void *state, struct counter_value *values);
	/* Returns the number of times that the same work must run to count these together, known before any run; 0: they
	 * can't be counted together, or the number is unknown. NULL: once. */
	size_t (*passes)(const struct counter_site *site, const char *const *events, size_t count);
	/* After read: further facts about the runs, as members for a JSON object; a new reference. NULL: none. */
	json_t *(*details)(void *state);
	void (*close)(void *state); /* also after a failed open */
};

extern const struct counter_backend *const counter_registry[]; /* ends with NULL */
const struct counter_backend *counter_find(const char *name);
const char *counter_status_name(enum counter_status status);
/* Is the backend usable for such a site, and does it have this event? */
bool counter_can(const struct counter_backend *backend, const char *event, const struct counter_site *site,
                 char reason[COUNTER_REASON]);
size_t counter_event_count(const struct counter_backend *backend);
/* Allocates `count` states, zeroed and aligned, *stride bytes apart; free(3). NULL if memory runs out. */
void *counter_states_new(const struct counter_backend *backend, size_t count, size_t *stride);

/* For backends: fills in one value. name and unit must outlive it. */
void counter_value_set(struct counter_value *value, const char *name, const char *unit, double x);
void counter_value_miss(struct counter_value *value, const char *name, const char *unit, const char *reason, ...)
	__attribute__((format(printf, 4, 5)));

/* Names this processor as the tables of events do. */

/* "GenuineIntel-6-55" and "AuthenticAMD-25-1" (family decimal, model hexadecimal, as in perf's tables), "arm-41-d0c"
 * (implementer and part, hexadecimal), "" if unknown. Returns text. */
const char *counter_cpu(char *text, size_t size);
const char *counter_cpu_of(const char *path, char *text, size_t size); /* from a copy of /proc/cpuinfo */

/* Looks up events and counts in a counter_software, which may be NULL. */

/* Returns the index of an event given as "NAME", "OWNER::NAME" or "sde:::OWNER::NAME"; -1 with the reason. */
int software_event(const struct counter_software *software, const char *event, char reason[COUNTER_REASON]);
/* Returns the counts of this thread; NULL if it does not have any. */
int64_t *software_counts(const struct counter_software *software, int thread);
/* Fills in the difference between two readings of one count, either of which may be unknown. */
void software_value(struct counter_value *value, const char *name, int64_t begin, int64_t end);
#endif
