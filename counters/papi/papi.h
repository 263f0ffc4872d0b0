/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that PAPI counts for one thread, in one event set for each PAPI component that they belong to. */
#ifndef COUNTERS_PAPI_PAPI_H
#define COUNTERS_PAPI_PAPI_H
#include "counters/perf/perf.h"

enum { PAPI_SETS_MAX = 4 };

struct papi_set {
	int id, component;
	int count; /* events that PAPI accepted */
	bool running;
	long long begin[COUNTER_OPEN_MAX], end[COUNTER_OPEN_MAX];
};

struct papi_event {
	const char *unit;
	int set, slot; /* index of its value; PAPI numbers only the events that it has taken */
	int error;     /* PAPI's error if it was refused */
	bool real;     /* its value is a double */
	bool own;      /* software-defined, of this thread */
	bool shared;   /* all threads have the same counter */
	bool hidden;   /* happens in the kernel, whose side is hidden */
	bool limited;  /* the kernel's part of it is not counted */
};

struct papi_counting {
	const char *const *names;
	size_t count;
	int thread;
	struct papi_event events[COUNTER_OPEN_MAX];
	struct papi_set sets[PAPI_SETS_MAX];
	size_t set_count;
};

/* The calls of struct counter_backend. Call open, add and close between papi_library_enter and papi_library_leave. add
 * is called for each of `names`, with PAPI's word for it. own: the event belongs to this thread, though its component
 * can't tell threads apart. -1 if the event can't be counted together with the others; an event that can't be counted
 * at all does not fail, because read gives the reason. */
int papi_counting_open(struct papi_counting *counting, const struct counter_site *site, const char *const *names,
                       size_t count);
int papi_counting_add(struct papi_counting *counting, size_t i, const char *event, bool own);
/* These take a state that begins with its struct papi_counting. */
int papi_counting_start(void *state);
int papi_counting_stop(void *state);
int papi_counting_read(void *state, struct counter_value *values);
void papi_counting_close(struct papi_counting *counting);

/* PAPI itself: one instance for the process, started by the first call. */

/* Enclose all calls of PAPI but papi_counting_start, _stop and _read, because only one thread at a time may make event
 * sets and look up names. PAPI knows the thread from then on, until it ends. The first call starts PAPI. -1 with the
 * reason if that fails, and then do not leave. */
int papi_library_enter(char reason[COUNTER_REASON]);
void papi_library_leave(void);
const char *papi_library_version(void); /* "7.0.0" */

/* Says which hardware counters PAPI offers here, or why it offers none and what replaces them. */
void papi_probe(struct counter_probe *probe);

/* Software-defined events that this process exports through libsde, so that PAPI sees them. A kernel's event is
 * exported once and stays exported, because libsde never reuses the number of an event (sde_lib_misc.c of PAPI 7.0.0)
 * and PAPI keeps a record of each number. Only the memory behind an event changes. */

enum { SDE_WORD = 256 };

/* Returns 0, or -1 with the reason if libsde is missing. */
int sde_export_start(char reason[COUNTER_REASON]);

/* Does OWNER::NAME or OWNER::NAME@THREAD name an event of a kernel that was opened before? */
bool sde_export_has(const char *event);

/* Exports the count of `thread` for software->names[event] as OWNER::NAME@THREAD, and the sum over threads as
 * OWNER::NAME. word receives PAPI's name of the first. libsde reads the memory until the page is closed. NULL if the
 * thread does not have a count. */
struct sde_page;
struct sde_page *sde_export_open(const struct counter_software *software, int event, int thread, char word[SDE_WORD]);
void sde_export_close(struct sde_page *page); /* accepts NULL */

/* PAPI's names of events and its facts about them. Call these between papi_library_enter and papi_library_leave. */

#define PAPI_WORD_HIDDEN "happens in the kernel, which perf_event_paranoid hides: " PERF_UNPARANOID

/* True if PAPI can count this event in this thread. */
bool papi_word_can(const char *event, char reason[COUNTER_REASON]);
/* Does the event happen only in the kernel? If the kernel's side is hidden, it counts 0 without an error. */
bool papi_word_component_up(const char *component);
/* Does the component list this event? Asking PAPI for the name would make libsde promise the event for later. */
bool papi_word_listed(const char *component, const char *event);
#endif
