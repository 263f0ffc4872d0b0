/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/profile/machine_impl.h"

static const struct {
	const char *name;
	size_t at;
} amounts[] = {
	{"hardware threads", offsetof(struct ssp_machine, threads)},
	{"cores", offsetof(struct ssp_machine, cores)},
	{"packages", offsetof(struct ssp_machine, packages)},
	{"NUMA nodes", offsetof(struct ssp_machine, numa_nodes)},
	{"bytes of L1 data cache", offsetof(struct ssp_machine, l1d)},
	{"bytes of L2 cache", offsetof(struct ssp_machine, l2)},
	{"bytes of L3 cache", offsetof(struct ssp_machine, l3)},
};

/* Processor names differ in their blanks; the profile's has ? for characters that are not ASCII. */
static bool same_words(const char *a, const char *b) {
	for (;;) {
		a += strspn(a, " \t");
		b += strspn(b, " \t");
		while (*a && *a != ' ' && *a != '\t') {
			unsigned char seen = (unsigned char)*b;
			if (*a != *b && !(*a == '?' && (seen < ' ' || seen >= 127) && seen))
				return false;
			a++;
			b++;
		}
		if (*b && *b != ' ' && *b != '\t')
			return false;
		if (!*a && !b[strspn(b, " \t")])
			return true;
	}
}

static bool has_line(const char *lines, const char *line) {
	char one[256];
	while (lines && *lines) {
		size_t length = strcspn(lines, "\n");
		snprintf(one, sizeof one, "%.*s", length < sizeof one ? (int)length : 0, lines);
		if (same_words(line, one))
			return true;
		lines += length + (lines[length] == '\n');
	}
	return false;
}

static const char *reason(struct ssp_arena *arena, const char *text) {
	const char *copy = ssp_arena_text(arena, text);
	return copy ? copy : "out of memory";
}

static uint64_t amount(const struct ssp_machine *machine, size_t i) {
	return *(const uint64_t *)((const char *)machine + amounts[i].at);
}

static const char *amounts_differ(const struct ssp_machine *there, const struct ssp_machine *here,
                                  struct ssp_arena *arena, bool *agrees) {
	char text[160];
	for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
		uint64_t a = amount(there, i), b = amount(here, i);
		if (!a || !b)
			continue;
		snprintf(text, sizeof text, "%" PRIu64 " %s there, %" PRIu64 " here", a, amounts[i].name, b);
		if (a != b)
			return reason(arena, text);
		*agrees = true;
	}
	return NULL;
}

const char *ssp_machine_differs(const struct ssp_machine *there, const struct ssp_machine *here,
                                struct ssp_arena *arena) {
	char text[400];
	bool agrees = false;
	if (there->synthetic)
		return "it describes a machine that was not measured";
	if (there->cpu && here->cpu && !same_words(there->cpu, here->cpu)) {
		snprintf(text, sizeof text, "the profile's processor is %.128s, this one %.128s", there->cpu, here->cpu);
		return reason(arena, text);
	}
	if (there->gpu && !has_line(here->gpu, there->gpu)) {
		snprintf(text, sizeof text, "the profile's GPU is %.128s, which this machine lacks",
		         *there->gpu ? there->gpu : "unknown");
		return reason(arena, text);
	}
	const char *differs = amounts_differ(there, here, arena, &agrees);
	return differs || agrees ? differs : "it does not describe its machine, so nothing can be compared";
}
