/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces PAPI if configure did not find it. */
#include <stdio.h>
#include <string.h>

#include "counters/papi/papi.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

int papi_library_enter(char reason[COUNTER_REASON]) {
	snprintf(reason, COUNTER_REASON, "built without PAPI: %.100s; perf and rusage are used instead", SS_PAPI_SUMMARY);
	return -1;
}

const char *papi_library_version(void) {
	return "";
}

void papi_library_leave(void) {
}

void papi_probe(struct counter_probe *probe) {
	*probe = (struct counter_probe){.usable = false};
	snprintf(probe->fix, sizeof probe->fix, "%s",
	         strstr(SS_PAPI_SUMMARY, "--with-papi=no")
	             ? "configure without --with-papi=no, and build again"
	             : "sudo apt-get install libpapi-dev, then configure and build again");
	papi_library_enter(probe->reason);
}

bool papi_word_can(const char *event, char reason[COUNTER_REASON]) {
	return papi_library_enter(reason) == 0;
}

int papi_counting_open(struct papi_counting *counting, const struct counter_site *site, const char *const *names,
                       size_t count) {
	*counting = (struct papi_counting){.names = names, .count = count, .thread = site->thread};
	return -1;
}

#define REFUSE(result, head, ...)                                                                                      \
	head(__VA_ARGS__) {                                                                                                \
		return result;                                                                                                 \
	}
REFUSE(false, bool papi_word_component_up, const char *component)
REFUSE(false, bool papi_word_listed, const char *component, const char *event)
REFUSE(-1, int papi_counting_add, struct papi_counting *counting, size_t i, const char *event, bool own)
REFUSE(-1, int papi_counting_start, void *state)
REFUSE(-1, int papi_counting_stop, void *state)
REFUSE(-1, int papi_counting_read, void *state, struct counter_value *values)

void papi_counting_close(struct papi_counting *counting) {
}
