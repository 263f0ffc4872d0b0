/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan of a processor that is not here: what its kernel and PAPI would be asked for, by the tables alone. */
#include <ctype.h>
#include <math.h>
#include <strings.h>

#include "base/json/js.h"
#include "base/text.h"
#include "counters/plan/plan_impl.h"

/* The machine that is assumed. */
struct elsewhere {
	const struct counter_tables *tables;
	const struct table_family *family; /* NULL: unknown */
	const char *cpu;
	bool papi; /* it has PAPI, with every preset */
};

static bool is_x86(const struct table_family *family) {
	const char *first = family ? json_string_value(json_array_get(family->cpus, 0)) : NULL;
	return first && (strncmp(first, "Genuine", 7) == 0 || strncmp(first, "Authentic", 9) == 0);
}

static bool assumed(void *ctx, const struct counter_backend *backend, const char *event,
                    const struct counter_loop *loop, char reason[COUNTER_REASON]) {
	const struct elsewhere *there = ctx;
	(void)event;
	(void)loop;
	snprintf(reason, COUNTER_REASON, "not assumed of a machine that is not here");
	return strcmp(backend->name, "perf") == 0 || strcmp(backend->name, "uncore") == 0 ||
	       strcmp(backend->name, "rusage") == 0 || (strcmp(backend->name, "papi") == 0 && there->papi) ||
	       (strcmp(backend->name, "rapl") == 0 && is_x86(there->family));
}

/* The same letters and digits, whatever stands between: `Sapphire Rapids` is sapphirerapids. */
static bool is_spelled(const char *a, const char *b) {
	for (;; a++, b++) {
		while (*a && !isalnum((unsigned char)*a))
			a++;
		while (*b && !isalnum((unsigned char)*b))
			b++;
		if (!*a || tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return !*a && !*b;
	}
}

static bool is_named(const struct table_family *family, const char *name) {
	js_each (other, family->names)
		if (is_spelled(json_string_value(other), name))
			return true;
	return is_spelled(family->name, name);
}

static const struct table_family *named_find(const struct counter_tables *tables, const char *name) {
	for (size_t i = 0; i < tables->family_count; i++)
		if (is_named(&tables->families[i], name))
			return &tables->families[i];
	return NULL;
}

/* The digits of two numbers around a hyphen, each with 0x or without. */
static bool digits_read(const char *text, char first[8], char second[8]) {
	int used = 0;
	text += strncasecmp(text, "0x", 2) == 0 ? 2 : 0;
	if (sscanf(text, "%7[0-9a-fA-F]-%n", first, &used) != 1 || !used)
		return false;
	text += used;
	text += strncasecmp(text, "0x", 2) == 0 ? 2 : 0;
	return sscanf(text, "%7[0-9a-fA-F]%n", second, &used) == 1 && !text[used];
}

static const struct table_family *x86_find(struct elsewhere *there, struct arena *arena, unsigned long family,
                                           unsigned long model) {
	static const char *const vendors[] = {"GenuineIntel", "AuthenticAMD", "HygonGenuine"};
	for (size_t i = 0; i < sizeof vendors / sizeof *vendors && !there->family; i++) {
		there->cpu = arena_printf(arena, "%s-%lu-%lX", vendors[i], family, model);
		there->family = table_family_find(there->tables, there->cpu);
	}
	return there->family;
}

/* FAMILY-MODEL, decimal and hexadecimal, or IMPLEMENTER-PART, both hexadecimal: the vendor whose list has it. Arm's
 * implementers are letters, so that they begin at 0x41. 1: something else. */
static int numbers_read(struct elsewhere *there, struct arena *arena, const char *text, struct err *err) {
	char first[8], second[8];
	if (!digits_read(text, first, second))
		return 1;
	unsigned long family = strtoul(first, NULL, 10), implementer = strtoul(first, NULL, 16);
	if (x86_find(there, arena, family, strtoul(second, NULL, 16)))
		return 0;
	if (implementer >= 0x41) {
		there->cpu = arena_printf(arena, "arm-%lx-%lx", implementer, strtoul(second, NULL, 16));
		there->family = table_family_find(there->tables, there->cpu);
	} else if (second[strspn(second, "0123456789")] == '\0' &&
	           x86_find(there, arena, family, strtoul(second, NULL, 10))) { /* as /proc/cpuinfo shows it */
		err_set(err, ERR_USAGE, NULL, "no processor \"%s\" is known: the model is hexadecimal", text);
		return err_hint(err, "did you mean %lu-%lX?", family, strtoul(second, NULL, 10));
	}
	return 0;
}

static const char *name_near(const struct counter_tables *tables, const char *text) {
	const char *names[8 * TABLE_FAMILIES_MAX];
	size_t count = 0;
	for (size_t i = 0; i < tables->family_count; i++) {
		names[count++] = tables->families[i].name;
		js_each (name, tables->families[i].names)
			if (count < 7 * TABLE_FAMILIES_MAX)
				names[count++] = json_string_value(name);
	}
	return near_word(text, names, count);
}

static int cpu_read(struct elsewhere *there, struct arena *arena, const char *text, struct err *err) {
	there->cpu = text;
	there->family = named_find(there->tables, text);
	if (!there->family)
		there->family = table_family_find(there->tables, text);
	int status = there->family ? 0 : numbers_read(there, arena, text, err);
	if (status <= 0)
		return status;
	const char *near = name_near(there->tables, text);
	err_set(err, ERR_USAGE, NULL, "no processor \"%.60s\" is known", text);
	return err_hint(err,
	                "%s%s%sgive FAMILY-MODEL as 6-8F, 25-11 or 41-d40, which `lscpu` shows there (of x86, the "
	                "model in hexadecimal), or a name such as sapphirerapids or genoa",
	                near ? "did you mean " : "", near ? near : "", near ? "? or " : "");
}

static json_t *row_new(const char *name, const char *source, const char *scope) {
	return json_pack("{s:s, s:s, s:n, s:n, s:s}", "name", name, "source", source, "code", "umask", "scope", scope);
}

/* One row for each hardware event; a source that the tables do not number has one without a code. */
static void rows_add(const struct elsewhere *there, const struct counter_event *event, json_t *rows) {
	const char *backend = event->backend->name;
	bool papi = strcmp(backend, "papi") == 0, found = false;
	mem_auto char *source = papi ? mem_printf("papi:%s", event->event) : mem_strdup(backend);
	js_each (own, there->family ? there->family->rows : NULL) {
		if (strcmp(js_string_or(own, "event", ""), event->name) != 0 || !json_object_get(own, "perf"))
			continue;
		json_t *row = row_new(event->name, source, js_string_or(own, "scope", "core"));
		json_object_update_existing(row, (json_t *)own);
		json_object_set(row, "vendor", json_object_get(own, "vendor"));
		if (json_object_get(own, "pmu"))
			json_object_set(row, "pmu", json_object_get(own, "pmu"));
		json_array_append_new(rows, row);
		found = true;
	}
	if (!found)
		json_array_append_new(rows, row_new(event->name, source, strcmp(backend, "rapl") == 0 ? "socket" : "core"));
}

/* Is every event that the metric names counted? */
static bool is_told(const struct counter_plan *plan, size_t metric) {
	double values[PLAN_EVENTS_MAX], ignored;
	char reason[COUNTER_REASON] = "";
	for (size_t i = 0; i < plan->event_count; i++)
		values[i] = plan->events[i].backend ? (double)(i + 3) : NAN;
	return counter_metric_value(plan, metric, values, 1, 1, &ignored, reason) || !strstr(reason, "was not counted");
}

static json_t *group_plan(const struct elsewhere *there, const struct counter_plan *plan) {
	json_t *rows = json_array(), *formulas = json_array(), *missing = json_array();
	for (size_t i = 0; i < plan->event_count; i++)
		if (plan->events[i].backend)
			rows_add(there, &plan->events[i], rows);
		else
			json_array_append_new(missing, json_string(plan->events[i].name));
	for (size_t i = 0; i < plan->metric_count; i++)
		if (is_told(plan, i))
			json_array_append_new(formulas, json_pack("{s:s, s:s, s:s}", "name", plan->metrics[i].name, "text",
			                                          plan->metrics[i].formula, "unit", plan->metrics[i].unit));
	return json_pack("{s:o, s:o, s:o}", "events", rows, "formulas", formulas, "missing", missing);
}

/* Simulated groups are the same everywhere, and those of a GPU do not depend on the processor. */
static bool is_listed(const struct elsewhere *there, const struct table_group *group, const char *prefix) {
	const struct table_event *first = table_event_find(there->tables, group->events[0]);
	return !group->device && !(first && first->simulated) && (!*prefix || table_group_is(group, prefix));
}

static json_t *groups_plan(struct elsewhere *there, struct arena *arena, const char *prefix, struct err *err) {
	const struct counter_judge judge = {there, there->cpu, assumed, "cpu"};
	json_t *out = json_object();
	for (size_t i = 0; i < there->tables->group_count; i++) {
		const struct table_group *group = &there->tables->groups[i];
		const char *const asked[] = {group->name, NULL};
		struct counter_plan *plan =
			is_listed(there, group, prefix) ? counter_plan_new(arena, there->tables, asked, NULL, &judge, err) : NULL;
		if (plan)
			json_object_set_new(out, group->name, group_plan(there, plan));
		counter_plan_clear(plan);
	}
	return out;
}

/* The PMUs of the cores, where they have names because there are several kinds. */
static json_t *pmus_list(const struct table_family *family) {
	json_t *out = json_array();
	js_each (row, family ? family->rows : NULL) {
		const char *pmu = js_string_or(row, "pmu", NULL);
		bool there = !pmu || json_object_get(row, "scope");
		js_each (old, out)
			there = there || strcmp(json_string_value(old), pmu) == 0;
		if (!there)
			json_array_append_new(out, json_string(pmu));
	}
	return out;
}

json_t *counter_tables_elsewhere(const struct counter_tables *tables, const char *cpu, const char *papi,
                                 const char *prefix, struct err *err) {
	struct arena *arena = arena_new();
	struct elsewhere there = {.tables = tables, .papi = papi};
	json_t *out = NULL;
	if (papi && (!*papi || strspn(papi, "0123456789.") != strlen(papi)))
		err_set(err, ERR_USAGE, "a release such as 7.1", "\"%.40s\" is not a version of PAPI", papi);
	else if (cpu_read(&there, arena, cpu, err) == 0) {
		const struct table_family *family = there.family;
		there.cpu = family ? family->name : there.cpu;
		out = json_pack("{s:{s:s, s:s, s:s?, s:b, s:s?}, s:o, s:o}", "cpu", "id", cpu, "name",
		                family ? family->name : "unknown", "summary", family ? family->summary : NULL, "known",
		                family && !family->common, "list", family ? family->list : NULL, "pmus", pmus_list(family),
		                "groups", groups_plan(&there, arena, prefix, err));
	}
	arena_free(arena);
	return out;
}
