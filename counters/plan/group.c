/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <string.h>

#include "counters/plan/build.h"
#include "src/base/expr/expr.h"

static void metric_add(struct plan_build *build, const struct table_group *group, const struct table_metric *metric) {
	for (size_t i = 0; i < build->plan->metric_count; i++)
		if (strcmp(build->plan->metrics[i].group, group->name) == 0 &&
		    strcmp(build->plan->metrics[i].name, metric->name) == 0)
			return;
	plan_metric(build, group->name, metric->name, metric->unit, plan_formula(build, metric->formula));
}

void plan_group(struct plan_build *build, const struct table_group *group) {
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

bool plan_has_metrics(const struct plan_build *build, const struct table_group *group) {
	return group->device && is_here(build, group);
}

bool plan_metric_asked(struct plan_build *build, const char *name) {
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

void plan_auto(struct plan_build *build) {
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
