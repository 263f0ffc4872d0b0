/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI's names of events and its facts about them. Call these between papi_library_enter and papi_library_leave. */
#ifndef COUNTERS_PAPI_WORD_H
#define COUNTERS_PAPI_WORD_H
#include "counters/backend/counter.h"
#include "counters/perf/reasons.h"

#define PAPI_WORD_HIDDEN "happens in the kernel, which perf_event_paranoid hides: " PERF_UNPARANOID

/* PAPI's number of an event, or its error. */
int papi_word_code(const char *event, int *code);
/* True if PAPI can count this event in this thread. */
bool papi_word_can(const char *event, char reason[COUNTER_REASON]);
/* Does the event happen only in the kernel? If the kernel's side is hidden, it counts 0 without an error. */
bool papi_word_kernel(const char *event);
bool papi_word_component(int component, const char *name);
bool papi_word_component_up(const char *component);
/* Does the component list this event? Asking PAPI for the name would make libsde promise the event for later. */
bool papi_word_listed(const char *component, const char *event);
/* Static text; real: values are doubles. */
const char *papi_word_unit(int code, bool *real);
/* Create and destroy an event set for events of one component. */
int papi_word_set(int component, int *id);
void papi_word_set_free(int *id);
/* Does PAPI accept it in a set of its own? Returns 0 or PAPI's error. */
int papi_word_alone(int code);
/* The reason why PAPI refused it. */
void papi_word_refused(const char *event, int error, char reason[COUNTER_REASON]);

#endif
