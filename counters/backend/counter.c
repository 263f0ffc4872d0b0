/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters/backend/counter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first processor's entry in /proc/cpuinfo. */
struct cpuinfo {
	char vendor[32];
	unsigned family, model, implementer, part;
};

static void field_record(struct cpuinfo *info, const char *name, const char *value) {
	if (strcmp(name, "vendor_id") == 0)
		snprintf(info->vendor, sizeof info->vendor, "%s", value);
	else if (strcmp(name, "cpu family") == 0)
		info->family = (unsigned)strtoul(value, NULL, 10);
	else if (strcmp(name, "model") == 0)
		info->model = (unsigned)strtoul(value, NULL, 10);
	else if (strcmp(name, "CPU implementer") == 0)
		info->implementer = (unsigned)strtoul(value, NULL, 16);
	else if (strcmp(name, "CPU part") == 0)
		info->part = (unsigned)strtoul(value, NULL, 16);
}

static void line_parse(struct cpuinfo *info, char *line) {
	char *colon = strchr(line, ':'), *end = colon;
	if (!colon)
		return;
	while (end > line && (end[-1] == '\t' || end[-1] == ' '))
		end--;
	*end = '\0';
	char *value = colon + 1 + (colon[1] == ' ');
	value[strcspn(value, " \n")] = '\0';
	field_record(info, line, value);
}

const char *counter_cpu_of(const char *path, char *text, size_t size) {
	struct cpuinfo info = {.vendor = ""};
	char line[512];
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file) && line[0] != '\n')
		line_parse(&info, line);
	if (file)
		fclose(file);
	if (info.vendor[0])
		snprintf(text, size, "%s-%u-%X", info.vendor, info.family, info.model);
	else if (info.implementer)
		snprintf(text, size, "arm-%x-%x", info.implementer, info.part);
	else
		snprintf(text, size, "%s", "");
	return text;
}

const char *counter_cpu(char *text, size_t size) {
	return counter_cpu_of("/proc/cpuinfo", text, size);
}

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
