/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <string.h>

#include "counters/plan_build.h"
#include "src/base/expr.h"

void plan_group(struct plan_build *build, const struct table_group *group) {
	for (size_t i = 0; i < build->plan->metric_count; i++)
		if (strcmp(build->plan->metrics[i].group, group->name) == 0)
			return;
	for (size_t i = 0; i < group->event_count; i++)
		plan_portable(build, table_event_find(build->tables, group->events[i]), group->name);
	for (size_t i = 0; i < group->metric_count; i++) {
		const struct table_metric *metric = &group->metrics[i];
		plan_metric(build, group->name, metric->name, metric->unit, plan_formula(build, metric->formula));
	}
}

/* Does all that the metric is made of count here? */
static bool metric_told(struct plan_build *build, const struct table_metric *metric) {
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

static bool group_told(struct plan_build *build, const struct table_group *group) {
	for (size_t i = 0; i < group->metric_count; i++)
		if (metric_told(build, &group->metrics[i]))
			return true;
	return false;
}

/* Of the device that will be run on. */
static bool is_here(const struct plan_build *build, const struct table_group *group) {
	const char *device = build->judge->device ? build->judge->device : "cpu";
	return strcmp(group->device ? group->device : "cpu", device) == 0;
}

void plan_auto(struct plan_build *build) {
	const struct table_group *software = table_group_find(build->tables, "SOFTWARE");
	if (software && is_here(build, software))
		plan_group(build, software);
	for (size_t i = 0; i < build->tables->group_count; i++) {
		const struct table_group *group = &build->tables->groups[i];
		if (is_here(build, group) && !group->asked && group_told(build, group))
			plan_group(build, group);
	}
}
