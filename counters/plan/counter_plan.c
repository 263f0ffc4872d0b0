/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "base/expr/expr.h"
#include "base/text.h"
#include "counters/plan/plan_impl.h"

/* The plan owns the metric's expression. */
static void plan_metric(struct plan_build *build, const char *group, const char *name, const char *unit,
                        const char *formula) {
	struct counter_plan *plan = build->plan;
	struct expr *expr = plan->metric_count < PLAN_METRICS_MAX ? expr_parse(formula, NULL) : NULL;
	if (expr)
		plan->metrics[plan->metric_count++] =
			(struct counter_metric){.group = group, .name = name, .unit = unit, .formula = formula, .expr = expr};
	else
		build->full = true;
}

/* Adds events to a plan, each once. */

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

/* Adds a portable event, or the parts of its formula. */
static void plan_portable(struct plan_build *build, const struct table_event *event, const char *group) {
	const char *formula = plan_resolve(build, event)->formula;
	struct expr *parts = formula ? expr_parse(formula, NULL) : NULL;
	if (!parts)
		counted_add(build, event, group);
	for (size_t i = 0; parts && i < expr_name_count(parts); i++)
		counted_add(build, table_event_find(build->tables, expr_name(parts, i)), group);
	expr_free(parts);
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

/* Returns the portable event that lists this source, for its loop and its unit. */
static const struct table_event *source_portable(const struct plan_build *build, const struct table_source *source) {
	const struct counter_tables *tables = build->tables;
	for (size_t i = 0; tables && i < tables->event_count; i++)
		for (size_t k = 0; k < tables->events[i].source_count; k++)
			if (strcmp(tables->events[i].sources[k].backend, source->backend) == 0 &&
			    strcmp(tables->events[i].sources[k].event, source->event) == 0)
				return &tables->events[i];
	return NULL;
}

static const struct counter_loop *loop_of(const struct table_event *portable) {
	static const struct counter_loop unknown = {.word = NULL};
	return portable ? &portable->loop : &unknown;
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

/* Adds all events of the backend. */
static void plan_backend(struct plan_build *build, const struct counter_backend *backend) {
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
		if (!plan_try(build, &source, loop_of(portable), &event->backend, event->reason))
			event->backend = NULL;
	}
}

/* Adds "BACKEND:EVENT"; false for another form or an unknown backend. */
static bool plan_source(struct plan_build *build, const char *word) {
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
	if (!plan_try(build, &source, loop_of(portable), &event->backend, event->reason))
		event->backend = NULL;
	return true;
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
		if (plan_try(build, &source, loop_of(NULL), &backend, reason))
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

/* Adds all events of the kernel itself. */
static void plan_software(struct plan_build *build) {
	size_t count = build->software ? build->software->count : 0;
	for (size_t i = 0; i < count; i++)
		software_add(build, build->software->names[i], sde);
	struct counter_event *none = count > 0 || counter_plan_find(build->plan, sde) ? NULL : plan_event(build, sde, sde);
	if (none)
		snprintf(none->reason, sizeof none->reason, "%s does not export software-defined events",
		         build->software ? build->software->owner : "what runs");
}

/* Adds one event of the kernel itself; false if it does not define it. */
static bool plan_software_event(struct plan_build *build, const char *name) {
	for (size_t i = 0; build->software && i < build->software->count; i++) {
		if (strcmp(build->software->names[i], name) == 0) {
			software_add(build, build->software->names[i], sde);
			return true;
		}
	}
	return false;
}

/* Adds a metric by CUPTI's name, such as dram__bytes.sum, if a GPU is counted. */
/* CUPTI's names have the form UNIT__WHAT, which none of our events has. */
static bool plan_cupti(struct plan_build *build, const char *word) {
	const char *device = build->judge->device;
	if (!device || strcmp(device, "cuda") != 0 || !strstr(word, "__"))
		return false;
	return plan_source(build, arena_printf(build->arena, "cupti:%s", word));
}

static void metric_add(struct plan_build *build, const struct table_group *group, const struct table_metric *metric) {
	for (size_t i = 0; i < build->plan->metric_count; i++)
		if (strcmp(build->plan->metrics[i].group, group->name) == 0 &&
		    strcmp(build->plan->metrics[i].name, metric->name) == 0)
			return;
	plan_metric(build, group->name, metric->name, metric->unit, plan_formula(build, metric->formula));
}

static void plan_group(struct plan_build *build, const struct table_group *group) {
	for (size_t i = 0; i < group->event_count; i++)
		plan_portable(build, table_event_find(build->tables, group->events[i]), group->name);
	for (size_t i = 0; i < group->metric_count; i++)
		metric_add(build, group, &group->metrics[i]);
}

/* Can every event that the metric needs be counted here? */
static bool metric_countable(struct plan_build *build, const struct table_metric *metric) {
	struct expr *expr = expr_parse(metric->formula, NULL);
	size_t counted = 0, missing = 0;
	for (size_t i = 0; expr && i < expr_name_count(expr); i++) {
		const struct table_event *event = table_event_find(build->tables, expr_name(expr, i));
		if (!event)
			continue;
		const struct resolution *way = event->simulated ? NULL : plan_resolve(build, event);
		bool good = way && (way->backend || way->formula);
		counted += good;
		missing += !good;
	}
	expr_free(expr);
	return counted > 0 && missing == 0;
}

static bool group_countable(struct plan_build *build, const struct table_group *group) {
	for (size_t i = 0; i < group->metric_count; i++)
		if (metric_countable(build, &group->metrics[i]))
			return true;
	return false;
}

/* Does the group belong to the device that will run the kernel? */
static bool is_here(const struct plan_build *build, const struct table_group *group) {
	const char *device = build->judge->device ? build->judge->device : "cpu";
	return strcmp(group->device ? group->device : "cpu", device) == 0;
}

static const struct table_metric *metric_of(const struct table_group *group, const char *name) {
	for (size_t i = 0; i < group->metric_count; i++)
		if (strcasecmp(group->metrics[i].name, name) == 0)
			return &group->metrics[i];
	return NULL;
}

/* Can the group's metrics be asked for by name? A GPU's can, because nvprof's could. */
static bool plan_has_metrics(const struct plan_build *build, const struct table_group *group) {
	return group->device && is_here(build, group);
}

/* Adds one of them with the events that it needs, from the group that `auto` takes if several have it. False if none
 * does. */
static bool plan_metric_asked(struct plan_build *build, const char *name) {
	const struct table_group *group = NULL;
	for (size_t i = 0; build->tables && i < build->tables->group_count; i++) {
		const struct table_group *one = &build->tables->groups[i];
		if (plan_has_metrics(build, one) && metric_of(one, name) && (!group || (group->asked && !one->asked)))
			group = one;
	}
	if (!group)
		return false;
	const struct table_metric *metric = metric_of(group, name);
	struct expr *expr = expr_parse(metric->formula, NULL);
	for (size_t i = 0; expr && i < expr_name_count(expr); i++) {
		const struct table_event *event = table_event_find(build->tables, expr_name(expr, i));
		if (event)
			plan_portable(build, event, group->name);
	}
	expr_free(expr);
	metric_add(build, group, metric);
	return true;
}

/* Adds SOFTWARE on the CPU, and each group of the device that has at least one metric available here. */
static void plan_auto(struct plan_build *build) {
	const struct table_group *software = table_group_find(build->tables, "SOFTWARE");
	if (software && is_here(build, software))
		plan_group(build, software);
	for (size_t i = 0; i < build->tables->group_count; i++) {
		const struct table_group *group = &build->tables->groups[i];
		if (is_here(build, group) && !group->asked && group_countable(build, group))
			plan_group(build, group);
	}
	if (build->software) /* counted in a run of their own, whose code counts */
		plan_software(build);
}

enum { PLAN_WORDS_MAX = TABLE_EVENTS_MAX + TABLE_GROUPS_MAX + 64, PLAN_METRIC_WORDS_MAX = 512 };

static size_t metrics_known(const struct plan_build *build, const char **known) {
	const struct counter_tables *tables = build->tables;
	size_t count = 0;
	for (size_t i = 0; tables && i < tables->group_count; i++) {
		const struct table_group *group = &tables->groups[i];
		for (size_t k = 0; plan_has_metrics(build, group) && k < group->metric_count && count < PLAN_METRIC_WORDS_MAX;
		     k++)
			known[count++] = group->metrics[k].name;
	}
	return count;
}

/* Every name that the user could have meant. */
static size_t words_known(const struct plan_build *build, const char **known) {
	const struct counter_tables *tables = build->tables;
	size_t count = 0, software = build->software ? build->software->count : 0;
	for (size_t i = 0; tables && i < tables->group_count; i++)
		known[count++] = tables->groups[i].name;
	for (size_t i = 0; counter_registry[i] && i < 30; i++)
		known[count++] = counter_registry[i]->name;
	for (size_t i = 0; i < software && i < 30; i++)
		known[count++] = build->software->names[i];
	for (size_t i = 0; tables && i < tables->event_count; i++)
		known[count++] = tables->events[i].name;
	count += metrics_known(build, known + count);
	known[count++] = "SDE";
	known[count++] = "multiplex";
	if (tables)
		known[count++] = "auto";
	return count;
}

static const char *group_names(const struct plan_build *build) {
	const char *names = "";
	for (size_t i = 0; build->tables && i < build->tables->group_count; i++)
		names = arena_printf(build->arena, "%s%s, ", names, build->tables->groups[i].name);
	return arena_printf(build->arena, "%sSDE", names);
}

static int unknown(const struct plan_build *build, const char *word, struct err *err) {
	const char *known[PLAN_WORDS_MAX + PLAN_METRIC_WORDS_MAX];
	const char *near = near_word(word, known, words_known(build, known));
	err_set(err, ERR_USAGE, NULL, "unknown counters \"%.100s\"", word);
	return err_hint(err, "%s%s%sthe groups are %s", near ? "did you mean " : "", near ? near : "", near ? "? " : "",
	                group_names(build));
}

static const struct counter_backend *backend_find(const char *word) {
	for (size_t i = 0; counter_registry[i]; i++)
		if (strcasecmp(counter_registry[i]->name, word) == 0)
			return counter_registry[i];
	return NULL;
}

/* An event that a formula defines is a metric of the same name. */
static void event_asked(struct plan_build *build, const struct table_event *event) {
	const char *formula = plan_resolve(build, event)->formula;
	plan_portable(build, event, NULL);
	for (size_t i = 0; formula && i < build->plan->metric_count; i++)
		if (strcmp(build->plan->metrics[i].group, event->name) == 0)
			return;
	if (formula)
		plan_metric(build, event->name, event->name, event->unit, formula);
}

static bool group_word(struct plan_build *build, const char *word) {
	bool found = false;
	for (size_t i = 0; build->tables && i < build->tables->group_count; i++) {
		if (table_group_is(&build->tables->groups[i], word)) {
			plan_group(build, &build->tables->groups[i]);
			found = true;
		}
	}
	return found;
}

static bool table_word(struct plan_build *build, const char *word) {
	const struct table_event *event = build->tables ? table_event_find(build->tables, word) : NULL;
	if (build->tables && strcasecmp(word, "auto") == 0)
		plan_auto(build);
	else if (event)
		event_asked(build, event);
	else
		return group_word(build, word);
	return true;
}

/* CUPTI's names are words only where a GPU is counted. */
static bool is_familiar(const struct table_source *source, const char *word) {
	return strcasecmp(source->event, word) == 0 && strncmp(source->backend, "cupti", 5) != 0;
}

/* The portable event that lists a source of this name, such as PAPI_TOT_CYC or LLC-loads. */
static const struct table_event *event_of_source(const struct counter_tables *tables, const char *word) {
	for (size_t i = 0; tables && i < tables->event_count; i++)
		for (size_t k = 0; k < tables->events[i].source_count; k++)
			if (is_familiar(&tables->events[i].sources[k], word))
				return &tables->events[i];
	return NULL;
}

/* Names of PAPI and perf without the backend in front, as their own tools take them. */
static bool familiar_word(struct plan_build *build, const char *word) {
	static const char *const generic[] = {"cache-misses", "cache-references", "bus-cycles"};
	const struct table_event *event = event_of_source(build->tables, word);
	if (event) {
		event_asked(build, event);
		return true;
	}
	if (strncmp(word, "PAPI_", 5) == 0)
		return plan_source(build, arena_printf(build->arena, "papi:%s", word));
	for (size_t i = 0; i < sizeof generic / sizeof *generic; i++)
		if (strcmp(word, generic[i]) == 0)
			return plan_source(build, arena_printf(build->arena, "perf:%s", word));
	return false;
}

static bool asked_add(struct plan_build *build, const char *word) {
	const struct counter_backend *backend = backend_find(word);
	if (strcasecmp(word, "SDE") == 0)
		plan_software(build);
	else if (strcasecmp(word, "multiplex") == 0)
		build->plan->multiplex = true;
	else if (table_word(build, word))
		return true;
	else if (backend)
		plan_backend(build, backend);
	else
		return plan_software_event(build, word) || plan_metric_asked(build, word) || plan_source(build, word) ||
		       plan_cupti(build, word) || familiar_word(build, word);
	return true;
}

static int asked_add_all(struct plan_build *build, const char *const *asked, struct err *err) {
	for (; *asked; asked++)
		if (!asked_add(build, arena_strdup(build->arena, *asked)))
			return unknown(build, *asked, err);
	if (build->full)
		return err_set(err, ERR_USAGE, "ask for fewer groups at once", "these are more than %d events or %d metrics",
		               PLAN_EVENTS_MAX, PLAN_METRICS_MAX);
	return 0;
}

struct counter_plan *counter_plan_new(struct arena *arena, const struct counter_tables *tables,
                                      const char *const *asked, const struct counter_software *software,
                                      const struct counter_judge *judge, struct err *err) {
	struct counter_plan *plan = arena_alloc(arena, 1, sizeof *plan);
	struct plan_build build = {.arena = arena, .tables = tables, .software = software, .judge = judge, .plan = plan};
	build.family = table_family_find(tables, judge->cpu);
	plan->events = arena_alloc(arena, PLAN_EVENTS_MAX, sizeof *plan->events);
	plan->metrics = arena_alloc(arena, PLAN_METRICS_MAX, sizeof *plan->metrics);
	build.resolutions = arena_alloc(arena, tables ? tables->event_count + 1 : 1, sizeof *build.resolutions);
	if (asked_add_all(&build, asked, err) == 0)
		return plan;
	counter_plan_clear(plan);
	return NULL;
}

void counter_plan_clear(struct counter_plan *plan) {
	for (size_t i = 0; plan && i < plan->metric_count; i++)
		expr_free(plan->metrics[i].expr);
}

enum { METRIC_NAMES_MAX = 32 };

struct counter_event *counter_plan_find(const struct counter_plan *plan, const char *name) {
	for (size_t i = 0; i < plan->event_count; i++)
		if (strcmp(plan->events[i].name, name) == 0)
			return &plan->events[i];
	return NULL;
}

struct known {
	const struct counter_plan *plan;
	const double *values;
	double seconds;
	int threads;
};

static double known_find(const struct known *known, const char *name) {
	if (strcmp(name, "seconds") == 0)
		return known->seconds;
	if (strcmp(name, "threads") == 0)
		return known->threads > 0 ? known->threads : NAN;
	const struct counter_event *event = counter_plan_find(known->plan, name);
	return event ? known->values[event - known->plan->events] : NAN;
}

bool counter_metric_value(const struct counter_plan *plan, size_t metric, const double *values, double seconds,
                          int threads, double *out, char reason[COUNTER_REASON]) {
	const struct known known = {plan, values, seconds, threads};
	const struct expr *expr = plan->metrics[metric].expr;
	struct value named[METRIC_NAMES_MAX], result;
	size_t count = expr_name_count(expr);
	for (size_t i = 0; i < count && i < METRIC_NAMES_MAX; i++) {
		double x = known_find(&known, expr_name(expr, i));
		if (!isfinite(x)) {
			snprintf(reason, COUNTER_REASON, "%s was not counted", expr_name(expr, i));
			return false;
		}
		named[i] = value_real(x);
	}
	if (count > METRIC_NAMES_MAX || !expr_eval(expr, named, &result) || result.type == VALUE_WORD) {
		snprintf(reason, COUNTER_REASON, "%s cannot be computed from these counts", plan->metrics[metric].formula);
		return false;
	}
	*out = value_number(result);
	if (!isfinite(*out))
		snprintf(reason, COUNTER_REASON, "%s cannot be computed from these counts", plan->metrics[metric].formula);
	return isfinite(*out);
}
