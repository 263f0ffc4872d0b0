/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables as a whole: loads them, checks that they fit together, finds what they contain, and shows it. */
#include <dirent.h>
#include <fnmatch.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/expr/expr.h"
#include "base/text.h"
#include "counters/plan/plan_impl.h"
#include "base/json/js.h"
#include "base/sys.h"

/* Checks references between tables after all of them are read. */

enum { FORMULA_NAMES_MAX = 24, FILE_BYTES_MAX = 256 << 10, FOLDER_FILES_MAX = 256 };

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

static int names_check(const struct expr *expr, bool (*passes)(const void *ctx, const char *name), const void *ctx,
                       struct err *err) {
	size_t count = expr_name_count(expr);
	if (count > FORMULA_NAMES_MAX)
		return err_set(err, ERR_USAGE, NULL, "it names more than %d events", FORMULA_NAMES_MAX);
	for (size_t i = 0; i < count; i++) {
		const char *name = expr_name(expr, i);
		bool given = strcmp(name, "seconds") == 0 || strcmp(name, "threads") == 0 || strcmp(name, "line") == 0;
		if (!given && !passes(ctx, name))
			return err_set(err, ERR_USAGE, "events that 'events' lists, seconds, threads and line",
			               "'%.60s' is not an event that it may name", name);
	}
	return 0;
}

/* Checks each event that the formula names; `seconds`, `threads` and `line` always pass. */
static int table_formula_check(const char *formula, bool (*passes)(const void *ctx, const char *name), const void *ctx,
                               struct err *err) {
	struct expr *expr = expr_parse(formula, err);
	int rc = expr ? names_check(expr, passes, ctx, err) : -1;
	expr_free(expr);
	if (rc == 0 && strpbrk(formula, "'\""))
		rc = err_set(err, ERR_USAGE, NULL, "quoted words have no meaning here");
	return rc != 0 ? err_prefix(err, "'formula' \"%.100s\"", formula) : 0;
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
	return text_is_among(name, group->events, group->event_count);
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
static int table_folder_read(struct counter_tables *tables, const char *path, enum table_folder folder,
                             struct err *err) {
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
	int rc = path ? table_folder_read(tables, path, folder, err) : -1;
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
