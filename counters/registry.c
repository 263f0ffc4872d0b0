/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/backend/counter.h"

#define COUNTER(name) extern const struct counter_backend counter_##name;
#include "counters/registry.def"
#undef COUNTER

#define COUNTER(name) &counter_##name,
const struct counter_backend *const counter_registry[] = {
#include "counters/registry.def"
	NULL,
};
#undef COUNTER

const struct counter_backend *counter_find(const char *name) {
	for (size_t i = 0; counter_registry[i]; i++)
		if (strcmp(counter_registry[i]->name, name) == 0)
			return counter_registry[i];
	return NULL;
}

size_t counter_event_count(const struct counter_backend *backend) {
	size_t count = 0;
	while (backend->events[count])
		count++;
	return count;
}

void *counter_states_new(const struct counter_backend *backend, size_t count, size_t *stride) {
	enum { LINE = 64 };
	*stride = (backend->state_size + LINE - 1) / LINE * LINE + LINE;
	void *states = aligned_alloc(LINE, *stride * count);
	return states ? memset(states, 0, *stride * count) : NULL;
}

bool counter_can(const struct counter_backend *backend, const char *event, const struct counter_site *site,
                 char reason[COUNTER_REASON]) {
	struct counter_probe probe;
	reason[0] = '\0';
	if (site->tree && !backend->trees) {
		snprintf(reason, COUNTER_REASON, "%s cannot count a program from outside", backend->name);
		return false;
	}
	backend->probe(&probe);
	if (!probe.usable) {
		bool told = strstr(probe.reason, probe.fix);
		snprintf(reason, COUNTER_REASON, "%.120s%s%.76s", probe.reason, told ? "" : "; ", told ? "" : probe.fix);
		return false;
	}
	if (backend->can)
		return backend->can(event, site, reason);
	for (size_t i = 0; backend->events[i]; i++)
		if (strcmp(backend->events[i], event) == 0)
			return true;
	snprintf(reason, COUNTER_REASON, "%s does not have an event %s", backend->name, event);
	return false;
}

const char *counter_status_name(enum counter_status status) {
	static const char *const names[] = {
		[COUNTER_COUNTED] = "counted",
		[COUNTER_SCALED] = "scaled",
		[COUNTER_SIMULATED] = "simulated",
		[COUNTER_UNAVAILABLE] = "unavailable",
	};
	return names[status];
}

void counter_value_set(struct counter_value *value, const char *name, const char *unit, double x) {
	*value = (struct counter_value){.name = name, .unit = unit, .status = COUNTER_COUNTED, .value = x};
}

void counter_value_miss(struct counter_value *value, const char *name, const char *unit, const char *reason, ...) {
	va_list ap;
	*value = (struct counter_value){.name = name, .unit = unit, .status = COUNTER_UNAVAILABLE, .value = NAN};
	va_start(ap, reason);
	vsnprintf(value->reason, sizeof value->reason, reason, ap);
	va_end(ap);
}
