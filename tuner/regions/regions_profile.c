/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json/js.h"
#include "tuner/regions/impl.h"
#include "tuner/same/same.h"

/* Clocks of perf_event_open(2) count nanoseconds: PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK and _TASK_CLOCK. */
static double unit_of(const struct omp_event *event) {
	return event->type == 1 && event->config <= 1 ? 1e-9 : 1;
}

static json_t *counts_json(const struct omp_record *raw, const struct omp_region *facts) {
	json_t *json = json_object();
	for (uint32_t i = 0; i < raw->event_count; i++)
		json_object_set_new(json, raw->events[i].name,
		                    raw->events[i].error ? json_null()
		                                         : js_number((double)facts->counts[i] * unit_of(&raw->events[i])));
	return json;
}

/* Counting slows the regions down, so it has a run of its own. */
static int count(struct regions_runs *runs, const struct regions_record *record, json_t *json, struct err *err) {
	struct regions_run run;
	struct regions_setting none = {0};
	const struct regions_table table = {.any = &none, .columns = 1};
	runs->counting = true;
	int failed = regions_run_recorded(runs, &table, NULL, 0, "counters", &run, err);
	runs->counting = false;
	for (size_t i = 0; !failed && i < run.record->count; i++) {
		const struct regions_region *region = &run.record->regions[i];
		size_t there = regions_record_find(record, region->module, region->offset, region->facts.size_class);
		if (there != SIZE_MAX)
			json_object_set_new(json_array_get(json, there), "counters", counts_json(run.record->raw, &region->facts));
	}
	if (!failed)
		regions_record_free(run.record);
	return failed;
}

json_t *regions_profile(const struct regions_options *options, struct err *err) {
	struct regions_setting none = {0};
	const struct regions_table table = {.busy = true, .any = &none, .columns = 1};
	struct regions_runs runs;
	struct regions_run run;
	json_t *json = NULL, *counted = json_array();
	if (!regions_runs_open(&runs, options, err) &&
	    !regions_run_recorded(&runs, &table, NULL, 0, "profile", &run, err)) {
		for (size_t i = 0; i < run.record->count; i++)
			json_array_append_new(counted, json_object());
		if (!options->counters || count(&runs, run.record, counted, err) == 0)
			json = regions_profile_json(&run, counted);
		if (json) {
			if (json_array_size(run.ranks))
				json_object_set(json, "ranks", run.ranks);
			json_object_set_new(json, "asks", json_boolean(regions_record_asks(run.record)));
			json_object_set_new(json, "shows", json_boolean(same_shows(runs.seen)));
		}
		json_decref(run.ranks);
		regions_record_free(run.record);
	}
	json_decref(counted);
	regions_runs_close(&runs);
	return json;
}
