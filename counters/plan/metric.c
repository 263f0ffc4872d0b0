/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "counters/plan/plan.h"
#include "src/base/expr/expr.h"

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
