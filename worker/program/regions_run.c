/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "worker/program/regions_run.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "counters/perf/perf.h"

static const struct regions_event events_usual[] = {
	{"task_clock", "s", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 1e-9},
	{"page_faults", "count", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1},
};

static bool event_make(const struct counter_event *event, struct regions_event *out) {
	struct perf_name perf;
	if (!event->backend || strcmp(event->backend->name, "perf") != 0 || strpbrk(event->name, ",=:") ||
	    !perf_name_find(event->event, &perf)) {
		return false;
	}
	*out =
		(struct regions_event){event->name, perf.clock ? "s" : "count", perf.type, perf.config, perf.clock ? 1e-9 : 1};
	return true;
}

static const struct regions_event *events_choose(struct arena *arena, const struct counter_plan *plan, size_t *count) {
	struct regions_event *events = arena_alloc(arena, REGIONS_EVENTS_MAX, sizeof *events);
	*count = 0;
	for (size_t i = 0; plan && i < plan->event_count && *count < REGIONS_EVENTS_MAX; i++) {
		*count += event_make(&plan->events[i], &events[*count]);
	}
	if (*count > 0) {
		return events;
	}
	*count = sizeof events_usual / sizeof *events_usual;
	return events_usual;
}

void regions_run_open(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan,
                      struct regions_run *run) {
	size_t count;
	const struct regions_event *events = events_choose(arena, plan, &count);
	*run = (struct regions_run){.environment = NULL};
	if (regions_prepare(arena, trial->site.scratch.path, events, count, &run->regions, &run->err) == 0) {
		run->environment = program_site_environment(arena, trial->request, run->regions.variables);
	}
}

static json_t *regions_collect(struct program_trial *trial, struct regions_run *run, bool done, json_t **notes) {
	const struct program_again again = {.environment = run->environment, .slowdown = 1};
	char why[PROGRAM_MESSAGE];
	bool good = done || program_trial_again(trial, &again, why, sizeof why);
	json_t *found = regions_read(&run->regions, notes);
	if (!good) {
		json_array_append_new(*notes, json_sprintf("the run for the regions failed: %s", why));
	}
	return found;
}

void regions_run_close(struct program_trial *trial, struct regions_run *run, bool done, json_t *reply) {
	json_t *notes = NULL, *found = NULL;
	if (!run->environment) {
		notes = json_pack("[s]", run->err.what);
	} else if (!trial->abandoned) {
		found = regions_collect(trial, run, done, &notes);
	}
	if (json_array_size(found) > 0) {
		json_object_set(reply, "regions", found);
	}
	if (json_array_size(notes) > 0) {
		json_object_set(reply, "regions_notes", notes);
	}
	json_decref(found);
	json_decref(notes);
	free(run->environment);
}
