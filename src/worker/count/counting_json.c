/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <math.h>
#include <string.h>

#include "src/base/expr/expr.h"
#include "src/base/json/js.h"
#include "src/worker/count/counting.h"
#include "src/worker/count/simulate.h"
#include "src/worker/kernel/word.h"

/* The most loaded thread's count over the mean count. */
static json_t *imbalance(const struct counted *counted) {
	double most = 0, sum = 0;
	for (int t = 0; counted->per_thread && t < counted->threads; t++) {
		most = fmax(most, counted->per_thread[t]);
		sum += counted->per_thread[t];
	}
	return sum > 0 && counted->threads > 1 ? js_number(most * counted->threads / sum) : json_null();
}

json_t *counting_source_json(const struct counter_event *event) {
	if (!event->backend) {
		return json_null();
	}
	const char *format = strcmp(event->event, event->name) == 0 ? "%s" : "%s:%s";
	return json_sprintf(format, event->backend->name, event->event);
}

static json_t *event_json(const struct counter_event *event, const struct counted *counted) {
	return json_pack("{s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "name", event->name, "value",
	                 js_number(counted->total), "unit", word_or_null(event->unit ? event->unit : counted->unit),
	                 "status", counter_status_name(counted->status), "reason", word_clean_json(counted->reason),
	                 "source", counting_source_json(event), "group", word_or_null(event->group), "per_thread",
	                 counted->per_thread ? js_reals(counted->per_thread, (size_t)counted->threads) : json_array(),
	                 "imbalance", imbalance(counted));
}

json_t *counting_events_json(const struct counter_plan *plan, const struct counting *counting) {
	json_t *out = json_array();
	for (size_t i = 0; i < plan->event_count; i++) {
		json_array_append_new(out, event_json(&plan->events[i], &counting->events[i]));
	}
	return out;
}

/* Rates use the runs that counted the event, because no two runs last the same time. */
static double metric_seconds(const struct counter_plan *plan, size_t metric, const struct counting *counting) {
	const struct expr *expr = plan->metrics[metric].expr;
	double sum = 0;
	int count = 0;
	for (size_t i = 0; i < expr_name_count(expr); i++) {
		const struct counter_event *event = counter_plan_find(plan, expr_name(expr, i));
		double seconds = event ? counting->events[event - plan->events].seconds : NAN;
		sum += isfinite(seconds) ? seconds : 0;
		count += isfinite(seconds);
	}
	return count > 0 ? sum / count : counting->seconds;
}

static json_t *metric_json(const struct counter_plan *plan, size_t i, const double *values,
                           const struct counting *counting, int threads) {
	const struct counter_metric *metric = &plan->metrics[i];
	char reason[COUNTER_REASON] = "";
	double value = NAN;
	if (!counter_metric_value(plan, i, values, metric_seconds(plan, i, counting), threads, &value, reason)) {
		value = NAN;
	}
	return json_pack("{s:s, s:s, s:o, s:s, s:s, s:o}", "group", metric->group, "name", metric->name, "value",
	                 js_number(value), "unit", metric->unit, "formula", metric->formula, "reason",
	                 word_or_null(reason));
}

json_t *counting_json(const struct counter_plan *plan, const struct counting *counting, int threads) {
	json_t *metrics = json_array();
	double *values = mem_alloc(plan->event_count + 1, sizeof *values);
	for (size_t i = 0; i < plan->event_count; i++) {
		values[i] = counting->events[i].total;
	}
	for (size_t i = 0; i < plan->metric_count; i++) {
		json_array_append_new(metrics, metric_json(plan, i, values, counting, threads));
	}
	free(values);
	json_t *json = json_pack("{s:I, s:o, s:o, s:o}", "runs", (json_int_t)counting->runs, "seconds",
	                         counting->runs > 0 ? js_number(counting->seconds) : json_null(), "start_stop_s",
	                         js_number(counting->start_stop_s), "metrics", metrics);
	if (counting->details) {
		json_object_update(json, counting->details);
		json_decref(counting->details);
	}
	if (counting->simulation) {
		json_object_set_new(json, "simulation", simulation_json(counting->simulation));
	}
	return json;
}
