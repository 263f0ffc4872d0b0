/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <fnmatch.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counters/plan/plan_impl.h"
#include "base/json/js.h"
#include "base/sys.h"

/* Reads files of data/groups/ and of the user's own groups. */

static int loop_read(const json_t *json, struct table_event *event, struct err *err) {
	const char *word;
	if (table_text_or_null(json, "loop", &word, err) != 0)
		return -1;
	if (!word)
		return 0;
	if (!counter_loop_find(word, event->unit, &event->loop))
		return err_set(err, ERR_USAGE, NULL, "'loop': the calibrated loop does not promise \"%.60s\"", word);
	return 0;
}

static int source_read(struct counter_tables *tables, const json_t *json, struct table_source *source,
                       struct err *err) {
	if (!json_is_string(json) || !table_source_split(tables->arena, json_string_value(json), source))
		return err_set(err, ERR_USAGE, NULL, "a source must be \"BACKEND:EVENT\", such as \"perf:cycles\"");
	return 0;
}

static int sources_read(struct counter_tables *tables, const json_t *json, struct table_event *event, struct err *err) {
	static const char *const members[] = {"sources", "guesses"};
	json_t *list;
	struct table_source *sources = arena_alloc(tables->arena, 2 * TABLE_LIST_MAX, sizeof *sources);
	event->sources = sources;
	for (size_t m = 0; m < 2; m++) {
		if (m && !json_object_get(json, members[m]))
			break;
		if (js_array(json, members[m], TABLE_LIST_MAX, &list, err) != 0)
			return -1;
		js_each (source, list)
			if (source_read(tables, source, &sources[event->source_count++], err) != 0)
				return err_prefix(err, "'%s'[%zu]", members[m], source_at);
		event->sure_count = m ? event->sure_count : event->source_count;
	}
	return 0;
}

static int flag_read(const json_t *json, const char *key, bool *flag, struct err *err) {
	return json_object_get(json, key) ? js_bool(json, key, flag, err) : 0;
}

static int event_fill(struct counter_tables *tables, const json_t *json, struct table_event *event, struct err *err) {
	static const char *const known[] = {"name",      "unit",    "summary", "loop",    "never_zero", "simulated",
	                                    "simulator", "sources", "guesses", "formula", NULL};
	if (table_members(json, known, err) != 0 || table_name(json, "name", &event->name, err) != 0 ||
	    table_text(json, "unit", &event->unit, err) != 0 || table_text(json, "summary", &event->summary, err) != 0)
		return -1;
	if (loop_read(json, event, err) != 0 || flag_read(json, "never_zero", &event->never_zero, err) != 0 ||
	    flag_read(json, "simulated", &event->simulated, err) != 0)
		return -1;
	if (table_text_or_null(json, "simulator", &event->simulator, err) != 0 ||
	    table_text_or_null(json, "formula", &event->formula, err) != 0)
		return -1;
	return sources_read(tables, json, event, err);
}

/* One portable event, from an object. */
static int table_event_read(struct counter_tables *tables, const char *file, const json_t *json, struct err *err) {
	struct table_event event = {.file = file};
	if (event_fill(tables, json, &event, err) != 0)
		return event.name ? err_prefix(err, "\"%.60s\"", event.name) : -1;
	if (table_event_find(tables, event.name))
		return err_set(err, ERR_USAGE, NULL, "the event \"%.60s\" already exists", event.name);
	if (tables->event_count == TABLE_EVENTS_MAX)
		return err_set(err, ERR_USAGE, NULL, "more than %d events", TABLE_EVENTS_MAX);
	tables->events[tables->event_count++] = event;
	return 0;
}

/* Each reads one file into the tables; -1 and ERR_USAGE with the member. */
static int table_events_read(struct counter_tables *tables, const char *file, const json_t *json, struct err *err) {
	static const char *const known[] = {"schema", "source", "events", NULL};
	json_t *list;
	if (table_members(json, known, err) != 0 || js_array(json, "events", TABLE_EVENTS_MAX, &list, err) != 0)
		return -1;
	for (size_t i = 0; i < json_array_size(list); i++)
		if (table_event_read(tables, file, json_array_get(list, i), err) != 0)
			return err_prefix(err, "'events'[%zu]", i);
	return 0;
}

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
	static const char *const words[] = {"auto", "all", "none", "SDE", "multiplex"};
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

static int aliases_read(const json_t *json, struct table_group *group, struct err *err) {
	json_t *list;
	if (js_array(json, "aliases", TABLE_LIST_MAX, &list, err) != 0)
		return -1;
	js_each (alias, list) {
		const char *name = json_string_value(alias);
		if (!name || !*name || strlen(name) > NAME_MAX || is_taken(name))
			return err_set(err, ERR_USAGE, NULL, "[%zu]: \"%.60s\" cannot be a group's name", alias_at,
			               name ? name : "");
	}
	group->aliases = list;
	return 0;
}

static int device_read(const json_t *json, struct table_group *group, struct err *err) {
	bool automatic = true;
	if (table_text_or_null(json, "device", &group->device, err) != 0 ||
	    (json_object_get(json, "auto") && js_bool(json, "auto", &automatic, err) != 0))
		return -1;
	if (json_object_get(json, "aliases") && aliases_read(json, group, err) != 0)
		return err_prefix(err, "'aliases'");
	if (group->device && strcmp(group->device, "cuda") != 0)
		return err_set(err, ERR_USAGE, NULL, "'device': \"%.60s\" is not \"cuda\"", group->device);
	group->asked = !automatic;
	return 0;
}

static int table_group_read(struct counter_tables *tables, const char *file, const json_t *json, bool users,
                            struct err *err) {
	static const char *const known[] = {"schema", "name",   "summary", "aliases", "device",
	                                    "auto",   "events", "metrics", NULL};
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

/* Checks references between tables after all of them are read. */

static bool is_formula_somewhere(const struct counter_tables *tables, const char *name) {
	for (size_t i = 0; i < tables->family_count; i++)
		for (size_t k = 0; k < tables->families[i].native_count; k++)
			if (tables->families[i].natives[k].formula && strcmp(tables->families[i].natives[k].event, name) == 0)
				return true;
	return false;
}

/* A formula may only name events that are never a formula themselves, so that formulas end. */
static bool is_part(const void *ctx, const char *name) {
	const struct table_event *event = table_event_find(ctx, name);
	return event && !event->formula && !event->simulated && !is_formula_somewhere(ctx, name);
}

static int event_check(const struct counter_tables *tables, const struct table_event *event, struct err *err) {
	for (size_t i = 0; i < event->source_count; i++) {
		const struct counter_backend *backend = counter_find(event->sources[i].backend);
		if (backend && backend->scope == COUNTER_RERUN && !event->simulated)
			return err_set(err, ERR_USAGE, NULL, "'sources'[%zu]: %s is a simulator, so 'simulated' must be true", i,
			               backend->name);
	}
	return event->formula ? table_formula_check(event->formula, is_part, tables, err) : 0;
}

static int native_check(const struct counter_tables *tables, const struct table_native *native, struct err *err) {
	if (!table_event_find(tables, native->event))
		return err_set(err, ERR_USAGE, NULL, "\"%.60s\" is not a portable event", native->event);
	return native->formula ? table_formula_check(native->formula, is_part, tables, err) : 0;
}

static bool is_of_group(const void *ctx, const char *name) {
	const struct table_group *group = ctx;
	for (size_t i = 0; i < group->event_count; i++)
		if (strcmp(group->events[i], name) == 0)
			return true;
	return false;
}

/* Names match in any case, so a group must not differ from an event in case only. */
static bool is_event_name(const struct counter_tables *tables, const char *name) {
	for (size_t i = 0; i < tables->event_count; i++)
		if (strcasecmp(tables->events[i].name, name) == 0)
			return true;
	return false;
}

static int group_check(const struct counter_tables *tables, const struct table_group *group, struct err *err) {
	if (is_event_name(tables, group->name))
		return err_set(err, ERR_USAGE, NULL, "'name': \"%.60s\" is an event", group->name);
	js_each (alias, group->aliases)
		if (is_event_name(tables, json_string_value(alias)) || table_group_find(tables, json_string_value(alias)))
			return err_set(err, ERR_USAGE, NULL, "'aliases': \"%.60s\" is an event or a group",
			               json_string_value(alias));
	for (size_t i = 0; i < group->event_count; i++)
		if (!table_event_find(tables, group->events[i]))
			return err_set(err, ERR_USAGE, "`sweetspot list metrics` and doc/counters.md have them",
			               "'events'[%zu]: \"%.60s\" is not an event", i, group->events[i]);
	for (size_t i = 0; i < group->metric_count; i++)
		if (table_formula_check(group->metrics[i].formula, is_of_group, group, err) != 0)
			return err_prefix(err, "'metrics'[%zu] \"%.60s\"", i, group->metrics[i].name);
	return 0;
}

/* Checks references between tables, which is only possible after all are read. */
static int tables_check(const struct counter_tables *tables, struct err *err) {
	for (size_t i = 0; i < tables->event_count; i++)
		if (event_check(tables, &tables->events[i], err) != 0)
			return err_prefix(err, "%s: \"%.60s\"", tables->events[i].file, tables->events[i].name);
	for (size_t i = 0; i < tables->family_count; i++)
		for (size_t k = 0; k < tables->families[i].native_count; k++)
			if (native_check(tables, &tables->families[i].natives[k], err) != 0)
				return err_prefix(err, "%s: 'events'[%zu]", tables->families[i].file, k);
	for (size_t i = 0; i < tables->group_count; i++)
		if (group_check(tables, &tables->groups[i], err) != 0)
			return err_prefix(err, "%s", tables->groups[i].file);
	return 0;
}

enum { FILE_BYTES_MAX = 256 << 10, FOLDER_FILES_MAX = 256 };

struct counter_tables *counter_tables_new(void) {
	struct counter_tables *tables = mem_alloc(1, sizeof *tables);
	tables->arena = arena_new();
	tables->files = json_array();
	tables->events = arena_alloc(tables->arena, TABLE_EVENTS_MAX, sizeof *tables->events);
	tables->families = arena_alloc(tables->arena, TABLE_FAMILIES_MAX, sizeof *tables->families);
	tables->groups = arena_alloc(tables->arena, TABLE_GROUPS_MAX, sizeof *tables->groups);
	return tables;
}

void counter_tables_free(struct counter_tables *tables) {
	if (!tables)
		return;
	json_decref(tables->files);
	arena_free(tables->arena);
	free(tables);
}

static int json_read(struct counter_tables *tables, const char *file, const json_t *json, enum table_folder folder,
                     struct err *err) {
	static const char *const schemas[] = {"sweetspot-events/1", "sweetspot-cpu-events/1", "sweetspot-group/1"};
	const char *schema;
	if (js_string(json, "schema", &schema, err) != 0)
		return -1;
	if (folder != TABLE_EVENTS && strcmp(schema, schemas[2]) == 0)
		return table_group_read(tables, file, json, folder == TABLE_USERS, err);
	if (folder == TABLE_EVENTS && strcmp(schema, schemas[0]) == 0)
		return table_events_read(tables, file, json, err);
	if (folder == TABLE_EVENTS && strcmp(schema, schemas[1]) == 0)
		return table_cpu_read(tables, file, json, err);
	return err_set(err, ERR_USAGE, NULL, "'schema': \"%.60s\" is not \"%s\"%s", schema,
	               folder == TABLE_EVENTS ? schemas[0] : schemas[2],
	               folder == TABLE_EVENTS ? " or \"sweetspot-cpu-events/1\"" : "");
}

int counter_tables_add(struct counter_tables *tables, const char *file, json_t *json, enum table_folder folder,
                       struct err *err) {
	json_array_append_new(tables->files, json);
	return json_read(tables, file, json, folder, err) != 0 ? err_prefix(err, "%s", file) : 0;
}

static int file_read(struct counter_tables *tables, const char *path, enum table_folder folder, struct err *err) {
	const char *file = arena_strdup(tables->arena, path);
	struct stat what;
	if (stat(file, &what) == 0 && S_ISFIFO(what.st_mode)) /* opening it would block until a writer appears */
		return err_set(err, ERR_USAGE, NULL, "%s is a pipe", file);
	json_t *json = js_load(file, FILE_BYTES_MAX, err);
	return json ? counter_tables_add(tables, file, json, folder, err) : -1;
}

static int is_json(const struct dirent *entry) {
	return entry->d_name[0] != '.' && fnmatch("*.json", entry->d_name, 0) == 0;
}

/* Sorts by name, so that the same files always give the same tables. */
static int folder_read(struct counter_tables *tables, const char *path, enum table_folder folder, struct err *err) {
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, is_json, alphasort), rc = 0;
	if (count < 0 || count > FOLDER_FILES_MAX)
		rc = err_set(err, ERR_FAILED, NULL, count < 0 ? "%s cannot be read" : "%s has too many files", path);
	for (int i = 0; i < count; i++) {
		mem_auto char *file = mem_printf("%s/%s", path, entries[i]->d_name);
		if (rc == 0)
			rc = file_read(tables, file, folder, err);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

/* The folder may be NULL; err then says why. */
static int folder_add(struct counter_tables *tables, char *path, enum table_folder folder, struct err *err) {
	int rc = path ? folder_read(tables, path, folder, err) : -1;
	free(path);
	return rc;
}

static int user_groups_read(struct counter_tables *tables, struct err *err) {
	char *config = sys_config_dir(NULL), *path = config ? mem_printf("%s/groups", config) : NULL;
	bool there = path && access(path, F_OK) == 0;
	free(config);
	if (!there) {
		free(path);
		return 0;
	}
	int rc = folder_add(tables, path, TABLE_USERS, err);
	return rc != 0 && err && !err->hint[0] ? err_hint(err, "this group is yours: correct it, or move it away") : rc;
}

struct counter_tables *counter_tables_checked(struct counter_tables *tables, int rc, struct err *err) {
	if (rc == 0 && tables_check(tables, err) == 0)
		return tables;
	counter_tables_free(tables);
	return NULL;
}

struct counter_tables *counter_tables_load(struct err *err) {
	struct counter_tables *tables = counter_tables_new();
	int rc = folder_add(tables, sys_share_dir("events", err), TABLE_EVENTS, err);
	if (rc == 0)
		rc = folder_add(tables, sys_share_dir("groups", err), TABLE_GROUPS, err);
	if (rc == 0)
		rc = user_groups_read(tables, err);
	return counter_tables_checked(tables, rc, err);
}

struct counter_tables *counter_tables_load_from(const char *folder, struct err *err) {
	struct counter_tables *tables = counter_tables_new();
	int rc = folder_add(tables, mem_printf("%s/events", folder), TABLE_EVENTS, err);
	if (rc == 0)
		rc = folder_add(tables, mem_printf("%s/groups", folder), TABLE_GROUPS, err);
	return counter_tables_checked(tables, rc, err);
}

struct table_event *table_event_find(const struct counter_tables *tables, const char *name) {
	for (size_t i = 0; i < tables->event_count; i++)
		if (strcmp(tables->events[i].name, name) == 0)
			return &tables->events[i];
	return NULL;
}

struct table_group *table_group_find(const struct counter_tables *tables, const char *name) {
	for (size_t i = 0; i < tables->group_count; i++)
		if (strcasecmp(tables->groups[i].name, name) == 0)
			return &tables->groups[i];
	return NULL;
}

bool table_group_is(const struct table_group *group, const char *name) {
	js_each (alias, group->aliases)
		if (strcasecmp(json_string_value(alias), name) == 0)
			return true;
	return strcasecmp(group->name, name) == 0;
}

/* Shows the tables as JSON. */

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
		json_t *row = json_pack("{s:s, s:s, s:o, s:o}", "name", group->name, "summary", group->summary, "events",
		                        events_json(group), "metrics", metrics_json(group));
		if (group->aliases)
			json_object_set(row, "aliases", (json_t *)group->aliases);
		json_array_append_new(out, row);
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
		if (event->loop.word)
			json_object_set_new(row, "loop", json_string(event->loop.word));
		json_array_append_new(out, row);
	}
	return out;
}
