/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows the tables as JSON. */
#include <config.h>

#include "counters/plan/tables.h"

static json_t *events_json(const struct table_group *group) {
	json_t *out = json_array();
	for (size_t i = 0; i < group->event_count; i++)
		json_array_append_new(out, json_string(group->events[i]));
	return out;
}

static json_t *metrics_json(const struct table_group *group) {
	json_t *out = json_array();
	for (size_t i = 0; i < group->metric_count; i++) {
		const struct table_metric *metric = &group->metrics[i];
		json_array_append_new(out, json_pack("{s:s, s:s, s:s, s:s}", "name", metric->name, "unit", metric->unit,
		                                     "formula", metric->formula, "summary", metric->summary));
	}
	return out;
}

json_t *counter_tables_groups(const struct counter_tables *tables) {
	json_t *out = json_array();
	for (size_t i = 0; i < tables->group_count; i++) {
		const struct table_group *group = &tables->groups[i];
		json_array_append_new(out, json_pack("{s:s, s:s, s:o, s:o}", "name", group->name, "summary", group->summary,
		                                     "events", events_json(group), "metrics", metrics_json(group)));
	}
	return out;
}

json_t *counter_tables_events(const struct counter_tables *tables) {
	json_t *out = json_array();
	for (size_t i = 0; i < tables->event_count; i++) {
		const struct table_event *event = &tables->events[i];
		json_t *row = json_pack("{s:s, s:s, s:s}", "name", event->name, "unit", event->unit, "summary", event->summary);
		json_t *sources = json_array();
		for (size_t k = 0; k < event->source_count; k++)
			json_array_append_new(sources, json_sprintf("%s:%s", event->sources[k].backend, event->sources[k].event));
		json_object_set_new(row, "known_as", sources);
		if (event->formula)
			json_object_set_new(row, "formula", json_string(event->formula));
		json_array_append_new(out, row);
	}
	return out;
}
