/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters by function: the least and the most of the launches that were counted, and the mean of all: the counted
 * launches of a size represent all of that size, and rates are weighted by time. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/tree.h"
#include "worker/gpu/work.h"

/* One kernel's time as a metric. */
enum { NAMES = 300 };

/* The length without template arguments: of "f<g<1> >" it is 1. */
static size_t plain_length(const char *full) {
	size_t length = strlen(full);
	int depth = 0;
	if (length == 0 || full[length - 1] != '>')
		return length;
	for (size_t i = length; i-- > 0;) {
		depth += full[i] == '>' ? 1 : full[i] == '<' ? -1 : 0;
		if (depth == 0)
			return i;
	}
	return length;
}

bool gpu_name_is(const char *full, const char *name) {
	size_t plain = plain_length(full), length = strlen(name);
	if (strcmp(full, name) == 0)
		return true;
	if (length == 0 || length > plain || memcmp(full + plain - length, name, length) != 0)
		return false;
	return length == plain || full[plain - length - 1] == ':';
}

static void names_list(const struct gpu_work *work, char *text, size_t size) {
	size_t used = 0;
	text[0] = '\0';
	for (size_t i = 0; i < work->function_count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%.80s", i ? ", " : "", work->functions[i].name);
}

int gpu_work_kernel(const struct gpu_work *work, const char *name, double *seconds, struct err *err) {
	uint64_t ns = 0, calls = 0;
	char names[NAMES];
	for (size_t i = 0; i < work->function_count; i++) {
		const struct gpu_function_work *one = &work->functions[i];
		if (gpu_name_is(one->name, name) || strcmp(one->facts.symbol, name) == 0) {
			ns += one->facts.ns;
			calls += one->facts.calls;
		}
	}
	*seconds = 1e-9 * (double)ns;
	if (work->failure[0])
		return err_set(err, ERR_FAILED, NULL, "the kernels cannot be timed: %s", work->failure);
	if (work->processes == 0)
		return err_set(err, ERR_FAILED, NULL, "the program did not use CUDA, so it has no kernel %.100s", name);
	if (work->dropped > 0)
		return err_set(err, ERR_FAILED, NULL, "CUPTI dropped records, so the time of %.100s is not known", name);
	if (ns > 0)
		return 0;
	names_list(work, names, sizeof names);
	return err_set(err, ERR_FAILED, NULL,
	               calls > 0 ? "the kernel %.100s took no time that could be measured%s"
	               : *names  ? "no kernel %.100s ran; these did: %s"
	                         : "no kernel %.100s ran%s",
	               name, calls > 0 ? "" : names);
}

/* It is installed beside the worker; where it was built it is in libtool's folder. */
const char *gpu_watch_library(struct arena *arena, const char *name) {
	static const char *const beside[] = {"", ".libs/"};
	char self[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
	self[size > 0 ? size : 0] = '\0';
	char *slash = strrchr(self, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
		char *path = arena_printf(arena, "%s/%slibsweetspot-%s.so", self, beside[i], name);
		if (access(path, R_OK) == 0)
			return path;
	}
	return NULL;
}

int gpu_watch_open(struct arena *arena, const char *scratch, const char *metrics, struct gpu_watch *watch,
                   struct err *err) {
	const char *library = gpu_watch_library(arena, "cuda");
	char reason[COUNTER_REASON] = "", path[PATH_MAX] = "";
	*watch = (struct gpu_watch){.folder = arena_printf(arena, "%s/gpu-XXXXXX", scratch)};
	if (!library)
		return err_set(
			err, ERR_UNAVAILABLE,
			"build with CUDA's headers (12.6 or newer) and with shared libraries, and install the whole package",
			"libsweetspot-cuda.so, which sees a program's kernels, is not beside the worker");
	if (!cupti_path(path, sizeof path, reason))
		return err_set(err, ERR_UNAVAILABLE, "install CUDA's CUPTI (12.6 or newer), or name the toolkit in CUDA_HOME",
		               "a program's kernels cannot be seen: %s", reason);
	if (!mkdtemp(watch->folder))
		return err_set(err, ERR_FAILED, scratch_hint(errno), "cannot make a folder in %s: %s", scratch,
		               strerror(errno));
	watch->variables[0] = arena_printf(arena, "CUDA_INJECTION64_PATH=%s", library);
	watch->variables[1] = arena_printf(arena, "SWEETSPOT_CUDA_RECORD=%s/run", watch->folder);
	watch->variables[2] = arena_printf(arena, "SWEETSPOT_CUDA_CUPTI=%s", path);
	watch->variables[3] = metrics ? arena_printf(arena, "SWEETSPOT_CUDA_METRICS=%s", metrics) : NULL;
	return 0;
}

int gpu_watch_refresh(const struct gpu_watch *watch, struct err *err) {
	tree_remove(watch->folder);
	return mkdir(watch->folder, 0700) == 0 ? 0
	                                       : err_set(err, ERR_FAILED, scratch_hint(errno), "cannot make a fresh %s: %s",
	                                                 watch->folder, strerror(errno));
}

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
	struct spread *all;              /* of all functions, by event */
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
		double weight = cupti_is_amount(plan->events[i].event) ? launches : time;
		spread_add(&table->events[i], table->values[i], weight);
		spread_add(&table->all[i], table->values[i], weight);
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
	js_each (row, rows) {
		const char *symbol = js_string_or(row, "symbol", "");
		for (size_t f = 0; f < work->function_count; f++)
			if (strcmp(work->functions[f].facts.symbol, symbol) == 0)
				function_add(table, row, work, f);
	}
}

/* In a run: the sum of an amount, the mean of a rate by time. */
static double total_of(const struct table *table, size_t event) {
	const struct spread *all = &table->all[event];
	return all->count == 0                                     ? NAN
	       : cupti_is_amount(table->plan->events[event].event) ? all->sum
	                                                           : all->sum / all->weight;
}

void gpu_counts_add(json_t *json, const struct gpu_work *counted, const struct counter_plan *plan,
                    const struct cupti_chip *chip, double *totals) {
	struct arena *arena = arena_new();
	json_t *notes = json_object_get(json, "notes");
	struct table table = {.plan = plan,
	                      .chip = chip,
	                      .values = arena_alloc(arena, plan->event_count + 1, sizeof(double)),
	                      .events = arena_alloc(arena, plan->event_count + 1, sizeof(struct spread)),
	                      .metrics = arena_alloc(arena, plan->metric_count + 1, sizeof(struct spread)),
	                      .all = arena_alloc(arena, plan->event_count + 1, sizeof(struct spread))};
	functions_add(&table, json_object_get(json, "functions"), counted);
	for (size_t i = 0; i < plan->event_count; i++)
		totals[i] = total_of(&table, i);
	json_object_set_new(json, "passes", json_integer(counted->passes));
	if (counted->failure[0])
		json_array_append_new(notes, json_sprintf("the kernels were not counted: %s", counted->failure));
	else if (counted->range_count == 0)
		json_array_append_new(notes,
		                      json_string("no kernel was counted: kernels of CUDA graphs cannot be, and a program "
		                                  "must end by itself"));
	arena_free(arena);
}
