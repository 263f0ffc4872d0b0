/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds events to a plan, each once. */
#include <config.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "counters/plan/build.h"
#include "src/base/expr/expr.h"

/* Returns the plan's event of this name, or a new one; NULL if the plan is full. */
static struct counter_event *plan_event(struct plan_build *build, const char *name, const char *group) {
	struct counter_plan *plan = build->plan;
	if (plan->event_count == PLAN_EVENTS_MAX) {
		build->full = true;
		return NULL;
	}
	struct counter_event *event = &plan->events[plan->event_count++];
	*event = (struct counter_event){.name = name, .group = group};
	return event;
}

static void counted_add(struct plan_build *build, const struct table_event *event, const char *group) {
	const struct resolution *way = plan_resolve(build, event);
	struct counter_event *added =
		counter_plan_find(build->plan, event->name) ? NULL : plan_event(build, event->name, group);
	if (!added)
		return;
	added->unit = event->unit;
	added->backend = way->backend;
	added->event = way->event;
	added->never_zero = event->never_zero;
	if (!way->backend)
		snprintf(added->reason, sizeof added->reason, "%s", way->reason);
}

void plan_portable(struct plan_build *build, const struct table_event *event, const char *group) {
	const char *formula = plan_resolve(build, event)->formula;
	struct expr *parts = formula ? expr_parse(formula, NULL) : NULL;
	if (!parts)
		counted_add(build, event, group);
	for (size_t i = 0; parts && i < expr_name_count(parts); i++)
		counted_add(build, table_event_find(build->tables, expr_name(parts, i)), group);
	expr_free(parts);
}

static size_t name_length(const char *text) {
	size_t length = 0;
	while (isalnum((unsigned char)text[length]) || text[length] == '_')
		length++;
	return length;
}

/* Skips the letters of a number, because the e of 1e9 is not a name. */
static const char *piece(struct plan_build *build, const char *text, size_t length) {
	const char *word = arena_printf(build->arena, "%.*s", (int)length, text);
	bool named = isalpha((unsigned char)word[0]) || word[0] == '_';
	const struct table_event *event = named ? table_event_find(build->tables, word) : NULL;
	const char *formula = event ? plan_resolve(build, event)->formula : NULL;
	return formula ? arena_printf(build->arena, "(%s)", formula) : word;
}

const char *plan_formula(struct plan_build *build, const char *formula) {
	const char *out = "";
	while (*formula) {
		size_t length = name_length(formula);
		if (length == 0) {
			length = 1;
			while (formula[length] && name_length(formula + length) == 0)
				length++;
		}
		out = arena_printf(build->arena, "%s%s", out, piece(build, formula, length));
		formula += length;
	}
	return out;
}

void plan_metric(struct plan_build *build, const char *group, const char *name, const char *unit, const char *formula) {
	struct counter_plan *plan = build->plan;
	struct expr *expr = plan->metric_count < PLAN_METRICS_MAX ? expr_parse(formula, NULL) : NULL;
	if (expr)
		plan->metrics[plan->metric_count++] =
			(struct counter_metric){.group = group, .name = name, .unit = unit, .formula = formula, .expr = expr};
	else
		build->full = true;
}

static const char *const *events_of(struct plan_build *build, const struct counter_backend *backend, size_t *count) {
	*count = backend->software && build->software ? build->software->count : counter_event_count(backend);
	return backend->software && build->software ? build->software->names : backend->events;
}

/* Returns the backend's word for an event that the kernel defines. */
static const char *software_word(struct plan_build *build, const struct counter_backend *backend, const char *name) {
	if (strcmp(backend->name, "papi-sde") != 0)
		return name;
	return arena_printf(build->arena, "sde:::%s::%s", build->software->owner, name);
}

/* Returns the portable event that lists this source, for its least count and its unit. */
static const struct table_event *source_portable(const struct plan_build *build, const struct table_source *source) {
	const struct counter_tables *tables = build->tables;
	for (size_t i = 0; tables && i < tables->event_count; i++)
		for (size_t k = 0; k < tables->events[i].source_count; k++)
			if (strcmp(tables->events[i].sources[k].backend, source->backend) == 0 &&
			    strcmp(tables->events[i].sources[k].event, source->event) == 0)
				return &tables->events[i];
	return NULL;
}

/* Two backends may have an event of the same name, so the second one's name includes its source. NULL: it is in the
 * plan already. */
static const char *free_name(struct plan_build *build, const struct counter_backend *backend, const char *name) {
	const struct counter_event *there = counter_plan_find(build->plan, name);
	if (!there)
		return name;
	if (there->backend == backend || !there->backend)
		return NULL;
	const char *full = arena_printf(build->arena, "%s:%s", backend->name, name);
	return counter_plan_find(build->plan, full) ? NULL : full;
}

void plan_backend(struct plan_build *build, const struct counter_backend *backend) {
	size_t count;
	const char *const *names = events_of(build, backend, &count);
	for (size_t i = 0; i < count; i++) {
		const char *name = free_name(build, backend, names[i]);
		struct counter_event *event = name ? plan_event(build, name, NULL) : NULL;
		if (!event)
			continue;
		const bool own = backend->software && build->software;
		const struct table_source source = {backend->name, own ? software_word(build, backend, names[i]) : names[i]};
		const struct table_event *portable = own ? NULL : source_portable(build, &source);
		event->event = source.event;
		event->never_zero = portable && portable->never_zero;
		if (!plan_try(build, &source, portable ? portable->least : 0, &event->backend, event->reason))
			event->backend = NULL;
	}
}

bool plan_source(struct plan_build *build, const char *word) {
	struct table_source source;
	if (!table_source_split(build->arena, word, &source) || !counter_find(source.backend))
		return false;
	struct counter_event *event = counter_plan_find(build->plan, word) ? NULL : plan_event(build, word, NULL);
	if (!event)
		return true;
	const struct table_event *portable = source_portable(build, &source);
	event->event = source.event;
	event->unit = portable ? portable->unit : NULL;
	event->never_zero = portable && portable->never_zero;
	if (!plan_try(build, &source, portable ? portable->least : 0, &event->backend, event->reason))
		event->backend = NULL;
	return true;
}

/* CUPTI's names have the form UNIT__WHAT, which none of our events has. */
bool plan_cupti(struct plan_build *build, const char *word) {
	const char *device = build->judge->device;
	if (!device || strcmp(device, "cuda") != 0 || !strstr(word, "__"))
		return false;
	return plan_source(build, arena_printf(build->arena, "cupti:%s", word));
}

static void software_add(struct plan_build *build, const char *name, const char *group) {
	static const char *const counters[] = {"papi-sde", "kernel"};
	const struct counter_backend *backend = NULL;
	char reason[COUNTER_REASON] = "";
	struct counter_event *taken = counter_plan_find(build->plan, name), *event;
	if (taken && (taken->group == group || (taken->backend && taken->backend->software)))
		return;
	event = plan_event(build, taken ? arena_printf(build->arena, "%s:%s", build->software->owner, name) : name, group);
	for (size_t i = 0; event && !event->backend && i < sizeof counters / sizeof *counters; i++) {
		const struct counter_backend *found = counter_find(counters[i]);
		const struct table_source source = {counters[i], found ? software_word(build, found, name) : name};
		event->event = source.event;
		if (plan_try(build, &source, 0, &backend, reason))
			event->backend = backend;
		else
			snprintf(event->reason + strlen(event->reason), sizeof event->reason - strlen(event->reason), "%s%s: %s",
			         event->reason[0] ? "; " : "", counters[i], reason);
	}
	if (event)
		event->unit = "count";
	if (event && event->backend)
		event->reason[0] = '\0';
}

static const char sde[] = "SDE";

void plan_software(struct plan_build *build) {
	size_t count = build->software ? build->software->count : 0;
	for (size_t i = 0; i < count; i++)
		software_add(build, build->software->names[i], sde);
	struct counter_event *none = count > 0 || counter_plan_find(build->plan, sde) ? NULL : plan_event(build, sde, sde);
	if (none)
		snprintf(none->reason, sizeof none->reason, "%s does not export software-defined events",
		         build->software ? build->software->owner : "what runs");
}

bool plan_software_event(struct plan_build *build, const char *name) {
	for (size_t i = 0; build->software && i < build->software->count; i++) {
		if (strcmp(build->software->names[i], name) == 0) {
			software_add(build, build->software->names[i], sde);
			return true;
		}
	}
	return false;
}
