/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/regions_run.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "src/base/proc_spawn.h"

/* What every kernel counts, for anybody. */
static const struct regions_event *events_chosen(size_t *count) {
	static const struct regions_event events[] = {
		{"task-clock", "s", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 1e-9},
		{"page-faults", "count", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1},
	};
	*count = sizeof events / sizeof *events;
	return events;
}

/* The trial's, and what the library wants. */
static char **environment_make(struct arena *arena, const struct program_request *request, const struct regions *regions) {
	size_t count = 0;
	while (request->set[count]) {
		count++;
	}
	const char **set = arena_alloc(arena, count + REGIONS_VARIABLES + 1, sizeof *set);
	for (size_t i = 0; i < count; i++) {
		set[i] = request->set[i];
	}
	for (size_t i = 0; i < REGIONS_VARIABLES; i++) {
		set[count + i] = regions->variables[i];
	}
	return proc_environment(request->unset, set);
}

static json_t *run(struct arena *arena, struct program_trial *trial, json_t **notes, struct err *err) {
	struct regions regions;
	char message[PROGRAM_MESSAGE];
	size_t count;
	const struct regions_event *events = events_chosen(&count);
	if (regions_prepare(arena, trial->site.scratch.path, events, count, &regions, err) != 0) {
		return NULL;
	}
	char **environment = environment_make(arena, trial->request, &regions);
	bool good = program_trial_extra(trial, environment, message);
	free(environment);
	json_t *found = regions_read(&regions, notes);
	if (!good) {
		json_array_append_new(*notes, json_sprintf("the run for the regions failed: %s", message));
	}
	return found;
}

void regions_run(struct arena *arena, struct program_trial *trial, json_t *reply) {
	json_t *notes = NULL;
	struct err err;
	if (!trial->request->regions || trial->status) {
		return;
	}
	json_t *found = run(arena, trial, &notes, &err);
	if (!found) {
		notes = json_pack("[s]", err.what);
	}
	if (json_array_size(found) > 0) {
		json_object_set(reply, "regions", found);
	}
	if (json_array_size(notes) > 0) {
		json_object_set(reply, "regions_notes", notes);
	}
	json_decref(found);
	json_decref(notes);
}
