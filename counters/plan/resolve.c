/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses how to count a portable event here: by PAPI's preset, the CPU family's own event, perf's generic event, the
 * operating system's counts, or a formula over other events. A simulation never stands in for a counter. */
#include <ctype.h>
#include <fnmatch.h>

#include "base/expr/expr.h"
#include "counters/plan/plan_impl.h"

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

bool plan_try(const struct plan_build *build, const struct table_source *source, const struct counter_loop *loop,
              const struct counter_backend **backend, char reason[COUNTER_REASON]) {
	const struct counter_judge *judge = build->judge;
	*backend = counter_find(source->backend);
	reason[0] = '\0';
	if (!*backend) {
		snprintf(reason, COUNTER_REASON, "this build does not include %s", source->backend);
		return false;
	}
	if (judge->good(judge->ctx, *backend, source->event, loop, reason))
		return true;
	if (!reason[0])
		snprintf(reason, COUNTER_REASON, "refused");
	return false;
}

static bool source_try(struct attempt *attempt, const struct table_source *source) {
	const struct counter_backend *backend;
	char reason[COUNTER_REASON];
	if (plan_try(attempt->build, source, &attempt->event->loop, &backend, reason)) {
		attempt->found.backend = backend;
		attempt->found.event = source->event;
		return true;
	}
	refusal_add(&attempt->refusals, source->backend, source->event, reason);
	return false;
}

static bool sources_try(struct attempt *attempt, size_t from, size_t to) {
	for (; from < to; from++)
		if (source_try(attempt, &attempt->event->sources[from]))
			return true;
	return false;
}

static const struct resolution *plan_resolve_part(struct plan_build *build, const struct table_event *event);

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

/* Returns the number of literal characters in the family's best pattern that matches this CPU; 0: none matches. */
static size_t family_fits(const struct table_family *family, const char *cpu) {
	size_t best = strcmp(family->name, cpu) == 0 ? SIZE_MAX : 0;
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

const struct table_family *table_family_find(const struct counter_tables *tables, const char *cpu) {
	const struct table_family *best = NULL;
	size_t most = 0;
	for (size_t i = 0; tables && i < tables->family_count; i++) {
		size_t fits = family_fits(&tables->families[i], cpu);
		best = fits > most ? &tables->families[i] : best;
		most = fits > most ? fits : most;
	}
	return best;
}

/* Returns the way in which this CPU's family counts the event; NULL: it does not list it. */
static const struct table_native *table_native_find(const struct table_family *family, const char *event) {
	for (size_t i = 0; family && i < family->native_count; i++)
		if (strcmp(family->natives[i].event, event) == 0)
			return &family->natives[i];
	return NULL;
}

/* PAPI's presets and the kernel's generic cache events count other things on other processors and releases, so they are
 * tried only on processors whose own events are not known. */
static const struct resolution *resolve(struct plan_build *build, const struct table_event *event, bool formulas) {
	struct resolution *kept = &build->resolutions[event - build->tables->events];
	if (kept->done)
		return kept;
	struct attempt *attempt = arena_alloc(build->arena, 1, sizeof *attempt);
	*attempt =
		(struct attempt){.build = build, .event = event, .native = table_native_find(build->family, event->name)};
	const struct table_native *native = attempt->native;
	bool found = native && native->source.backend && source_try(attempt, &native->source);
	if (!found && formulas && native && native->formula)
		found = formula_try(attempt, native->formula);
	if (!found)
		found = sources_try(attempt, 0, event->sure_count);
	if (!found && (!build->family || build->family->common))
		found = sources_try(attempt, event->sure_count, event->source_count);
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

/* The same without formulas, because a part of a formula must be counted itself. */
static const struct resolution *plan_resolve_part(struct plan_build *build, const struct table_event *event) {
	return resolve(build, event, false);
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
	if (strcmp(word, "line") == 0) /* the bytes of a cache line */
		return arena_printf(build->arena, "%d", build->family ? (int)build->family->line : 64);
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
