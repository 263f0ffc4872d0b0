/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "counters/backend/software.h"

/* Returns the name after "OWNER::" or "sde:::OWNER::", or the whole word if it has neither prefix. */
static const char *own_name(const struct counter_software *software, const char *event) {
	const char *word = strncmp(event, "sde:::", 6) == 0 ? event + 6 : event;
	size_t length = strlen(software->owner);
	bool owned = strncmp(word, software->owner, length) == 0 && strncmp(word + length, "::", 2) == 0;
	return owned ? word + length + 2 : event;
}

int software_event(const struct counter_software *software, const char *event, char reason[COUNTER_REASON]) {
	if (!software || software->count == 0) {
		snprintf(reason, COUNTER_REASON, "this kernel does not export software-defined events");
		return -1;
	}
	const char *name = own_name(software, event);
	for (size_t i = 0; i < software->count; i++)
		if (strcmp(software->names[i], name) == 0)
			return (int)i;
	snprintf(reason, COUNTER_REASON, "%s exports no software-defined event %.100s", software->owner, event);
	return -1;
}

int64_t *software_counts(const struct counter_software *software, int thread) {
	bool there = software && software->values && thread >= 0 && thread < software->threads;
	return there ? software->values + (size_t)thread * software->stride : NULL;
}

void software_value(struct counter_value *value, const char *name, int64_t begin, int64_t end) {
	if (begin == COUNTER_SOFTWARE_UNKNOWN || end == COUNTER_SOFTWARE_UNKNOWN)
		counter_value_miss(value, name, "count", "the kernel cannot count it in this configuration");
	else
		counter_value_set(value, name, "count", (double)(end - begin));
}
