/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters by function: the least and the most of the launches that were counted, and the mean of all: the counted
 * launches of a size represent all of that size, and rates are weighted by time. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "worker/gpu/work.h"

/* A number that a program made up may be larger. */
static const double LAUNCHES_MOST = 1e15;

struct spread {
	double least, sum, weight, most;
	size_t count;
};

/* Both count the same metrics, of a whole run or of launches; here they are those of launches. */
static bool is_counted(const struct counter_event *event) {
	return event->backend &&
	       (strcmp(event->backend->name, "cupti") == 0 || strcmp(event->backend->name, "cupti-functions") == 0);
}

/* Two events may stand for one metric, which is counted once: the first of them. */
static size_t first_of(const struct counter_plan *plan, size_t event) {
	for (size_t i = 0; i < event; i++)
		if (is_counted(&plan->events[i]) && strcmp(plan->events[i].event, plan->events[event].event) == 0)
			return i;
	return event;
}

/* The number of an event's metric among those that are asked for; CUDA_METRICS: it is not. */
static size_t metric_of(const struct counter_plan *plan, size_t event) {
	if (!is_counted(&plan->events[event])) /* it may have no name either */
		return CUDA_METRICS;
	size_t first = first_of(plan, event), number = 0;
	for (size_t i = 0; i < first; i++)
		number += is_counted(&plan->events[i]) && first_of(plan, i) == i;
	return number < CUDA_METRICS ? number : CUDA_METRICS;
}

const char *gpu_counts_metrics(struct arena *arena, const struct counter_plan *plan) {
	char *text = NULL;
	for (size_t i = 0; i < plan->event_count; i++)
		if (metric_of(plan, i) < CUDA_METRICS && first_of(plan, i) == i)
			text = arena_printf(arena, "%s%s%s", text ? text : "", text ? "," : "", plan->events[i].event);
	return text;
}

static void spread_add(struct spread *spread, double value, double weight) {
	if (!isfinite(value) || !(weight > 0))
		return;
	spread->least = spread->count == 0 || value < spread->least ? value : spread->least;
	spread->most = spread->count == 0 || value > spread->most ? value : spread->most;
	spread->sum += weight * value;
	spread->weight += weight;
	spread->count++;
}

static json_t *spread_json(const struct spread *spread, const char *name, const char *unit, const char *group) {
	bool known = spread->count > 0;
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "name", name, "unit", unit ? unit : "", "group",
	                 group ? json_string(group) : json_null(), "least", js_number(known ? spread->least : NAN), "mean",
	                 js_number(known ? spread->sum / spread->weight : NAN), "most",
	                 js_number(known ? spread->most : NAN));
}

struct table {
	const struct counter_plan *plan;
	const struct cupti_chip *chip;
	double *values;                  /* of a launch, by event; NAN: not counted */
	struct spread *events, *metrics; /* by event and metric of the plan */
};

/* A launch's own amount, as opposed to a rate or a share. */
static bool metric_is_amount(const struct counter_metric *metric) {
	return metric->unit && *metric->unit && !strpbrk(metric->unit, "/%");
}

/* Seconds of a launch; 1 if they were not counted. */
static double launch_time(const struct table *table, const struct cuda_range *range, size_t metric_count) {
	const struct counter_plan *plan = table->plan;
	for (size_t i = 0; i < plan->event_count; i++) {
		size_t metric = metric_of(plan, i);
		if (metric < metric_count && strcmp(plan->events[i].event, CUPTI_LAUNCH_TIME) == 0)
			return range->values[metric];
	}
	return 1;
}

/* The values of one launch, in our units; it represents as many launches. */
static void launch_add(struct table *table, const struct cuda_range *range, size_t metric_count, double launches) {
	double time = launches * launch_time(table, range, metric_count);
	const struct counter_plan *plan = table->plan;
	char reason[COUNTER_REASON];
	for (size_t i = 0; i < plan->event_count; i++) {
		size_t metric = metric_of(plan, i);
		double scale = 1;
		table->values[i] = NAN;
		if (metric >= metric_count)
			continue;
		cupti_chip_unit(table->chip, plan->events[i].event, &scale);
		table->values[i] = range->values[metric] * scale;
		spread_add(&table->events[i], table->values[i], cupti_is_amount(plan->events[i].event) ? launches : time);
	}
	for (size_t i = 0; i < plan->metric_count; i++) {
		double value;
		if (counter_metric_value(plan, i, table->values, NAN, 0, &value, reason))
			spread_add(&table->metrics[i], value, metric_is_amount(&plan->metrics[i]) ? launches : time);
	}
}

static json_t *events_json(const struct table *table) {
	json_t *rows = json_array();
	for (size_t i = 0; i < table->plan->event_count; i++) {
		const struct counter_event *event = &table->plan->events[i];
		double scale;
		if (is_counted(event))
			json_array_append_new(
				rows, spread_json(&table->events[i], event->name,
			                      event->unit ? event->unit : cupti_chip_unit(table->chip, event->event, &scale),
			                      event->group));
	}
	return rows;
}

static json_t *metrics_json(const struct table *table) {
	json_t *rows = json_array();
	for (size_t i = 0; i < table->plan->metric_count; i++) {
		const struct counter_metric *metric = &table->plan->metrics[i];
		json_array_append_new(rows, spread_json(&table->metrics[i], metric->name, metric->unit, metric->group));
	}
	return rows;
}

static void function_add(struct table *table, json_t *row, const struct gpu_work *work, size_t function) {
	const uint64_t *launched = work->functions[function].facts.launched;
	double counted[CUDA_SIZES] = {0}, all_launched = 0;
	json_int_t all_counted = 0;
	memset(table->events, 0, table->plan->event_count * sizeof *table->events);
	memset(table->metrics, 0, table->plan->metric_count * sizeof *table->metrics);
	for (size_t i = 0; i < work->range_count; i++)
		if (work->ranges[i].function == function)
			counted[work->ranges[i].launch_size]++;
	for (size_t i = 0; i < CUDA_SIZES; i++)
		all_launched += (double)launched[i];
	for (size_t i = 0; i < work->range_count; i++) {
		const struct cuda_range *range = &work->ranges[i];
		if (range->function != function)
			continue;
		launch_add(table, range, work->metric_count,
		           (double)launched[range->launch_size] / counted[range->launch_size]);
		all_counted++;
	}
	json_object_set_new(row, "launches", json_integer((json_int_t)fmin(all_launched, LAUNCHES_MOST)));
	json_object_set_new(row, "counted", json_integer(all_counted));
	json_object_set_new(row, "counters", events_json(table));
	json_object_set_new(row, "metrics", metrics_json(table));
}

static void functions_add(struct table *table, json_t *rows, const struct gpu_work *work) {
	size_t i;
	json_t *row;
	json_array_foreach(rows, i, row) {
		const char *symbol = js_string_or(row, "symbol", "");
		for (size_t f = 0; f < work->function_count; f++)
			if (strcmp(work->functions[f].facts.symbol, symbol) == 0)
				function_add(table, row, work, f);
	}
}

void gpu_counts_add(json_t *json, const struct gpu_work *counted, const struct counter_plan *plan,
                    const struct cupti_chip *chip) {
	struct arena *arena = arena_new();
	json_t *notes = json_object_get(json, "notes");
	struct table table = {.plan = plan,
	                      .chip = chip,
	                      .values = arena_alloc(arena, plan->event_count + 1, sizeof(double)),
	                      .events = arena_alloc(arena, plan->event_count + 1, sizeof(struct spread)),
	                      .metrics = arena_alloc(arena, plan->metric_count + 1, sizeof(struct spread))};
	functions_add(&table, json_object_get(json, "functions"), counted);
	json_object_set_new(json, "passes", json_integer(counted->passes));
	if (counted->failure[0])
		json_array_append_new(notes, json_sprintf("the kernels were not counted: %s", counted->failure));
	else if (counted->range_count == 0)
		json_array_append_new(notes,
		                      json_string("no kernel was counted: kernels of CUDA graphs cannot be, and a program "
		                                  "must end by itself"));
	arena_free(arena);
}
