/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "counters/counter.h"

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
