/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads files of data/groups/ and of the user's own groups. */
#include <config.h>

#include <string.h>

#include "counters/plan/tables.h"
#include "src/base/json/js.h"

/* A group's event is either a portable one by name or one that this file defines. */
static int group_event_read(struct counter_tables *tables, const char *file, const json_t *json, const char **name,
                            struct err *err) {
	if (json_is_string(json)) {
		*name = json_string_value(json);
		return 0;
	}
	if (!json_is_object(json))
		return err_set(err, ERR_USAGE, NULL, "it must be the name of an event, or an object that describes one");
	if (table_event_read(tables, file, json, err) != 0)
		return -1;
	*name = tables->events[tables->event_count - 1].name;
	return 0;
}

static int group_events_read(struct counter_tables *tables, const json_t *json, struct table_group *group,
                             struct err *err) {
	json_t *list;
	if (js_array(json, "events", TABLE_LIST_MAX, &list, err) != 0)
		return -1;
	group->event_count = json_array_size(list);
	group->events = arena_alloc(tables->arena, group->event_count + 1, sizeof *group->events);
	if (group->event_count == 0)
		return err_set(err, ERR_USAGE, NULL, "'events' is empty");
	for (size_t i = 0; i < group->event_count; i++)
		if (group_event_read(tables, group->file, json_array_get(list, i), &group->events[i], err) != 0)
			return err_prefix(err, "'events'[%zu]", i);
	return 0;
}

static int metric_read(const json_t *json, struct table_metric *metric, struct err *err) {
	static const char *const known[] = {"name", "unit", "formula", "summary", NULL};
	if (table_members(json, known, err) != 0 || table_text(json, "name", &metric->name, err) != 0)
		return -1;
	if (table_text(json, "unit", &metric->unit, err) != 0 || table_text(json, "formula", &metric->formula, err) != 0 ||
	    table_text(json, "summary", &metric->summary, err) != 0)
		return err_prefix(err, "\"%.60s\"", metric->name);
	return metric->name[0] ? 0 : err_set(err, ERR_USAGE, NULL, "'name' is empty");
}

static int metrics_read(struct counter_tables *tables, const json_t *json, struct table_group *group, struct err *err) {
	json_t *list;
	if (js_array(json, "metrics", TABLE_LIST_MAX, &list, err) != 0)
		return -1;
	struct table_metric *metrics = arena_alloc(tables->arena, json_array_size(list) + 1, sizeof *metrics);
	for (size_t i = 0; i < json_array_size(list); i++)
		if (metric_read(json_array_get(list, i), &metrics[i], err) != 0)
			return err_prefix(err, "'metrics'[%zu]", i);
	group->metrics = metrics;
	group->metric_count = json_array_size(list);
	return 0;
}

/* Is this name already a word of the command line or a backend? */
static bool is_taken(const char *name) {
	static const char *const words[] = {"auto", "all", "none", "SDE"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasecmp(words[i], name) == 0)
			return true;
	for (size_t i = 0; counter_registry[i]; i++)
		if (strcasecmp(counter_registry[i]->name, name) == 0)
			return true;
	return false;
}

/* Returns the group's slot: that of an installed group of the same name if the new one is the user's. NULL: none is
 * free. */
static struct table_group *place_find(struct counter_tables *tables, const struct table_group *group, struct err *err) {
	struct table_group *old = table_group_find(tables, group->name);
	if (is_taken(group->name) || (old && old->users == group->users))
		err_set(err, ERR_USAGE, NULL, "'name': \"%.60s\" is taken", group->name);
	else if (!old && tables->group_count == TABLE_GROUPS_MAX)
		err_set(err, ERR_USAGE, NULL, "more than %d groups", TABLE_GROUPS_MAX);
	else
		return old ? old : &tables->groups[tables->group_count++];
	return NULL;
}

static int device_read(const json_t *json, struct table_group *group, struct err *err) {
	bool automatic = true;
	if (table_text_or_null(json, "device", &group->device, err) != 0 ||
	    (json_object_get(json, "auto") && js_bool(json, "auto", &automatic, err) != 0))
		return -1;
	if (group->device && strcmp(group->device, "cuda") != 0)
		return err_set(err, ERR_USAGE, NULL, "'device': \"%.60s\" is not \"cuda\"", group->device);
	group->asked = !automatic;
	return 0;
}

int table_group_read(struct counter_tables *tables, const char *file, const json_t *json, bool users, struct err *err) {
	static const char *const known[] = {"schema", "name", "summary", "device", "auto", "events", "metrics", NULL};
	struct table_group group = {.file = file, .users = users};
	if (table_members(json, known, err) != 0 || table_name(json, "name", &group.name, err) != 0 ||
	    table_text(json, "summary", &group.summary, err) != 0)
		return -1;
	if (device_read(json, &group, err) != 0 || group_events_read(tables, json, &group, err) != 0 ||
	    metrics_read(tables, json, &group, err) != 0)
		return -1;
	struct table_group *place = place_find(tables, &group, err);
	if (!place)
		return -1;
	*place = group;
	return 0;
}
