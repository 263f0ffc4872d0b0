/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "counters/papi/word.h"

#include <papi.h>
#include <stdio.h>
#include <string.h>

#include "counters/papi/library.h"
#include "counters/papi/probe.h"

enum { WORD_MAX = PAPI_HUGE_STR_LEN / 2 };

int papi_word_code(const char *event, int *code) {
	return event[0] && strlen(event) < WORD_MAX ? PAPI_event_name_to_code(event, code) : PAPI_EINVAL;
}

/* Names of libpfm4's PMU "perf". */
bool papi_word_kernel(const char *event) {
	static const char *const names[] = {"CONTEXT-SWITCHES",
	                                    "CS",
	                                    "CPU-MIGRATIONS",
	                                    "MIGRATIONS",
	                                    "PERF_COUNT_SW_CONTEXT_SWITCHES",
	                                    "PERF_COUNT_SW_CPU_MIGRATIONS"};
	const char *name = strncmp(event, "perf::", 6) == 0 ? event + 6 : event;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

bool papi_word_component(int component, const char *name) {
	const PAPI_component_info_t *info = PAPI_get_component_info(component);
	return info && strcmp(info->name, name) == 0;
}

bool papi_word_component_up(const char *component) {
	int index = PAPI_get_component_index(component);
	const PAPI_component_info_t *info = index >= 0 ? PAPI_get_component_info(index) : NULL;
	return info && !info->disabled;
}

bool papi_word_listed(const char *component, const char *event) {
	int code = (int)PAPI_NATIVE_MASK, index = PAPI_get_component_index(component);
	int rc = index >= 0 ? PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, index) : PAPI_ENOCMP;
	char name[PAPI_HUGE_STR_LEN];
	while (rc == PAPI_OK) {
		if (PAPI_event_code_to_name(code, name) == PAPI_OK && strcmp(name, event) == 0)
			return true;
		rc = PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, index);
	}
	return false;
}

/* Pairs of a unit as PAPI's components spell it and as we do. */
static const char *const units[][2] = {
	{"nJ", "nJ"}, {"uJ", "uJ"}, {"J", "J"}, {"uW", "uW"},   {"mW", "mW"}, {"W", "W"},
	{"ns", "ns"}, {"us", "us"}, {"s", "s"}, {"bytes", "B"}, {"B", "B"},
};

const char *papi_word_unit(int code, bool *real) {
	PAPI_event_info_t info;
	memset(&info, 0, sizeof info);
	bool known = PAPI_get_event_info(code, &info) == PAPI_OK;
	*real = known && info.data_type == PAPI_DATATYPE_FP64;
	info.units[sizeof info.units - 1] = '\0';
	for (size_t i = 0; known && i < sizeof units / sizeof *units; i++)
		if (strcmp(info.units, units[i][0]) == 0)
			return units[i][1];
	return "count";
}

int papi_word_set(int component, int *id) {
	*id = PAPI_NULL;
	int rc = PAPI_create_eventset(id);
	return rc == PAPI_OK ? PAPI_assign_eventset_component(*id, component) : rc;
}

void papi_word_set_free(int *id) {
	if (*id == PAPI_NULL)
		return;
	PAPI_cleanup_eventset(*id);
	PAPI_destroy_eventset(id);
}

int papi_word_alone(int code) {
	int id, rc = papi_word_set(PAPI_get_event_component(code), &id);
	if (rc == PAPI_OK)
		rc = PAPI_add_event(id, code);
	papi_word_set_free(&id);
	return rc;
}

void papi_word_refused(const char *event, int error, char reason[COUNTER_REASON]) {
	if (error == PAPI_EPERM)
		snprintf(reason, COUNTER_REASON,
		         "PAPI may not count %.60s: " PERF_UNPARANOID "; in a container, --cap-add=PERFMON", event);
	else if (error == PAPI_ENOEVNT && papi_pmu_absent())
		snprintf(reason, COUNTER_REASON, "it needs the hardware PMU, which this machine lacks");
	else
		snprintf(reason, COUNTER_REASON, "PAPI %s cannot count %.80s on this machine: %s", papi_library_version(),
		         event, PAPI_strerror(error));
}

bool papi_word_can(const char *event, char reason[COUNTER_REASON]) {
	int code = 0;
	bool known = papi_word_code(event, &code) == PAPI_OK, hidden = papi_library_user_only() && papi_word_kernel(event);
	int rc = known && !hidden ? papi_word_alone(code) : PAPI_ENOEVNT;
	if (!known)
		snprintf(reason, COUNTER_REASON, "PAPI %s does not know an event %.80s on this machine", papi_library_version(),
		         event);
	else if (hidden)
		snprintf(reason, COUNTER_REASON, PAPI_WORD_HIDDEN);
	else if (rc != PAPI_OK)
		papi_word_refused(event, rc, reason);
	return rc == PAPI_OK;
}
