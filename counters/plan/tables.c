/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "counters/plan/tables.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/json/js.h"
#include "src/base/sys.h"

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
		char *file = mem_printf("%s/%s", path, entries[i]->d_name);
		if (rc == 0)
			rc = file_read(tables, file, folder, err);
		free(file);
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

/* Returns the number of literal characters in the family's best pattern that matches this CPU; 0: none matches. */
static size_t family_fits(const struct table_family *family, const char *cpu) {
	size_t best = 0;
	for (size_t i = 0; i < json_array_size(family->cpus); i++) {
		const char *pattern = json_string_value(json_array_get(family->cpus, i));
		size_t says = 1;
		for (const char *c = pattern; *c; c++)
			says += *c != '*' && *c != '?';
		if (says > best && fnmatch(pattern, cpu, FNM_NOESCAPE) == 0)
			best = says;
	}
	return best;
}

const struct table_native *table_native_find(const struct counter_tables *tables, const char *cpu, const char *event) {
	const struct table_native *best = NULL;
	size_t most = 0;
	for (size_t i = 0; i < tables->family_count; i++) {
		const struct table_family *family = &tables->families[i];
		size_t fits = family_fits(family, cpu);
		for (size_t k = 0; fits > most && k < family->native_count; k++) {
			if (strcmp(family->natives[k].event, event) == 0) {
				best = &family->natives[k];
				most = fits;
			}
		}
	}
	return best;
}
