/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks references between tables after all of them are read. */
#include <config.h>

#include <string.h>

#include "counters/plan/tables.h"

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

static int native_check(const struct counter_tables *tables, const struct table_family *family,
                        const struct table_native *native, struct err *err) {
	if (!table_event_find(tables, native->event))
		return err_set(err, ERR_USAGE, NULL, "\"%.60s\" is not a portable event", native->event);
	for (size_t i = 0; &family->natives[i] < native; i++)
		if (strcmp(family->natives[i].event, native->event) == 0)
			return err_set(err, ERR_USAGE, NULL, "\"%.60s\" occurs twice", native->event);
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
	for (size_t i = 0; i < group->event_count; i++)
		if (!table_event_find(tables, group->events[i]))
			return err_set(err, ERR_USAGE, "`sweetspot list metrics` and doc/counters.md have them",
			               "'events'[%zu]: \"%.60s\" is not an event", i, group->events[i]);
	for (size_t i = 0; i < group->metric_count; i++)
		if (table_formula_check(group->metrics[i].formula, is_of_group, group, err) != 0)
			return err_prefix(err, "'metrics'[%zu] \"%.60s\"", i, group->metrics[i].name);
	return 0;
}

int tables_check(const struct counter_tables *tables, struct err *err) {
	for (size_t i = 0; i < tables->event_count; i++)
		if (event_check(tables, &tables->events[i], err) != 0)
			return err_prefix(err, "%s: \"%.60s\"", tables->events[i].file, tables->events[i].name);
	for (size_t i = 0; i < tables->family_count; i++)
		for (size_t k = 0; k < tables->families[i].native_count; k++)
			if (native_check(tables, &tables->families[i], &tables->families[i].natives[k], err) != 0)
				return err_prefix(err, "%s: 'events'[%zu]", tables->families[i].file, k);
	for (size_t i = 0; i < tables->group_count; i++)
		if (group_check(tables, &tables->groups[i], err) != 0)
			return err_prefix(err, "%s", tables->groups[i].file);
	return 0;
}
