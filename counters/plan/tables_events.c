/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads files of data/events/: portable events, and how families of CPUs count them. */
#include <ctype.h>

#include "base/expr/expr.h"
#include "base/json/js.h"
#include "base/text.h"
#include "counters/plan/plan_impl.h"

/* Checks members of the tables one by one. */

enum { TEXT_MAX = 400, NAME_MAX_LENGTH = 40, FORMULA_NAMES_MAX = 24 };

static bool is_clean(const char *text) {
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			return false;
	return true;
}

int table_text(const json_t *json, const char *key, const char **text, struct err *err) {
	if (js_string(json, key, text, err) != 0)
		return -1;
	if (!is_clean(*text) || strlen(*text) > TEXT_MAX)
		return err_set(err, ERR_USAGE, NULL, "'%s' must be one line of at most %d characters", key, TEXT_MAX);
	return 0;
}

int table_text_or_null(const json_t *json, const char *key, const char **text, struct err *err) {
	*text = NULL;
	return json_object_get(json, key) ? table_text(json, key, text, err) : 0;
}

/* Words that expressions reserve can't be names. */
static bool is_reserved(const char *name) {
	static const char *const reserved[] = {"seconds", "threads", "line", "and", "or",   "not",
	                                       "in",      "min",     "max",  "abs", "True", "False"};
	for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
		if (strcmp(name, reserved[i]) == 0)
			return true;
	return false;
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

int table_name(const json_t *json, const char *key, const char **name, struct err *err) {
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

int table_members(const json_t *json, const char *const *known, struct err *err) {
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

int table_formula_check(const char *formula, bool (*passes)(const void *ctx, const char *name), const void *ctx,
                        struct err *err) {
	struct expr *expr = expr_parse(formula, err);
	int rc = expr ? names_check(expr, passes, ctx, err) : -1;
	expr_free(expr);
	if (rc == 0 && strpbrk(formula, "'\""))
		rc = err_set(err, ERR_USAGE, NULL, "quoted words have no meaning here");
	return rc != 0 ? err_prefix(err, "'formula' \"%.100s\"", formula) : 0;
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

int table_cpu_read(struct counter_tables *tables, const char *file, const json_t *json, struct err *err) {
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
