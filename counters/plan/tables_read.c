/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads files of data/events/ (portable events, and how families of CPUs count them), of data/groups/ and of the user's
 * own groups. */
#include <ctype.h>
#include <limits.h>

#include "base/json/js.h"
#include "base/text.h"
#include "counters/plan/plan_impl.h"

/* Checks members of the tables one by one. */

enum { TEXT_MAX = 400, NAME_MAX_LENGTH = 40 };

static bool is_clean(const char *text) {
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			return false;
	return true;
}

/* Readers of one member: a text without control characters and of limited length; a name such as l1d_misses. */
static int table_text(const json_t *json, const char *key, const char **text, struct err *err) {
	if (js_string(json, key, text, err) != 0)
		return -1;
	if (!is_clean(*text) || strlen(*text) > TEXT_MAX)
		return err_set(err, ERR_USAGE, NULL, "'%s' must be one line of at most %d characters", key, TEXT_MAX);
	return 0;
}

static int table_text_or_null(const json_t *json, const char *key, const char **text, struct err *err) {
	*text = NULL;
	return json_object_get(json, key) ? table_text(json, key, text, err) : 0;
}

/* Words that expressions reserve can't be names. */
static bool is_reserved(const char *name) {
	static const char *const reserved[] = {"seconds", "threads", "line", "and", "or",   "not",
	                                       "in",      "min",     "max",  "abs", "True", "False"};
	return text_is_one_of(name, reserved);
}

static bool is_name(const char *name) {
	size_t length = strlen(name);
	if (length == 0 || length > NAME_MAX_LENGTH || isdigit((unsigned char)name[0]) || is_reserved(name))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	return true;
}

static int table_name(const json_t *json, const char *key, const char **name, struct err *err) {
	if (table_text(json, key, name, err) != 0)
		return -1;
	return is_name(*name)
	           ? 0
	           : err_set(err, ERR_USAGE, "letters, digits and _", "'%s': \"%.60s\" cannot be a name", key, *name);
}

static const char *unknown_member(const json_t *json, const char *const *known) {
	js_members (key, value, json) {
		size_t i = 0;
		while (known[i] && strcmp(known[i], key) != 0)
			i++;
		if (!known[i])
			return key;
	}
	return NULL;
}

/* Checks that this list contains all members of the object (NULL ends it). */
static int table_members(const json_t *json, const char *const *known, struct err *err) {
	size_t count = 0;
	if (!json_is_object(json))
		return err_set(err, ERR_USAGE, NULL, "it must be an object");
	const char *key = unknown_member(json, known);
	if (!key)
		return 0;
	while (known[count])
		count++;
	const char *near = near_word(key, known, count);
	err_set(err, ERR_USAGE, NULL, "unknown member '%.60s'", key);
	return near ? err_hint(err, "did you mean '%s'?", near) : -1;
}

static int texts_check(const json_t *list, struct err *err) {
	for (size_t i = 0; i < json_array_size(list); i++)
		if (!json_is_string(json_array_get(list, i)))
			return err_set(err, ERR_USAGE, NULL, "[%zu] must be a string", i);
	return 0;
}

bool table_source_split(struct arena *arena, const char *text, struct table_source *source) {
	const char *colon = strchr(text, ':');
	if (!colon || colon == text || !colon[1] || strpbrk(text, " \t"))
		return false;
	source->backend = arena_printf(arena, "%.*s", (int)(colon - text), text);
	source->event = arena_strdup(arena, colon + 1);
	return true;
}

/* A number as manuals print it; may be missing or null. */
static int code_check(const json_t *json, const char *key, struct err *err) {
	const json_t *value = json_object_get(json, key);
	const char *text = json_string_value(value);
	if (json_is_null(value) || !value ||
	    (text && strncmp(text, "0x", 2) == 0 && text[2] && strlen(text) <= 18 &&
	     !text[2 + strspn(text + 2, "0123456789ABCDEF")]))
		return 0;
	return err_set(err, ERR_USAGE, NULL, "'%s' must be a number such as \"0xC4\"", key);
}

/* perf_event_attr.config of a raw event; the vendor's name beside it tells readers what to compare it with. */
static int raw_read(const json_t *json, const char **raw, struct err *err) {
	const char *vendor;
	if (table_text_or_null(json, "perf", raw, err) != 0 || !*raw)
		return *raw ? -1 : 0;
	if (table_text(json, "vendor", &vendor, err) != 0)
		return -1;
	size_t digits = (*raw)[0] == 'r' ? strspn(*raw + 1, "0123456789abcdef") : 0;
	if (digits == 0 || digits > 16 || (*raw)[1 + digits])
		return err_set(err, ERR_USAGE, NULL, "'perf': \"%.60s\" is not a raw event such as \"r01c2\"", *raw);
	return 0;
}

/* The PMU that counts it, and whether it counts for all. */
static int place_read(const json_t *json, const char **pmu, bool *uncore, struct err *err) {
	const char *scope;
	if (table_text_or_null(json, "pmu", pmu, err) != 0 || table_text_or_null(json, "scope", &scope, err) != 0)
		return -1;
	*uncore = scope;
	if (*pmu && (!**pmu || (*pmu)[strspn(*pmu, "abcdefghijklmnopqrstuvwxyz0123456789_")]))
		return err_set(err, ERR_USAGE, NULL, "'pmu': \"%.60s\" is not a name such as \"cpu_core\"", *pmu);
	if (scope && (strcmp(scope, "uncore") != 0 || !*pmu))
		return err_set(err, ERR_USAGE, NULL, "'scope' must be \"uncore\", with the 'pmu' that counts");
	return 0;
}

/* Several rows of an event are counted together and added up, in one word: "cpu_core/r00c4/,cpu_atom/r00c4/". */
static int term_add(struct counter_tables *tables, const json_t *json, struct table_native *native, struct err *err) {
	const char *raw, *pmu;
	bool uncore;
	if (raw_read(json, &raw, err) != 0 || place_read(json, &pmu, &uncore, err) != 0)
		return -1;
	if (!raw)
		return 0;
	const char *backend = uncore ? "uncore" : "perf", *before = native->source.event;
	const char *term = pmu ? arena_printf(tables->arena, "%s/%s/", pmu, raw) : raw;
	if (before && strcmp(native->source.backend, backend) != 0)
		return err_set(err, ERR_USAGE, NULL, "'scope' differs from that of an earlier row");
	native->source.backend = backend;
	native->source.event = before ? arena_printf(tables->arena, "%s,%s", before, term) : term;
	return 0;
}

static struct table_native *native_of(struct table_family *family, struct table_native *natives, const char *event) {
	for (size_t i = 0; i < family->native_count; i++)
		if (strcmp(natives[i].event, event) == 0)
			return &natives[i];
	natives[family->native_count].event = event;
	return &natives[family->native_count++];
}

static int native_read(struct counter_tables *tables, const json_t *json, struct table_family *family,
                       struct table_native *natives, struct err *err) {
	static const char *const known[] = {"event", "code", "umask", "perf", "vendor", "pmu", "scope", "formula", NULL};
	const char *event, *formula;
	if (table_members(json, known, err) != 0 || table_name(json, "event", &event, err) != 0)
		return -1;
	struct table_native *native = native_of(family, natives, event);
	if (code_check(json, "code", err) != 0 || code_check(json, "umask", err) != 0 ||
	    term_add(tables, json, native, err) != 0 || table_text_or_null(json, "formula", &formula, err) != 0)
		return err_prefix(err, "\"%.60s\"", event);
	native->formula = formula ? formula : native->formula;
	if (!json_object_get(json, "perf") == !formula)
		return err_set(err, ERR_USAGE, NULL, "\"%.60s\": 'perf' or 'formula' is missing", event);
	return 0;
}

static int natives_read(struct counter_tables *tables, struct table_family *family, struct err *err) {
	struct table_native *natives = arena_alloc(tables->arena, json_array_size(family->rows) + 1, sizeof *natives);
	family->natives = natives;
	js_each (row, family->rows)
		if (native_read(tables, row, family, natives, err) != 0)
			return err_prefix(err, "'events'[%zu]", row_at);
	return 0;
}

static int names_read(const json_t *json, struct table_family *family, struct err *err) {
	json_t *names = NULL;
	if (json_object_get(json, "names") && js_array(json, "names", TABLE_LIST_MAX, &names, err) != 0)
		return -1;
	family->names = names;
	family->line = 64;
	if (json_object_get(json, "line") && js_int(json, "line", 16, 1024, &family->line, err) != 0)
		return -1;
	if (json_object_get(json, "common") && js_bool(json, "common", &family->common, err) != 0)
		return -1;
	return names && texts_check(names, err) != 0 ? err_prefix(err, "'names'") : 0;
}

static int table_cpu_read(struct counter_tables *tables, const char *file, const json_t *json, struct err *err) {
	static const char *const known[] = {"schema", "name",   "summary", "source", "names",
	                                    "line",   "common", "cpus",    "events", NULL};
	struct table_family family = {.file = file};
	json_t *cpus, *list;
	if (table_members(json, known, err) != 0 || table_text(json, "name", &family.name, err) != 0 ||
	    table_text(json, "summary", &family.summary, err) != 0 || table_text(json, "source", &family.list, err) != 0)
		return -1;
	if (js_array(json, "cpus", TABLE_LIST_MAX, &cpus, err) != 0 ||
	    js_array(json, "events", TABLE_EVENTS_MAX, &list, err) != 0 || names_read(json, &family, err) != 0)
		return -1;
	if (texts_check(cpus, err) != 0)
		return err_prefix(err, "'cpus'");
	if (tables->family_count == TABLE_FAMILIES_MAX)
		return err_set(err, ERR_USAGE, NULL, "more than %d families of CPUs", TABLE_FAMILIES_MAX);
	family.cpus = cpus;
	family.rows = list;
	if (natives_read(tables, &family, err) != 0)
		return -1;
	tables->families[tables->family_count++] = family;
	return 0;
}

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
