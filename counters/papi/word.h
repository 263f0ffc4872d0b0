/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI's words for events, and what it says of them. Between papi_library_enter and papi_library_leave. */
#ifndef COUNTERS_PAPI_WORD_H
#define COUNTERS_PAPI_WORD_H
#include "counters/backend/counter.h"
#include "counters/perf/reasons.h"

#define PAPI_WORD_HIDDEN "happens in the kernel, which perf_event_paranoid hides: " PERF_UNPARANOID

/* PAPI's number of an event, or its error. */
int papi_word_code(const char *event, int *code);
/* Can PAPI take this event in this thread? */
bool papi_word_can(const char *event, char reason[COUNTER_REASON]);
/* Does it happen in the kernel only? Where that is hidden, 0 of them are counted, without an error. */
bool papi_word_kernel(const char *event);
bool papi_word_component(int component, const char *name);
bool papi_word_component_up(const char *component);
/* Is it among those that the component lists? Asking PAPI for a name would make libsde promise that event for later. */
bool papi_word_listed(const char *component, const char *event);
/* Static text; real: values are doubles. */
const char *papi_word_unit(int code, bool *real);
/* An event set for events of one component, and its end. */
int papi_word_set(int component, int *id);
void papi_word_set_free(int *id);
/* Does PAPI take it into a set of its own? 0 or PAPI's error. */
int papi_word_alone(int code);
/* Why PAPI did not take it. */
void papi_word_refused(const char *event, int error, char reason[COUNTER_REASON]);

#endif
