/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses how to count a portable event here: by PAPI's preset, the CPU family's own event, perf's generic event, the
 * operating system's counts, or a formula over other events. A simulation never stands in for a counter. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "counters/plan/build.h"
#include "src/base/expr/expr.h"

enum { REFUSALS_MAX = TABLE_LIST_MAX + 4, PLAN_REASON = 2 * COUNTER_REASON };

/* Collects the reason why each source is not available; equal reasons are given once. */
struct refusals {
	struct {
		char source[120], reason[COUNTER_REASON];
	} rows[REFUSALS_MAX];
	size_t count;
};

/* One search for a way to count an event. */
struct attempt {
	struct plan_build *build;
	const struct table_event *event;
	const struct table_native *native; /* NULL: none for this CPU */
	struct refusals refusals;
	struct resolution found;
};

static void refusal_add(struct refusals *refusals, const char *backend, const char *event, const char *reason) {
	if (refusals->count == REFUSALS_MAX)
		return;
	size_t i = refusals->count++;
	snprintf(refusals->rows[i].source, sizeof refusals->rows[i].source, "%s%s%s", backend, backend[0] ? ":" : "",
	         event);
	snprintf(refusals->rows[i].reason, sizeof refusals->rows[i].reason, "%s", reason);
}

static void append(char *text, size_t size, const char *more) {
	size_t length = strlen(text);
	snprintf(text + length, size - length, "%s", more);
}

/* Names all sources from this one on that share its reason, and clears theirs so that it is given once. */
static void refusal_report(struct refusals *refusals, size_t i, char *text, size_t size) {
	append(text, size, text[0] ? "; " : "");
	append(text, size, refusals->rows[i].source);
	for (size_t k = i + 1; k < refusals->count; k++) {
		if (strcmp(refusals->rows[k].reason, refusals->rows[i].reason) == 0) {
			append(text, size, ", ");
			append(text, size, refusals->rows[k].source);
			refusals->rows[k].reason[0] = '\0';
		}
	}
	append(text, size, ": ");
	append(text, size, refusals->rows[i].reason);
}

/* Suggests a remedy; the text always has room for it. */
static void advice(const struct attempt *attempt, char *text, size_t size) {
	const char *simulator = attempt->event->simulator;
	text[0] = '\0';
	if (simulator && counter_find(simulator))
		snprintf(text, size, "; --counters %.40s simulates it", simulator);
}

static const char *refusals_text(struct attempt *attempt) {
	struct refusals *refusals = &attempt->refusals;
	const char *cpu = attempt->build->judge->cpu;
	char text[PLAN_REASON] = "", tail[80];
	advice(attempt, tail, sizeof tail);
	size_t room = sizeof text - strlen(tail);
	if (refusals->count == 0)
		snprintf(text, room, "no source for it is known on this CPU%s%s%s", cpu[0] ? " (" : "", cpu, cpu[0] ? ")" : "");
	for (size_t i = 0; i < refusals->count; i++)
		if (refusals->rows[i].reason[0])
			refusal_report(refusals, i, text, room);
	if (strlen(text) + 1 == room)
		memcpy(text + room - 4, "...", 3);
	return arena_printf(attempt->build->arena, "%s%s", text, tail);
}

bool plan_try(const struct plan_build *build, const struct table_source *source, double least,
              const struct counter_backend **backend, char reason[COUNTER_REASON]) {
	const struct counter_judge *judge = build->judge;
	*backend = counter_find(source->backend);
	reason[0] = '\0';
	if (!*backend) {
		snprintf(reason, COUNTER_REASON, "this build does not include %s", source->backend);
		return false;
	}
	if (judge->good(judge->ctx, *backend, source->event, least, reason))
		return true;
	if (!reason[0])
		snprintf(reason, COUNTER_REASON, "refused");
	return false;
}

static bool source_try(struct attempt *attempt, const struct table_source *source) {
	const struct counter_backend *backend;
	char reason[COUNTER_REASON];
	if (plan_try(attempt->build, source, attempt->event->least, &backend, reason)) {
		attempt->found.backend = backend;
		attempt->found.event = source->event;
		return true;
	}
	refusal_add(&attempt->refusals, source->backend, source->event, reason);
	return false;
}

/* True if the family says that this source counts something else. */
static bool is_without(const struct table_native *native, const struct table_source *source) {
	for (size_t i = 0; native && i < json_array_size(native->without); i++) {
		const char *text = json_string_value(json_array_get(native->without, i));
		size_t length = strlen(source->backend);
		if (strncmp(text, source->backend, length) == 0 && text[length] == ':' &&
		    strcmp(text + length + 1, source->event) == 0)
			return true;
	}
	return false;
}

static bool sources_try(struct attempt *attempt, bool papi) {
	for (size_t i = 0; i < attempt->event->source_count; i++) {
		const struct table_source *source = &attempt->event->sources[i];
		if ((strcmp(source->backend, "papi") == 0) != papi)
			continue;
		if (is_without(attempt->native, source))
			refusal_add(&attempt->refusals, source->backend, source->event, "counts something else on this CPU");
		else if (source_try(attempt, source))
			return true;
	}
	return false;
}

/* The formula is available if each event in it can be counted. */
static bool formula_try(struct attempt *attempt, const char *formula) {
	struct expr *expr = expr_parse(formula, NULL);
	bool good = expr;
	for (size_t i = 0; expr && i < expr_name_count(expr); i++) {
		const struct table_event *part = table_event_find(attempt->build->tables, expr_name(expr, i));
		const struct resolution *way = part ? plan_resolve_part(attempt->build, part) : NULL;
		if (way && way->backend)
			continue;
		good = false;
		if (way)
			refusal_add(&attempt->refusals, "", part->name, way->reason);
	}
	expr_free(expr);
	if (good)
		attempt->found.formula = formula;
	return good;
}

static const struct resolution *resolve(struct plan_build *build, const struct table_event *event, bool formulas) {
	struct resolution *kept = &build->resolutions[event - build->tables->events];
	if (kept->done)
		return kept;
	struct attempt *attempt = arena_alloc(build->arena, 1, sizeof *attempt);
	*attempt = (struct attempt){
		.build = build, .event = event, .native = table_native_find(build->tables, build->judge->cpu, event->name)};
	const struct table_native *native = attempt->native;
	bool found = sources_try(attempt, true);
	if (!found && native && native->source.backend)
		found = source_try(attempt, &native->source);
	if (!found && formulas && native && native->formula)
		found = formula_try(attempt, native->formula);
	if (!found)
		found = sources_try(attempt, false);
	if (!found && formulas && event->formula)
		found = formula_try(attempt, event->formula);
	if (!found)
		attempt->found.reason = refusals_text(attempt);
	attempt->found.done = true;
	*kept = attempt->found;
	return kept;
}

const struct resolution *plan_resolve(struct plan_build *build, const struct table_event *event) {
	return resolve(build, event, true);
}

const struct resolution *plan_resolve_part(struct plan_build *build, const struct table_event *event) {
	return resolve(build, event, false);
}
