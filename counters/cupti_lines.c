/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of a CUDA source whose accesses to global memory move more sectors than they need. The compiler must have
 * kept the lines (-lineinfo), which does not change the code. */
#include <math.h>
#include <stdlib.h>

#include "counters/cupti/cupti.h"
#include "gpu/open.h"
#include "base/mem.h"

enum { LINES = 256, SHOWN = 16, NAME = 96 };

struct line {
	char file[NAME], function[NAME];
	int line;
	double sectors, least;
};

struct by_line {
	const char *const *names;
	struct gpu *gpu;
	struct cupti_chip *chip;
	struct cupti_lines *counts; /* NULL: refused for `reason` */
	struct line *lines;
	size_t count;
	double excess; /* NAN: not counted */
	char reason[COUNTER_REASON];
};

static const char *const events[] = {"excess_sectors", NULL};

static bool lines_can(const char *event, const struct counter_site *site, char reason[COUNTER_REASON]) {
	if (strcmp(event, events[0]) != 0)
		snprintf(reason, COUNTER_REASON, "cupti-lines does not have an event %.100s", event);
	else if (!site->gpu)
		snprintf(reason, COUNTER_REASON, "it counts kernels of the suite and of sources, on a GPU (--device cuda)");
	return !reason[0] && cupti_site_chip(site, reason);
}

static int lines_open(void *state, const struct counter_site *site, const char *const *names, size_t count) {
	struct by_line *s = state;
	*s = (struct by_line){.names = names, .gpu = site->gpu, .excess = NAN};
	s->chip = lines_can(names[0], site, s->reason) ? cupti_site_chip(site, s->reason) : NULL;
	return count > 1 ? -1 : 0;
}

static void lines_close(void *state) {
	struct by_line *s = state;
	cupti_lines_free(s->counts);
	free(s->lines);
	s->counts = NULL;
	s->lines = NULL;
	s->count = 0;
}

static int lines_start(void *state) {
	struct by_line *s = state;
	lines_close(s);
	s->excess = NAN;
	if (!s->chip)
		return 0;
	s->reason[0] = '\0';
	gpu_sync(s->gpu);
	s->counts = cupti_lines_new(s->chip, gpu_context(s->gpu), gpu_facts(s->gpu)->index, s->reason);
	return 0;
}

/* Adds an access to its line, if its module has lines. */
static void access_add(struct by_line *s, const struct cupti_access *access) {
	struct line found = {.line = 0};
	size_t size, i = 0;
	const void *code;
	for (size_t module = 0; found.line == 0 && (code = gpu_lines_code(s->gpu, module, &size)); module++)
		found.line = cupti_line_of(code, size, access, found.file, sizeof found.file);
	while (i < s->count && (s->lines[i].line != found.line || strcmp(s->lines[i].file, found.file) != 0))
		i++;
	if (found.line == 0 || i == LINES)
		return;
	if (i == s->count) {
		snprintf(found.function, sizeof found.function, "%s", access->function);
		s->lines[s->count++] = found;
	}
	s->lines[i].sectors += access->sectors;
	s->lines[i].least += access->least;
}

static int by_excess(const void *a, const void *b) {
	const struct line *one = a, *other = b;
	double difference = (other->sectors - other->least) - (one->sectors - one->least);
	return difference > 0 ? 1 : difference < 0 ? -1 : 0;
}

static int lines_stop(void *state) {
	struct by_line *s = state;
	struct cupti_access access;
	gpu_sync(s->gpu);
	if (s->counts && cupti_lines_end(s->counts, s->reason)) {
		s->lines = mem_alloc(LINES, sizeof *s->lines);
		s->excess = 0;
		for (size_t i = 0; cupti_lines_get(s->counts, i, &access); i++) {
			s->excess += fmax(0, access.sectors - access.least);
			access_add(s, &access);
		}
		qsort(s->lines, s->count, sizeof *s->lines, by_excess);
	}
	cupti_lines_free(s->counts); /* so that the code is as it was */
	s->counts = NULL;
	return 0;
}

/* One run is counted, because the code is patched for it. */
static bool lines_more(void *state) {
	(void)state;
	return false;
}

static int lines_read(void *state, struct counter_value *values) {
	const struct by_line *s = state;
	if (isfinite(s->excess))
		counter_value_set(&values[0], s->names[0], "count", s->excess);
	else
		counter_value_miss(&values[0], s->names[0], "count", "%s", s->reason[0] ? s->reason : "nothing was counted");
	return 0;
}

static json_t *lines_details(void *state) {
	const struct by_line *s = state;
	json_t *rows = json_array();
	for (size_t i = 0; i < s->count && i < SHOWN; i++)
		json_array_append_new(rows, json_pack("{s:s, s:i, s:s, s:f, s:f}", "file", s->lines[i].file, "line",
		                                      s->lines[i].line, "function", s->lines[i].function, "sectors",
		                                      s->lines[i].sectors, "least", s->lines[i].least));
	return json_pack("{s:o}", "lines", rows);
}

const struct counter_backend counter_cupti_lines = {
	.name = "cupti-lines",
	.summary = "accesses to global memory by the line of a CUDA source",
	.scope = COUNTER_MACHINE,
	.state_size = sizeof(struct by_line),
	.events = events,
	.probe = cupti_probe,
	.can = lines_can,
	.open = lines_open,
	.start = lines_start,
	.stop = lines_stop,
	.more = lines_more,
	.read = lines_read,
	.details = lines_details,
	.close = lines_close,
};
